import type { Lifelog } from '../../../nodes/shared/api/apiTypes.ts';
import { checkSearch } from '../../search/search.mts';
import { snippetOf, spokenLines } from '../../search/snippet.mts';
import type { SearchFilter, Store } from '../../store/store.mts';
import { checkDate, dayBounds, zoneFormatter } from '../../util/times.mts';

/** What the page searches for. Days are in the server's time zone, the last one included. */
export interface PageSearch {
	q: string;
	from?: string;
	to?: string;
	isStarred?: boolean;
	speaker?: string;
	offset?: number;
}

/** JSON Schema of a {@link PageSearch}. */
export const pageSearchSchema = {
	type: 'object',
	required: ['q'],
	properties: {
		q: { type: 'string', minLength: 1 },
		from: { type: 'string' },
		to: { type: 'string' },
		isStarred: { type: 'boolean' },
		speaker: { type: 'string', maxLength: 200 },
		offset: { type: 'integer', minimum: 0, maximum: 1000 },
	},
};

const PAGE = 20;
/** Of further matches nobody looks at the list. */
const MAX_FOUND = 200;

/**
 * Searches lifelogs, best first, each with the place that has most of the words and when it was said.
 *
 * @returns `nextOffset` is null after the last one.
 * @throws ApiError (400) for a search of too many words, or a day that is none.
 */
export async function searchForPage(
	store: Store,
	{ q, from, to, isStarred, speaker, offset = 0 }: PageSearch,
	timezone: string,
) {
	checkSearch(q);
	const filter: SearchFilter = {
		isStarred,
		speaker,
		from: from && dayBounds(checkDate(from), timezone).from,
		before: to && dayBounds(checkDate(to), timezone).before,
	};
	const parts = { markdown: false, contents: false };
	const found = await store.searchLifelogs(q, filter, MAX_FOUND, parts);
	const page = found.slice(offset, offset + PAGE);
	const inZone = zoneFormatter(timezone);
	return {
		results: page.map(({ id }) => resultOf(store.getLifelog(id)!, q, inZone)),
		nextOffset: found.length > offset + PAGE ? offset + PAGE : null,
	};
}

function resultOf(lifelog: Lifelog, q: string, inZone: (iso: string) => string) {
	const { id, title, startTime, isStarred } = lifelog;
	const lines = spokenLines(lifelog);
	const text = lines
		.map((line) => line.text)
		.join('\n')
		.toWellFormed();
	const { text: found, words } = snippetOf(text, q);
	const begin = text.indexOf(found.replace(/^…|…$/g, ''));
	const place = begin + (words[0]?.[0] ?? 0) - Number(found.startsWith('…'));
	const line = text.slice(0, Math.max(0, place)).split('\n').length - 1;
	// The line of the first word, and those around it.
	const around = lines.slice(Math.max(0, line - 1), line + 2).map((each) => each.text);
	const snippet = snippetOf(around.join('\n'), q);
	const ofTitle = snippetOf(title ?? '', q);
	return {
		...{ id, title, startTime, isStarred, snippet: snippet.text, marks: snippet.words },
		// One that is cut isn't the title.
		titleMarks: ofTitle.text === title ? ofTitle.words : [],
		day: inZone(startTime).slice(0, 10),
		at: (words.length > 0 && lines[line]?.startTime) || null,
	};
}
