import type { IDataObject } from 'n8n-workflow';

import type { Api } from '../shared/api';
import type { Lifelog } from '../shared/api-types';
import { toInstant, toRange } from '../shared/date-times';
import type { Listing } from '../shared/pagination';
import { pages, readPage } from '../shared/pagination';

/**
 * The fewest that read 1,000 lifelogs at 100 ms a request in a third of the time (`npm run bench`).
 * More are faster still with 10,000, but each may cost a request and, at the rate limit, a 429.
 */
const MOST_LANES = 6;
/** Stretches overlap by this: whether `end` includes its second is not said (section 4.2). */
const SECOND_MS = 1000;

/** A range of time in epoch ms; without `end` it is open. */
export interface Span {
	start: number;
	end?: number;
}

/**
 * All lifelogs of a range of time, in the service's order, each once, several pages at a time.
 *
 * The first page is read alone. It may be all there is; if not, it says which page size the service
 * accepts and how long a page lasts. The rest of the range is cut into as many stretches as pages
 * are to be expected, at most {@link MOST_LANES}, and a lane reads each, page after page. That is
 * at most one request more a lane than without lanes. Where there is nothing to gain, or the page
 * is not in order of time, its cursor is followed instead.
 *
 * Relies on a range holding the entries that begin in it, as a date does (specification, section
 * 4.2); those that merely reach into it may be listed, too.
 *
 * @param listing Its query holds the range, `timezone` and `direction`.
 * @throws NodeApiError as `pages`: the first one of any lane, which ends the other lanes.
 */
export async function readSpan(api: Api, listing: Listing, span: Span): Promise<Lifelog[]> {
	const { query } = listing;
	const first = await readPage<Lifelog>(api, listing);
	const now = api.run.serviceTime ?? Date.now();
	const stretches = first.nextCursor === undefined ? [] : cut(query, span, now, first.entries);
	if (stretches.length < 2) return await all(pages<Lifelog>(api, listing, first));

	const stop = new AbortController();
	const signals = [api.signal, stop.signal].filter((signal) => signal !== undefined);
	const laneApi: Api = { ...api, signal: AbortSignal.any(signals) };
	const lanes = stretches.map(
		async (stretch) =>
			await all(pages<Lifelog>(laneApi, { ...listing, query: { ...query, ...stretch } })),
	);
	try {
		return eachOnce([first.entries, ...(await Promise.all(lanes))], isOldestFirst(query));
	} finally {
		stop.abort();
		await Promise.allSettled(lanes);
	}
}

/**
 * Cuts what a first page leaves of a range into stretches of the same length.
 *
 * @param now Epoch ms, where a range without end is taken to end for the sake of the cuts.
 * @returns `start` and `end` of each as the query takes them, in the order of the list. The last
 *   one ends where the range does. None where there is no telling.
 */
function cut(query: IDataObject, span: Span, now: number, page: Lifelog[]): IDataObject[] {
	const zone = query.timezone as string;
	const oldestFirst = isOldestFirst(query);
	const edge = oldestFirst ? 'start' : 'end';
	const begins = page.map(({ startTime }) => toInstant(startTime, zone, edge) ?? NaN);
	const rising = oldestFirst ? begins : [...begins].reverse();
	const isInOrder = rising.every((begin, nth) => nth === 0 || begin >= rising[nth - 1]);

	const reached = begins[begins.length - 1];
	const left = oldestFirst ? (span.end ?? now) - reached : span.start - reached;
	const count = Math.min(Math.ceil(left / (reached - begins[0])), MOST_LANES);
	if (!isInOrder || !(count > 1) || !isUnique(reached, zone)) return [];

	const marks = Array.from({ length: count }, (_, nth) => reached + (left * nth) / count)
		.map((mark) => Math.floor(mark / SECOND_MS) * SECOND_MS)
		.filter((mark) => isUnique(mark, zone));
	return marks.map((mark, nth) => {
		const next: number | undefined = marks[nth + 1];
		const [from, to] = oldestFirst ? [mark, next] : [next, mark];
		const { start, end } = toRange(from, to && to + SECOND_MS, zone).query;
		return { start: start ?? query.start, end: end ?? query.end };
	});
}

/** Whether the wire can name an instant, and the second after it: clocks show them only once. */
function isUnique(instant: number, zone: string): boolean {
	return [instant, instant + SECOND_MS].every((each) => {
		const whole = Math.floor(each / SECOND_MS) * SECOND_MS;
		const { start, end } = toRange(whole, whole, zone).query;
		return start === end;
	});
}

/**
 * Puts stretches together. An entry that two of them list is left to the earlier one, which lists
 * everything until its end: so the order in a stretch is that of the whole list, also for an entry
 * that begins before its stretch and lasts into it.
 *
 * @param stretches In the order of the list.
 */
function eachOnce(stretches: Lifelog[][], oldestFirst: boolean): Lifelog[] {
	const ids = new Set<string>();
	const own = (oldestFirst ? stretches : stretches.reverse()).map((entries) => {
		const kept = entries.filter(({ id }) => !ids.has(id));
		for (const { id } of kept) ids.add(id);
		return kept;
	});
	return (oldestFirst ? own : own.reverse()).flat();
}

function isOldestFirst({ direction }: IDataObject): boolean {
	return direction === 'asc';
}

async function all(listed: AsyncIterable<Lifelog[]>): Promise<Lifelog[]> {
	const lifelogs: Lifelog[] = [];
	for await (const page of listed) {
		for (const lifelog of page) lifelogs.push(lifelog);
	}
	return lifelogs;
}
