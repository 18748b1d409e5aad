import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Api } from '../auth/connection';
import type { PageMeta } from '../../../lifelog/api.ts';
import {
	isTooLarge,
	isTooSlow,
	listResource,
	toNodeError,
	unusableAnswerError,
} from '../errors/errors';
import { eachOnce, isId } from '../../../lifelog/names.ts';
import { getJson } from './request';

/** The maximum by one statement of the specification (section 8), and by the other. */
export const MAX_PAGE_SIZE = 100;
export const FALLBACK_PAGE_SIZE = 10;
/** Pages above this size come without contents (specification, section 4.2). */
export const MAX_PAGE_SIZE_WITH_CONTENTS = 25;
const MAX_EMPTY_PAGES = 50;
/** How a service answers a page size that it refuses, and one that is too much for it. */
const REFUSED = ['400', '413', '422'];
const FAILED = ['500', '504'];

/** `name` is the key of the answer's `data` and `meta`, and the end of the path. */
export interface ListRequest {
	name: 'lifelogs' | 'chats';
	query: IDataObject;
	/** Entries per page; less if the service accepts no more. */
	pageSize?: number;
	/** The cursor to begin at. */
	from?: string;
	/** Receives the error of entries without an ID, which then doesn't fail the page. */
	onUnusable?: (error: NodeApiError) => void;
	/** Called before each further page; false ends the list. */
	mayGoOn?: (cursor: string) => boolean;
}

type Page<T> = { entries: T[]; nextCursor?: string; size: number }; // the size requested

/** The first `limit` wanted entries of a list, page after page; see {@link pages}. */
export async function firstEntries<T extends { id: string }>(
	api: Api,
	listing: ListRequest,
	limit: number,
	isWanted: (entry: T) => boolean = () => true,
): Promise<T[]> {
	const found: T[] = [];
	for await (const page of pages<T>(api, listing)) {
		for (const entry of page) if (isWanted(entry)) found.push(entry);
		if (found.length >= limit) break;
	}
	return found.slice(0, limit);
}

/**
 * All entries of a list, page after page, each once. Ends without a further cursor, never because a
 * page was short (specification, section 2.7).
 *
 * @throws NodeApiError on a cursor that comes again, 50 pages with nothing new, and as `getJson`.
 */
export async function* pages<T extends { id: string }>(
	api: Api,
	listing: ListRequest,
): AsyncGenerator<T[]> {
	const cursors = new Set<string>();
	const isNew = eachOnce();
	let emptyPages = 0;
	let cursor = listing.from;
	let size: number | undefined;
	for (;;) {
		const page = await readPage<T>(api, listing, cursor, size);
		const entries = page.entries.filter(isNew);
		({ nextCursor: cursor, size } = page);
		if (entries.length > 0) yield entries;
		emptyPages = entries.length > 0 ? 0 : emptyPages + 1;
		if (cursor === undefined || listing.mayGoOn?.(cursor) === false) return;
		if (cursors.has(cursor) || emptyPages >= MAX_EMPTY_PAGES) {
			const problem = cursors.has(cursor)
				? 'its pages repeat (it sent a cursor twice)'
				: `it sent ${MAX_EMPTY_PAGES} pages in a row with nothing new`;
			throw unusableAnswerError(api, listResource(listing.name, listing.query), {}, problem);
		}
		cursors.add(cursor);
	}
}

/**
 * One page of a list. A first page that fails because of its size is requested again with 10 entries
 * (specification, section 4.2, `limit`). The list then keeps to 10; after a refusal, the run does.
 *
 * @param cursor The `nextCursor` of the page before.
 * @param size The page size of the page before.
 * @throws NodeApiError as `getJson`, and if the answer isn't a page.
 */
export async function readPage<T>(
	api: Api,
	listing: ListRequest,
	cursor?: string,
	size = Math.min(listing.pageSize ?? MAX_PAGE_SIZE, api.run.pageLimit ?? MAX_PAGE_SIZE),
): Promise<Page<T>> {
	try {
		return await askForPage<T>(api, listing, size, cursor);
	} catch (error) {
		const isRefused = REFUSED.includes(String((error as NodeApiError).httpCode));
		const mayFit = size > FALLBACK_PAGE_SIZE && (isRefused || isTooMuch(listing, error));
		if (cursor !== listing.from || !mayFit) throw toNodeError(api.context, error);
		const own = isRefused ? api : { ...api, retries: 0 };
		const smaller = askForPage<T>(own, listing, FALLBACK_PAGE_SIZE, cursor);
		const page = await smaller.catch((next: unknown) => {
			throw toNodeError(api.context, isRefused ? next : error);
		});
		if (isRefused) api.run.pageLimit = FALLBACK_PAGE_SIZE;
		return page;
	}
}

/** Whether a page was too much for the service. A search has no next page for the rest. */
function isTooMuch({ query }: ListRequest, error: unknown): boolean {
	const isFailure = FAILED.includes(String((error as NodeApiError).httpCode)) || isTooSlow(error);
	return query.search === undefined && (isTooLarge(error) || isFailure);
}

async function askForPage<T>(
	api: Api,
	listing: ListRequest,
	limit: number,
	cursor?: string,
): Promise<Page<T>> {
	const { name, query, onUnusable } = listing;
	const resource = listResource(name, query);
	const body = await getJson(api, `/v1/${name}`, { ...query, limit, cursor }, resource);
	const listed = (body.data as IDataObject | null | undefined)?.[name];
	const entries = Array.isArray(listed) ? listed.filter((entry) => isId(entry?.id)) : [];
	if (!Array.isArray(listed) || entries.length < listed.length) {
		const problem = Array.isArray(listed)
			? `some of its ${name} have no ID`
			: `it has no list of ${name} (data.${name})`;
		const error = unusableAnswerError(api, resource, { body }, problem);
		if (!Array.isArray(listed) || !onUnusable) throw error;
		onUnusable(error);
	}
	const meta = body.meta as Record<string, PageMeta | undefined> | null | undefined;
	const nextCursor: unknown = meta?.[name]?.nextCursor || undefined;
	if (nextCursor !== undefined && typeof nextCursor !== 'string') {
		throw unusableAnswerError(api, resource, { body }, 'its cursor (nextCursor) is not a text');
	}
	return { entries: entries as T[], nextCursor, size: limit };
}
