import { setImmediate } from 'node:timers/promises';
import { z, type ZodRawShape } from 'zod';
import type { Chat, Lifelog } from '../../../lifelog/api.ts';
import { contentNodes } from '../../../lifelog/contents.ts';
import { checkSearch } from '../../index/search.mts';
import { snippetOf, spokenText } from '../../index/snippet.mts';
import type { LifelogFilter } from '../../index/store.mts';
import { ApiError } from '../../util/errors.mts';
import { answerFailure, type ServerError } from '../../util/failures.mts';
import { logFailure } from '../log.mts';
import { renderMarkdown } from '../../util/apiMarkdown.mts';
import {
	checkDate,
	checkZone,
	dayBounds,
	parseOptionalWallClock,
	zoneFormatter,
} from '../../util/times.mts';
import type { Service, Tool } from '../service.mts';

/** What an answer has at most, in UTF-16 units: some 5,000 tokens. One entry may go beyond. */
const MAX_CHARACTERS = 20_000;
/** More entries of a list than an answer has room for. */
const MAX_ENTRIES = 200;
/** Search results in all, as in the REST API. */
const MAX_RESULTS = 100;
const MAX_TITLE = 200;
const MAX_NAMED = 5;

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?$/;

/** Makes an argument optional. Some models send null for what they leave out. */
const optional = <Value,>(argument: z.ZodType<Value>) =>
	argument.nullish().transform((value) => value ?? undefined);
const integer = (argument: z.ZodInt, preset: number) =>
	argument
		.nullable()
		.default(preset)
		.transform((value) => value ?? preset);

const timezone = optional(z.string().max(100)).describe(
	'IANA time zone of the times you give and get, such as Europe/Berlin; default UTC',
);
const moment = optional(
	z
		.string()
		.regex(MOMENT, 'Expected YYYY-MM-DD or YYYY-MM-DD HH:mm, without an offset (set timezone)'),
);
const isStarred = optional(z.boolean()).describe('true: only starred lifelogs; false: only others');
const offsetOf = (first: string, max = Number.MAX_SAFE_INTEGER) =>
	integer(z.int().min(0).max(max), 0).describe(`${first}: nextOffset of the previous response`);
const listOffset = offsetOf('Entries to skip');
const textOffset = offsetOf('Character to begin with');
const lifelogId = z.string().describe('ID of a lifelog, from a search or a list');

