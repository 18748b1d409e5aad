import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { contentNodes } from '../../../lifelog/contents.ts';
import { FEW } from '../../index/partly.mts';
import { checkSearch } from '../../index/search.mts';
import { linesFor, snippetOf, spokenLines } from '../../index/snippet.mts';
import type { LifelogFilter, SearchFilter } from '../../index/store.mts';
import { ApiError } from '../../util/errors.mts';
import { renderMarkdown } from '../../util/apiMarkdown.mts';
import { checkDate, checkZone, dayBounds, parseOptionalWallClock } from '../../util/times.mts';
import type { Service, Tool } from '../service.mts';
import {
	integer,
	listOffset,
	MAX_ENTRIES,
	offsetOf,
	optional,
	Page,
	pageOf,
	partOf,
	pastTheEnd,
	short,
	shortTimes,
	textOffset,
	timezone,
	toolOf,
} from './mcpTool.mts';
import { listPeopleTool } from './mcpPeople.mts';

/** Total search results, as in the REST API. */
const MAX_RESULTS = 100;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/;

const moment = optional(
	z
		.string()
		.regex(MOMENT, 'Expected YYYY-MM-DD or YYYY-MM-DD HH:mm, without an offset (set timezone)'),
);
const isStarred = optional(z.boolean()).describe('true: only starred lifelogs; false: only others');
const speaker = optional(z.string().min(1)).describe(
	'Only lifelogs in which this person speaks: a name, from list_people or a transcript',
);
const lifelogId = z.string().describe('ID of a lifelog, from a search or a list');

export const searchLifelogs = toolOf(
	'search_lifelogs',
	`Searches the user's recorded conversations (lifelogs). Returns ID, title, times and a snippet of each, best match first, ${MAX_RESULTS} at most. If few have all words, others that have most of them follow, as "Not all words".`,
	{
		query: z
			.string()
			.regex(/\S/, 'Give words to search for')
			.describe('Words that must all occur. OR between alternatives, quotation marks for phrases.'),
		from: moment.describe('First day (YYYY-MM-DD) or moment (YYYY-MM-DD HH:mm) of the start'),
		to: moment.describe('Last day (included), or the moment before which lifelogs start'),
		timezone,
		speaker,
		isStarred,
		limit: integer(z.int().min(1).max(MAX_RESULTS), 10),
		offset: offsetOf('Results to skip', MAX_RESULTS),
	},
	async (
		service,
		{ query, from, to, timezone: zone, speaker: who, isStarred: starred, ...part },
	) => {
		const { limit, offset } = part;
		checkSearch(query);
		const filter = { ...rangeOf(checkZone(zone), from, to), speaker: who, isStarred: starred };
		const last = Math.min(MAX_RESULTS, offset + limit);
		// One extra entry shows whether there is a next page.
		const wanted = Math.max(FEW, Math.min(MAX_RESULTS, last + 1));
		const parts = { markdown: false, contents: false };
		const found = await service.current().searchLifelogs(query, filter, wanted, parts);
		const texts: string[] = [];
		const hits = found.slice(offset, last);
		if (hits.length === 0) {
			const isFiltered = [from, to, who, starred].some((each) => each !== undefined);
			texts.push(nothingFound(offset, isFiltered, who));
		} else texts.push(await matchesOf(service, query, zone, hits, { offset, total: found.length }));
		const partly = offset > 0 ? [] : partlyMatching(service, query, filter, found);
		if (partly.length > 0) {
			// They have no further pages.
			const all = { offset, total: 0 };
			texts.push(`Not all words: ${await matchesOf(service, query, zone, partly, all)}`);
		}
		return texts;
	},
);

/** Matches as JSON with snippets, as many as fit into an answer. */
async function matchesOf(
	service: Service,
	query: string,
	zone: string | undefined,
	hits: Lifelog[],
	{ offset, total }: { offset: number; total: number },
): Promise<string> {
	const format = shortTimes(zone);
	const page = new Page('lifelogs', offset);
	for (const hit of hits) {
		// A snippet of a very long lifelog takes a while. Yield to other requests meanwhile.
		await setImmediate();
		const lifelog = service.current().getLifelog(hit.id) ?? hit;
		const lines = linesFor(spokenLines(lifelog), service.current().namedIn?.(query));
		const { text: snippet } = snippetOf(lines.map(({ text }) => text).join('\n'), query);
		if (!page.add({ ...overviewOf(lifelog, format), snippet })) break;
	}
	return page.end(total);
}

/** If few lifelogs have all words, those with most words. */
function partlyMatching(
	service: Service,
	query: string,
	filter: SearchFilter,
	found: Lifelog[],
): Lifelog[] {
	if (found.length >= FEW) return [];
	const store = service.current();
	const known = new Set(found.map(({ id }) => id));
	return (store.partlyMatching?.(query, filter, 2 * FEW) ?? [])
		.filter((id) => !known.has(id))
		.slice(0, FEW)
		.map((id) => store.getLifelog(id))
		.filter((lifelog) => lifelog !== undefined);
}

export const getLifelogTool = toolOf(
	'get_lifelog',
	'Returns one recorded conversation as Markdown: headings, and what was said by whom.',
	{ id: lifelogId, offset: textOffset },
	(service, { id, offset }) => {
		const { markdown, contents } = service.current().getLifelog(id) ?? notFound();
		const text = markdown ?? renderMarkdown(contents);
		return partOf(text, offset, 'The lifelog has no text.');
	},
);

