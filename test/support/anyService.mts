import { setTimeout as sleep } from 'node:timers/promises';
import { DateTime } from 'luxon';
import { serve } from './serve.mts';

// A service that lists lifelogs and chats as the specification lets it (sections 4.2 and 4.6): what a range
// means, what a list is sorted by and what a cursor holds is for a test to choose.

/** Times in epoch ms. */
export interface Entry {
	id: string;
	begin: number;
	end: number;
	updated: number;
	created: number;
}

export const RANGES = ['begins', 'inside', 'reaches', 'middle', 'ends', 'ignored'] as const;
export const SORTS = ['begin', 'end', 'updated', 'created', 'none'] as const;

export interface Service {
	entries: Entry[];
	/** Which entries belong to a range: those that begin in it, lie wholly inside it, … */
	range: (typeof RANGES)[number];
	/** Whether entries exactly at the edges of a range belong to it. */
	edges: 'both' | 'start' | 'none';
	/** How long a range lasts of which only one end is given, in ms; without end where this is absent. */
	openRange?: number;
	/** `none`: as they stand, whatever the direction. */
	sort: (typeof SORTS)[number];
	/** Whether entries of the same time change places with the direction. */
	turnsTies: boolean;
	/** A position in the order, or a number of entries passed over. */
	cursor: 'position' | 'offset';
	/** With a cursor: are the other parameters compared, or ignored? */
	isBound: boolean;
	/** Maximum entries a page. */
	maxPageSize: number;
	/** Which entries are listed before all others, in either direction. */
	isFirst?: (entry: Entry) => boolean;
	/** Which entries come without any time. */
	isTimeless?: (entry: Entry) => boolean;
	/** Which entries of a page are left on it: what is filtered out then is not made up for. */
	isKept?: (entry: Entry) => boolean;
	/** In the hour that clocks show twice. */
	hour: 'first' | 'second';
	/** Whether times are given with their offset. */
	offsets: boolean;
	/** Something that happens before the nth request is answered. */
	before?: (nth: number) => void;
	/** The status of an answer; undefined for one that never comes. */
	answer?: (query: URLSearchParams, nth: number) => Promise<number> | number | undefined;
}

export interface AnyService {
	url: string;
	/** How many requests were ended by who made them. */
	gone: number;
	/** How it answers; to be set before the first request. */
	is: Service;
	/** The queries of the requests it got. */
	served: URLSearchParams[];
	/** How long it takes for an answer, in ms. */
	latencyMs: number;
	close(): Promise<void>;
}

export async function startAnyService(): Promise<AnyService> {
	const { url, close } = await serve((request, response) => {
		const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
		const nth = any.served.push(searchParams);
		response.once('close', () => (any.gone += response.writableEnded ? 0 : 1));
		void (async () => {
			any.is.before?.(nth);
			if (any.latencyMs > 0) await sleep(any.latencyMs);
			const status = any.is.answer ? await any.is.answer(searchParams, nth) : 200;
			if (status === undefined) return;
			const name = pathname.endsWith('chats') ? 'chats' : 'lifelogs';
			const page = status === 200 ? listed(any.is, searchParams) : undefined;
			response.writeHead(page ? 200 : status === 200 ? 400 : status, {
				'content-type': 'application/json',
			});
			const { entries, nextCursor } = page ?? { entries: [], nextCursor: null };
			const meta = { [name]: { nextCursor, count: entries.length } };
			const data = { [name]: entries.map((entry) => shown(any.is, entry, name, searchParams)) };
			response.end(JSON.stringify(page ? { data, meta } : { error: 'not this one' }));
		})();
	});
	const any: AnyService = {
		url,
		is: undefined as unknown as Service,
		served: [],
		gone: 0,
		latencyMs: 0,
		close,
	};
	return any;
}

