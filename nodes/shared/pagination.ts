import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Api } from './api';
import type { PageMeta } from './api-types';
import { isTooSlow, type Subject, toNodeError, unusableAnswerError } from './errors';
import { isId } from './ids';
import { DOCUMENTED_WAIT_MS } from './rate-limit';
import { getJson } from './request';

/** The most entries in a page by one statement of the specification (section 8), and by the other. */
export const LARGEST_PAGE = 100;
export const SMALLEST_LARGEST_PAGE = 10;
/** Pages above this size come without contents (specification, section 4.2). */
export const LARGEST_PAGE_WITH_CONTENTS = 25;
/** What is tried where a large page fails; the last alone where that took long. */
const SMALLER_PAGES = [50, 25, SMALLEST_LARGEST_PAGE];
const SLOW_MS = 30_000;
const MOST_EMPTY_PAGES = 50;
/** So many pages of a list are read one after the other before several are read at once. */
export const PAGES_IN_A_ROW = 2;

/** What is listed: `name` is the key of the answer's `data` and `meta`, and the end of the path. */
export interface Listing {
	name: 'lifelogs' | 'chats';
	query: IDataObject;
	/** Entries wanted a page; less where the service accepts no more. */
	pageSize?: number;
	/** The cursor to begin at; undefined for the beginning. */
	from?: string;
	/** Told of entries without an ID, which are then left out instead of failing the page. */
	onUnusable?: (error: NodeApiError) => void;
	/** Asked before each further page, by its cursor; false ends the listing. */
	mayGoOn?: (cursor: string) => boolean;
	/** Asked beside what is needed: the page size that it takes is its own, and not kept for the run. */
	isBeside?: boolean;
}

/** A page as the service gave it. */
export interface Page<T> {
	entries: T[];
	/** Where the next page begins; undefined on the last one. */
	nextCursor?: string;
	/** The page size that was asked for. */
	size: number;
}

/**
 * The first entries of a listing, as many pages as it takes; see {@link pages}.
 *
 * @param limit How many at most; Infinity for all.
 * @param isWanted False for entries that do not count.
 */
export async function firstEntries<T extends { id: string }>(
	api: Api,
	listing: Listing,
	limit: number,
	isWanted: (entry: T) => boolean = () => true,
): Promise<T[]> {
	const found: T[] = [];
	for await (const page of pages<T>(api, listing)) {
		for (const entry of page) if (found.length < limit && isWanted(entry)) found.push(entry);
		if (found.length >= limit) break;
	}
	return found;
}

/**
 * All entries of a listing, page by page, each entry once. Ends when the service gives no further
 * cursor, never because a page was short (specification, section 2.7).
 *
 * @throws NodeApiError on a cursor that comes again, on 50 pages in a row with nothing new, and as
 *   `getJson`.
 */
export async function* pages<T extends { id: string }>(
	api: Api,
	listing: Listing,
): AsyncGenerator<T[]> {
	for await (const { entries } of steps<T>(api, listing)) if (entries.length > 0) yield entries;
}

/** A listing that is being read page after page, and what was read of it. */
export interface Walk<T> {
	/** In the service's order, each entry once. */
	readonly entries: T[];
	/** The place in `entries` by ID. */
	readonly places: Map<string, number>;
	/** Whether the service has said that there are no more pages. */
	readonly isAtEnd: boolean;
	/**
	 * Reads one page more; not to be called at the end.
	 *
	 * @returns What is new of it.
	 * @throws As {@link pages}.
	 */
	next(): Promise<T[]>;
}

/** Prepares a {@link Walk}; sends nothing yet. */
export function walkOf<T extends { id: string }>(api: Api, listing: Listing): Walk<T> {
	const walked = steps<T>(api, listing);
	const entries: T[] = [];
	const places = new Map<string, number>();
	let isAtEnd = false;
	return {
		entries,
		places,
		get isAtEnd() {
			return isAtEnd;
		},
		async next() {
			const step = await walked.next();
			if (step.done) return [];
			for (const entry of step.value.entries) places.set(entry.id, entries.push(entry) - 1);
			isAtEnd = step.value.isLast;
			return step.value.entries;
		},
	};
}

/**
 * Begins a {@link Walk} with what is read one page after the other in any case. To read several
 * pages of a list at once takes some requests more; one that ends here would gain nothing by it.
 *
 * Where the rate limit's wait would be too long, it is all of the list: several pages at once reach
 * the limit where page after page may stay below it. Twice the documented wait has to be allowed, as
 * what was asked at once may be refused late, one after the other.
 */
export async function begunWalk<T extends { id: string }>(
	api: Api,
	listing: Listing,
): Promise<Walk<T>> {
	const walk = walkOf<T>(api, listing);
	const most = api.maxWaitMs < 2 * DOCUMENTED_WAIT_MS ? Infinity : PAGES_IN_A_ROW;
	for (let pages = 0; pages < most && !walk.isAtEnd; pages++) await walk.next();
	return walk;
}