const listLifelogs = toolOf(
	'list_lifelogs',
	'Lists the recorded conversations (lifelogs) of a day, in order, or those of a speaker, newest first. Returns ID, title and times of each.',
	{
		date: optional(z.string().regex(DATE, 'Expected YYYY-MM-DD')).describe(
			'YYYY-MM-DD; may be left out with a speaker',
		),
		timezone,
		speaker,
		isStarred,
		offset: listOffset,
	},
	(service, { date, timezone: zone, speaker: who, isStarred: starred, offset }) => {
		if (date === undefined && who === undefined)
			throw new ApiError(400, 'Give a date or a speaker');
		const bounds = date === undefined ? {} : dayBounds(checkDate(date), checkZone(zone));
		const found = service
			.current()
			.listLifelogs(
				{ ...bounds, speaker: who, isStarred: starred },
				{ direction: date === undefined ? 'desc' : 'asc', skip: offset, limit: MAX_ENTRIES + 1 },
				{ markdown: false, contents: false },
			);
		if (found.length === 0) {
			const kind = starred === undefined ? '' : starred ? 'starred ' : 'unstarred ';
			if (offset > 0) return [pastTheEnd(offset)];
			const ofSpeaker = who === undefined ? '' : ` of ${JSON.stringify(short(who))}`;
			return [
				date === undefined
					? `There is no ${kind}lifelog${ofSpeaker}. list_people has the names.`
					: `No ${kind}lifelog${ofSpeaker} starts on ${date} (${zone ?? 'UTC'}). Try another day, or search_lifelogs.`,
			];
		}
		const format = shortTimes(zone);
		const entries = found.map((lifelog) => overviewOf(lifelog, format));
		return [pageOf('lifelogs', offset, entries)];
	},
);

const getTranscript = toolOf(
	'get_transcript',
	'Returns what was said in a recorded conversation, line by line with time and speaker.',
	{ id: lifelogId, timezone, offset: textOffset },
	(service, { id, timezone: zone, offset }) => {
		const format = shortTimes(zone);
		const text = transcriptOf(service.current().getLifelog(id) ?? notFound(), format);
		return partOf(text, offset, 'Nothing was said in the lifelog; get_lifelog has its headings.');
	},
);

const listChats = toolOf(
	'list_chats',
	"Lists the user's chats with the service's assistant, newest first. Returns ID, summary, time and number of messages of each.",
	{ timezone, offset: listOffset },
	(service, { timezone: zone, offset }) => {
		const format = shortTimes(zone);
		const slice = { direction: 'desc', skip: offset, limit: MAX_ENTRIES + 1 } as const;
		const found = service.current().listChats({}, slice);
		if (found.length === 0) return [offset > 0 ? pastTheEnd(offset) : 'There are no chats.'];
		const entries = found.map(({ id, summary, createdAt, messages }: Chat) => ({
			id,
			// An archive may contain any kind of chats. Only the fields for listing were checked.
			summary: summary ? short(String(summary)) : undefined,
			createdAt: format(createdAt),
			messages: messages.length,
		}));
		return [pageOf('chats', offset, entries)];
	},
);

const getChat = toolOf(
	'get_chat',
	"Returns a chat with the service's assistant, message by message.",
	{ id: z.string().describe('ID of a chat, from list_chats'), timezone, offset: textOffset },
	(service, { id, timezone: zone, offset }) => {
		const format = shortTimes(zone);
		const chat = service.current().getChat(id);
		if (!chat) throw new ApiError(404, 'Chat not found: use an ID that list_chats returned');
		const messages = chat.messages
			.filter(({ text }) => text)
			.map(
				({ createdAt, user, text }) => `[${format(createdAt)}] ${user?.role ?? 'unknown'}: ${text}`,
			);
		const text = [chat.summary ?? '', ...messages].filter((line) => line !== '').join('\n\n');
		return partOf(text, offset, 'The chat has no text.');
	},
);

export const allTools: Tool[] = [
	searchLifelogs,
	listLifelogs,
	getLifelogTool,
	getTranscript,
	listPeopleTool,
	listChats,
	getChat,
];

/** The instants of a model's range. Throws an ApiError (400) if it is empty. */
function rangeOf(zone: string, from: string | undefined, to: string | undefined): LifelogFilter {
	const start = parseOptionalWallClock('from', from, zone);
	const moment = parseOptionalWallClock('to', to, zone);
	const end = to !== undefined && DATE.test(to) ? dayBounds(to, zone).before : moment;
	if (start !== undefined && end !== undefined && start >= end) {
		throw new ApiError(400, `from ${from} isn't before to ${to}: swap them`);
	}
	return { from: start, before: end };
}

function nothingFound(offset: number, isFiltered: boolean, who?: string): string {
	if (offset > 0) return pastTheEnd(offset);
	const wider = isFiltered ? `, a wider range or no isStarred${who ? ' or speaker' : ''}` : '';
	return `No lifelog matches. All words of a query must occur: try fewer or other words, OR between them${wider}.`;
}

function notFound(): never {
	throw new ApiError(404, 'Lifelog not found: use an ID that a search or a list returned');
}

function overviewOf({ id, title, startTime, endTime }: Lifelog, format: (time: string) => string) {
	return { id, title: short(title), startTime: format(startTime), endTime: format(endTime) };
}

function transcriptOf({ contents }: Lifelog, format: (time: string) => string): string {
	const said = [...contentNodes(contents)].filter(({ type }) => type === 'blockquote');
	const lines = said.map(({ content, startTime, speakerName }) => {
		const time = startTime ? `[${format(startTime)}] ` : '';
		return `${time}${speakerName ?? 'Unknown'}: ${content}`;
	});
	return lines.join('\n');
}
