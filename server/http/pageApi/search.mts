import type { Lifelog } from '../../../lifelog/api.ts';
import { namesIn } from '../../../lifelog/contents.ts';
import { shownNames } from '../../../lifelog/speakers.ts';
import { FEW } from '../../index/partly.mts';
import { checkSearch } from '../../index/search.mts';
import { linesFor, type Named, snippetOf, spokenLines } from '../../index/snippet.mts';
import type { ArchiveStore } from '../../index/archiveStore.mts';
import type { SearchFilter } from '../../index/store.mts';
import type { SearchAnswer, SearchResult } from './answers.mts';
import { checkDate, dayBounds, zoneFormatter } from '../../util/times.mts';

/** A search of the page. Days are in the server's time zone; the last one is included. */
export interface PageSearch {
	/** If missing, all lifelogs that pass the filters. */
	q?: string;
	from?: string;
	to?: string;
	isStarred?: boolean;
	speaker?: string;
	offset?: number;
}

/** JSON Schema of a {@link PageSearch}. */
export const pageSearchSchema = {
	type: 'object',
	properties: {
		q: { type: 'string', minLength: 1 },
		from: { type: 'string' },
		to: { type: 'string' },
		isStarred: { type: 'boolean' },
		speaker: { type: 'string', maxLength: 200 },
		offset: { type: 'integer', minimum: 0, maximum: 1_000_000 },
	},
};

const PAGE = 20;
/** Nobody scrolls through more results. */
const MAX_FOUND = 200;

/**
 * Searches lifelogs, best first, each with its best-matching part and its time. Without words,
 * lists those that pass the filters, newest first. If nothing has all words, and the last one is
 * too short for its longer forms to match, the user may still be typing it, so it is ignored. If
 * few have all words, those with most words are listed separately.
 *
 * @throws ApiError (400) for too many words, or an invalid day.
 */
export async function searchForPage(
	store: ArchiveStore,
	{ q, from, to, isStarred, speaker, offset = 0 }: PageSearch,
	timezone: string,
): Promise<SearchAnswer> {
	if (q !== undefined) checkSearch(q);
	const filter: SearchFilter = {
		isStarred,
		speakerPart: speaker,
		from: from && dayBounds(checkDate(from), timezone).from,
		before: to && dayBounds(checkDate(to), timezone).before,
	};
	const inZone = zoneFormatter(timezone);
	if (q === undefined) {
		const ids = store.filterLifelogs(filter, offset, PAGE + 1);
		return {
			results: ids
				.slice(0, PAGE)
				.map((id) => resultOf(store.getLifelog(id)!, '', store.namedIn(''), inZone)),
			nextOffset: ids.length > PAGE ? offset + PAGE : null,
			...{ isCut: false, without: null, partly: [], corrected: null },
		};
	}
	const search = async (words: string) =>
		await store.searchLifelogs(words, filter, MAX_FOUND + 1, { markdown: false, contents: false });
	let words = q;
	let found = await search(q);
	const [, rest, last] = /^((?:[^"]|"[^"]*")*?)\s+([\p{L}\p{N}]{1,3})$/u.exec(q) ?? [];
	if (found.length === 0 && rest?.trim() && !['OR', 'AND'].includes(last)) {
		words = rest;
		found = await search(rest);
	}
	const best = found.slice(0, MAX_FOUND);
	const resultsOf = (ids: string[]) => {
		const named = store.namedIn(words);
		return ids.map((id) => resultOf(store.getLifelog(id)!, words, named, inZone));
	};
	const known = new Set(found.map(({ id }) => id));
	const partly = known.size < FEW ? store.partlyMatching(words, filter, 2 * FEW) : [];
	return {
		results: resultsOf(best.slice(offset, offset + PAGE).map(({ id }) => id)),
		nextOffset: best.length > offset + PAGE ? offset + PAGE : null,
		isCut: found.length > best.length,
		without: words === q ? null : last,
		partly: resultsOf(partly.filter((id) => !known.has(id)).slice(0, FEW)),
		corrected: (found.length === 0 && store.corrected(q)) || null,
	};
}

function resultOf(
	lifelog: Lifelog,
	q: string,
	named: Named,
	inZone: (iso: string) => string,
): SearchResult {
	const { id, title, startTime, isStarred } = lifelog;
	const all = spokenLines(lifelog, shownNames(namesIn(lifelog.contents)));
	const lines = linesFor(all, named);
	const isTheirs = lines.length < all.length;
	const text = lines
		.map((line) => line.text)
		.join('\n')
		.toWellFormed();
	const { text: found, words } = snippetOf(text, q);
	const begin = text.indexOf(found.replace(/^…|…$/g, ''));
	const place = begin + (words[0]?.[0] ?? 0) - Number(found.startsWith('…'));
	const line = text.slice(0, Math.max(0, place)).split('\n').length - 1;
	// The line of the first match, with its neighbors. Lines of a person named in the search have
	// priority.
	const at = all.indexOf(lines[line]);
	const around = all.slice(isTheirs ? at : Math.max(0, at - 1), at + 2).map((each) => each.text);
	const snippet = snippetOf(around.join('\n'), q);
	const ofTitle = snippetOf(title ?? '', q);
	return {
		...{ id, title, startTime, isStarred, snippet: snippet.text, marks: snippet.words },
		// A shortened title has other positions.
		titleMarks: ofTitle.text === title ? ofTitle.words : [],
		day: inZone(startTime).slice(0, 10),
		at: ((words.length > 0 || isTheirs) && lines[line]?.startTime) || null,
	};
}