/** Each page of a listing, also where nothing on it is new. */
async function* steps<T extends { id: string }>(
	api: Api,
	listing: Listing,
): AsyncGenerator<{ entries: T[]; isLast: boolean }, undefined> {
	const cursors = new Set<string>();
	const ids = new Set<string>();
	let emptyPages = 0;
	let cursor = listing.from;
	let size: number | undefined;
	for (;;) {
		const page = await readPage<T>(api, listing, cursor, size);
		size = page.size;
		const entries = page.entries.filter(({ id }) => !ids.has(id) && ids.add(id));
		cursor = page.nextCursor;
		yield { entries, isLast: cursor === undefined };

		emptyPages = entries.length > 0 ? 0 : emptyPages + 1;
		if (cursor === undefined || listing.mayGoOn?.(cursor) === false) return;
		if (cursors.has(cursor) || emptyPages >= MOST_EMPTY_PAGES) {
			const problem = cursors.has(cursor)
				? 'its pages go round in a circle (a cursor came twice)'
				: `it sent ${MOST_EMPTY_PAGES} ${page.entries.length > 0 ? 'known' : 'empty'} pages in a row`;
			throw unusableAnswerError(api, subjectOf(listing), {}, problem);
		}
		cursors.add(cursor);
	}
}

/** The query of a listing in the other direction; what names none is newest first. */
export function reversed(query: IDataObject): IDataObject {
	return { ...query, direction: isOldestFirst(query) ? 'desc' : 'asc' };
}

export function isOldestFirst({ direction }: IDataObject): boolean {
	return direction === 'asc';
}

/**
 * One page of a listing. A first page that is refused with 400 above the size of 10 is asked for
 * again with 10 (specification, section 4.2, `limit`). One that the service cannot make (5xx), after
 * its retries, is asked for in half the size, and so on down to 10, once each; one that takes too
 * long, in 10 alone. A search is not, as it has no next page. The size that succeeds is remembered
 * for the run.
 *
 * @param cursor The `nextCursor` of the page before; the other parameters are sent unchanged.
 * @param size The page size of the page before.
 * @throws NodeApiError as `getJson`, and when the answer is no page.
 */
export async function readPage<T>(
	api: Api,
	listing: Listing,
	cursor?: string,
	size = Math.min(listing.pageSize ?? LARGEST_PAGE, api.run.pageLimit ?? LARGEST_PAGE),
): Promise<Page<T>> {
	const { name, query, onUnusable } = listing;
	const subject = subjectOf(listing);
	const ask = async (own: Api, limit: number) => ({
		limit,
		body: await getJson(own, `/v1/${name}`, { ...query, limit, cursor }, subject),
	});
	const { body, limit } = await (cursor === undefined
		? askInSizes(api, size, listing, ask)
		: ask(api, size));

	const listed = (body.data as IDataObject | null | undefined)?.[name];
	const entries = Array.isArray(listed) ? listed.filter((entry) => isId(entry?.id)) : [];
	if (!Array.isArray(listed) || entries.length < listed.length) {
		const problem = Array.isArray(listed)
			? `some of its ${name} have no ID`
			: `it lacks the list of ${name} (data.${name})`;
		const error = unusableAnswerError(api, subject, { body }, problem);
		if (!Array.isArray(listed) || !onUnusable) throw error;
		onUnusable(error);
	}
	const meta = (body.meta as Record<string, PageMeta | undefined> | null | undefined)?.[name];
	const nextCursor: unknown = meta?.nextCursor || undefined;
	if (nextCursor !== undefined && typeof nextCursor !== 'string') {
		throw unusableAnswerError(api, subject, { body }, 'its cursor (nextCursor) is not a text');
	}
	return { entries: entries as T[], nextCursor, size: limit };
}

/**
 * Asks for a first page, and where it fails for its size, for smaller ones. That of a search only
 * where it is refused: what a smaller one leaves out comes on no next page.
 */
async function askInSizes<R extends { limit: number }>(
	api: Api,
	size: number,
	listing: Listing,
	ask: (api: Api, limit: number) => Promise<R>,
): Promise<R> {
	const began = performance.now();
	let failure: unknown;
	try {
		return await ask(api, size);
	} catch (error) {
		failure = error;
	}
	if (size > SMALLEST_LARGEST_PAGE && (failure as NodeApiError).httpCode === '400') {
		return remembered(api, listing, await ask(api, SMALLEST_LARGEST_PAGE));
	}
	const isSlow = performance.now() - began > SLOW_MS || isTooSlow(failure);
	const smaller = isSlow ? SMALLER_PAGES.slice(-1) : SMALLER_PAGES;
	const isContinued = listing.query.search === undefined;
	const isWorthIt = isContinued && api.retries > 0 && isUnmade(failure);
	for (const limit of isWorthIt ? smaller.filter((limit) => limit < size) : []) {
		try {
			return remembered(api, listing, await ask({ ...api, retries: 0 }, limit));
		} catch (error) {
			if (!isUnmade(error)) throw toNodeError(api.context, error);
		}
	}
	throw toNodeError(api.context, failure);
}

/** Whether a service could not make an answer, or not in time. */
function isUnmade(error: unknown): boolean {
	return Number((error as NodeApiError).httpCode) >= 500 || isTooSlow(error);
}

function remembered<R extends { limit: number }>(
	{ run }: Api,
	{ isBeside = false }: Listing,
	answered: R,
): R {
	if (!isBeside) run.pageLimit = answered.limit;
	return answered;
}

/** What a listing is of, so that its errors name the day, the range or the words. */
function subjectOf({ name, query: { search, date, start, end, timezone } }: Listing): Subject {
	const words = [
		name,
		search && `found for "${search}"`,
		date && `of ${date}`,
		start && `from ${start}`,
		end && `to ${end}`,
		(date || start || end) && `in ${timezone}`,
	];
	return { noun: words.filter(Boolean).join(' ') };
}