export const searchLifelogs = toolOf(
	'search_lifelogs',
	`Searches the user's recorded conversations (lifelogs). Returns ID, title, times and a snippet of each, best match first, ${MAX_RESULTS} at most.`,
	{
		query: z
			.string()
			.regex(/\S/, 'Give words to search for')
			.describe('Words that must all occur. OR between alternatives, quotation marks for phrases.'),
		from: moment.describe('First day (YYYY-MM-DD) or moment (YYYY-MM-DD HH:mm) of the start'),
		to: moment.describe('Last day (included), or the moment before which lifelogs start'),
		timezone,
		isStarred,
		limit: integer(z.int().min(1).max(MAX_RESULTS), 10),
		offset: offsetOf('Results to skip', MAX_RESULTS),
	},
	async (service, { query, from, to, timezone: zone, isStarred: starred, limit, offset }) => {
		checkSearch(query);
		const range = rangeOf(checkZone(zone), from, to);
		const last = Math.min(MAX_RESULTS, offset + limit);
		// One more tells whether there is a next page.
		const found = await service
			.current()
			.searchLifelogs(query, { ...range, isStarred: starred }, Math.min(MAX_RESULTS, last + 1), {
				markdown: false,
				contents: false,
			});
		const hits = found.slice(offset, last);
		if (hits.length === 0) {
			const isFiltered = from !== undefined || to !== undefined || starred !== undefined;
			return [nothingFound(offset, isFiltered)];
		}
		const format = shortTimes(zone);
		const page = new Page('lifelogs', offset);
		for (const hit of hits) {
			// A snippet of a very long lifelog takes a while: others are to be served meanwhile.
			await setImmediate();
			const lifelog = service.current().getLifelog(hit.id) ?? hit;
			const { text: snippet } = snippetOf(spokenText(lifelog), query);
			if (!page.add({ ...overviewOf(lifelog, format), snippet })) break;
		}
		return [page.end(found.length)];
	},
);

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
	'Lists the recorded conversations (lifelogs) of a day, in order. Returns ID, title and times of each.',
	{
		date: z.string().regex(DATE, 'Expected YYYY-MM-DD').describe('YYYY-MM-DD'),
		timezone,
		isStarred,
		offset: listOffset,
	},
	(service, { date, timezone: zone, isStarred: starred, offset }) => {
		const bounds = dayBounds(checkDate(date), checkZone(zone));
		const found = service
			.current()
			.listLifelogs(
				{ ...bounds, isStarred: starred },
				{ direction: 'asc', skip: offset, limit: MAX_ENTRIES + 1 },
				{ markdown: false, contents: false },
			);
		if (found.length === 0) {
			const kind = starred === undefined ? '' : starred ? 'starred ' : 'unstarred ';
			return [
				offset > 0
					? pastTheEnd(offset)
					: `No ${kind}lifelog starts on ${date} (${zone ?? 'UTC'}). Try another day, or search_lifelogs.`,
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
			// An archive may hold chats of any kind: only what is needed to list them was checked.
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

/** All tools that there are. */
export const allTools: Tool[] = [
	searchLifelogs,
	listLifelogs,
	getLifelogTool,
	getTranscript,
	listChats,
	getChat,
];

/**
 * Makes a tool that only reads. Arguments that it doesn't know are refused.
 *
 * @param answer Returns texts for a model. Throws an ApiError with a message for it.
 */
function toolOf<Shape extends ZodRawShape>(
	name: string,
	description: string,
	shape: Shape,
	answer: (service: Service, args: z.output<z.ZodObject<Shape>>) => string[] | Promise<string[]>,
): Tool {
	const known = Object.keys(shape).join(', ');
	const inputSchema: z.ZodObject = z.strictObject(shape, {
		error: ({ code, keys }) =>
			code === 'unrecognized_keys'
				? `Unknown ${namesOf(keys as string[])}: ${name} takes ${known}`
				: undefined,
	});
	const annotations = { readOnlyHint: true };
	return (server, service, request) => {
		server.registerTool(name, { description, inputSchema, annotations }, async (args) => {
			try {
				const texts = await answer(service, args as z.output<z.ZodObject<Shape>>);
				return { content: texts.map((text) => ({ type: 'text', text })) };
			} catch (error) {
				if (error instanceof ApiError) throw error;
				const { statusCode, message } = answerFailure(service.name, error as ServerError);
				logFailure(request, statusCode, error as ServerError);
				throw new Error(`${message} (request ${request.id})`);
			}
		});
	};
}

/** `argument "a"`, or `arguments "a", "b" and 3 more`. */
function namesOf(keys: string[]): string {
	const named = keys.slice(0, MAX_NAMED).map((key) => JSON.stringify(short(key)));
	const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '';
	return `argument${keys.length === 1 ? '' : 's'} ${named.join(', ')}${more}`;
}

/** Entries as compact JSON, as many as an answer has room for. */
class Page {
	readonly #name: string;
	readonly #offset: number;
	readonly #entries: string[] = [];
	#length = 0;

	constructor(name: string, offset: number) {
		this.#name = name;
		this.#offset = offset;
	}

	/** Adds an entry if there is room for it; false if there is none. The first one always fits. */
	add(entry: object): boolean {
		const json = JSON.stringify(entry);
		this.#length += json.length + 1;
		if (this.#length > MAX_CHARACTERS && this.#entries.length > 0) return false;
		this.#entries.push(json);
		return true;
	}

	/** The page; `total` entries are known, counted from the very first one. */
	end(total: number): string {
		const next = this.#offset + this.#entries.length;
		const more = next < total ? `,"nextOffset":${next}` : '';
		return `{"${this.#name}":[${this.#entries.join()}]${more}}`;
	}
}

function pageOf(name: string, offset: number, entries: object[]): string {
	const page = new Page(name, offset);
	for (const entry of entries.slice(0, MAX_ENTRIES)) if (!page.add(entry)) break;
	return page.end(offset + entries.length);
}

/** A part of a text, and how to go on in a text of its own, which nothing that was said can imitate. */
function partOf(text: string, offset: number, empty: string): string[] {
	if (text.trim() === '') return [empty];
	if (offset >= text.length) {
		throw new ApiError(
			400,
			`offset ${offset} is past the end: the text has ${text.length} characters`,
		);
	}
	const end = endOfPart(text, offset);
	const part = text.slice(offset, end).toWellFormed();
	if (end === text.length) return [part];
	return [
		part,
		`nextOffset: ${end}. The text has ${text.length} characters: call again with offset ${end} to continue.`,
	];
}

/** Where a part ends: after a line if one ends in its second half, and never within a character. */
function endOfPart(text: string, offset: number): number {
	const end = offset + MAX_CHARACTERS;
	if (end >= text.length) return text.length;
	const line = text.lastIndexOf('\n', end - 1) + 1;
	if (line > offset + MAX_CHARACTERS / 2) return line;
	return /[\ud800-\udbff]/.test(text[end - 1]) ? end - 1 : end;
}

/** The instants of a range that a model gave. Throws an ApiError (400) if it is empty. */
function rangeOf(zone: string, from: string | undefined, to: string | undefined): LifelogFilter {
	const start = parseOptionalWallClock('from', from, zone);
	const moment = parseOptionalWallClock('to', to, zone);
	const end = to !== undefined && DATE.test(to) ? dayBounds(to, zone).before : moment;
	if (start !== undefined && end !== undefined && start >= end) {
		throw new ApiError(400, `from ${from} isn't before to ${to}: swap them`);
	}
	return { from: start, before: end };
}

function nothingFound(offset: number, isFiltered: boolean): string {
	if (offset > 0) return pastTheEnd(offset);
	const wider = isFiltered ? ', a wider range or no isStarred' : '';
	return `No lifelog matches. All words of a query must occur: try fewer or other words, OR between them${wider}.`;
}

const pastTheEnd = (offset: number) => `There is nothing from offset ${offset} on.`;

function notFound(): never {
	throw new ApiError(404, 'Lifelog not found: use an ID that a search or a list returned');
}

const short = (text: string) =>
	(text.length > MAX_TITLE ? `${text.slice(0, MAX_TITLE - 1)}…` : text).toWellFormed();

function overviewOf({ id, title, startTime, endTime }: Lifelog, format: (time: string) => string) {
	return { id, title: short(title), startTime: format(startTime), endTime: format(endTime) };
}

/** Writes times in a zone, to the second. Throws an ApiError (400) for an unknown zone. */
function shortTimes(timezone: string | undefined): (time: string) => string {
	const format = zoneFormatter(checkZone(timezone));
	return (time) => format(time).replace(/\.\d+/, '');
}

function transcriptOf({ contents }: Lifelog, format: (time: string) => string): string {
	const said = [...contentNodes(contents)].filter(({ type }) => type === 'blockquote');
	const lines = said.map(({ content, startTime, speakerName }) => {
		const time = startTime ? `[${format(startTime)}] ` : '';
		return `${time}${speakerName ?? 'Unknown'}: ${content}`;
	});
	return lines.join('\n');
}