function shown(service: Service, entry: Entry, name: string, query: URLSearchParams) {
	const zone = query.get('timezone') ?? 'UTC';
	const at = (ms: number) =>
		DateTime.fromMillis(ms, { zone }).toISO({ includeOffset: service.offsets });
	const { id, begin, end, updated } = entry;
	if (service.isTimeless?.(entry)) return { id, title: id, messages: [], contents: [] };
	return name === 'chats'
		? { id, createdAt: at(begin), startedAt: at(begin), messages: [], visibility: 'private' }
		: {
				id,
				title: id,
				startTime: at(begin),
				endTime: at(end),
				updatedAt: at(updated),
				isStarred: false,
				contents: [],
			};
}

function listed(service: Service, query: URLSearchParams) {
	const cursor = query.get('cursor');
	const asked = Object.fromEntries([...query].filter(([key]) => key !== 'cursor'));
	const given = cursor
		? (JSON.parse(cursor) as { after: [number, string]; asked: typeof asked })
		: undefined;
	if (given && service.isBound && JSON.stringify(given.asked) !== JSON.stringify(asked))
		return undefined;

	const bound = given?.asked ?? asked;
	const rises = bound.direction === 'asc';
	const { sort } = service;
	const keyOf = (entry: Entry) => (sort === 'none' ? 0 : entry[sort]);
	const compare = (one: [number, string], other: [number, string]) => {
		const ties = one[1] < other[1] ? -1 : one[1] > other[1] ? 1 : 0;
		if (rises) return one[0] - other[0] || ties;
		return other[0] - one[0] || (service.turnsTies ? -ties : ties);
	};
	const positionOf = (entry: Entry): [number, string] => [keyOf(entry), entry.id];
	const found = service.entries.filter(belongsTo(service, bound));
	if (sort !== 'none') found.sort((one, other) => compare(positionOf(one), positionOf(other)));
	const { isFirst } = service;
	if (isFirst) found.sort((one, other) => Number(isFirst(other)) - Number(isFirst(one)));
	const isOffset = service.cursor === 'offset' || sort === 'none' || isFirst !== undefined;
	const from = !given
		? 0
		: isOffset
			? given.after[0]
			: found.findIndex((entry) => compare(positionOf(entry), given.after) > 0);
	const size = Math.min(Number(bound.limit ?? 10), service.maxPageSize);
	const entries = from < 0 ? [] : found.slice(from, from + size);
	const last = entries.at(-1);
	const isMore = last !== undefined && from + size < found.length;
	const after = isOffset ? [from + size, ''] : last && positionOf(last);
	const { isKept = () => true } = service;
	return {
		entries: entries.filter(isKept),
		nextCursor: isMore ? JSON.stringify({ after, asked: bound }) : null,
	};
}

/** Which entries a query asks for. */
function belongsTo(service: Service, query: Record<string, string>): (entry: Entry) => boolean {
	const zone = query.timezone ?? 'UTC';
	const instant = (text: string | undefined, none: number) => {
		if (text === undefined) return none;
		const instants = DateTime.fromSQL(text, { zone }).getPossibleOffsets().map(Number);
		return service.hour === 'first' ? Math.min(...instants) : Math.max(...instants);
	};
	const { date, start, end } = query;
	if (date !== undefined && start === undefined && end === undefined) {
		const day = DateTime.fromISO(date, { zone });
		return ({ begin }) => begin >= day.toMillis() && begin < day.plus({ days: 1 }).toMillis();
	}
	const { openRange = Infinity } = service;
	const last = instant(end, start === undefined ? Infinity : instant(start, NaN) + openRange);
	const [from, to] = [instant(start, end === undefined ? -Infinity : last - openRange), last];
	return (entry) => {
		const middle = (entry.begin + entry.end) / 2;
		const [early, late] = {
			begins: [entry.begin, entry.begin],
			inside: [entry.begin, entry.end],
			reaches: [entry.end, entry.begin],
			middle: [middle, middle],
			ends: [entry.end, entry.end],
			ignored: [from, to],
		}[service.range];
		if (service.range === 'ignored') return true;
		const isFrom = service.edges === 'none' ? early > from : early >= from;
		return isFrom && (service.edges === 'both' ? late <= to : late < to);
	};
}
