import type { IDataObject, NodeApiError } from 'n8n-workflow';

import {
	type List,
	type ListName,
	MAX_PAGE_SIZE,
	pageOf,
	pages as pagesOf,
	readPage as readPageOf,
	sizeProblemOf,
	type SizeProblem,
} from '../../../lifelog/paging.ts';
import type { Api } from '../auth/connection';
import { kindOf, listResource } from '../errors/nodeErrors';
import { unusableAnswerError } from '../errors/status';
import { isId } from '../../../lifelog/names.ts';
import { getJson } from './request';

export {
	FALLBACK_PAGE_SIZE,
	MAX_PAGE_SIZE,
	MAX_PAGE_SIZE_WITH_CONTENTS,
} from '../../../lifelog/paging.ts';

/** `name` is the key of the answer's `data` and `meta`, and the end of the path. */
export interface ListRequest {
	name: ListName;
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

/** The first `limit` entries of a list, page after page; see {@link pages}. */
export async function firstEntries<T extends { id: string }>(
	api: Api,
	listing: ListRequest,
	limit: number,
): Promise<T[]> {
	return await mapFirstEntries<T, T>(api, listing, limit, (entry) => entry);
}

/**
 * Maps the first `limit` entries of a list as each page arrives, so that the texts of all pages
 * aren't in memory at once; see {@link pages}.
 *
 * @param make Its result is kept in place of the entry. Undefined leaves the entry out, and it doesn't
 *   count.
 */
export async function mapFirstEntries<T extends { id: string }, Made>(
	api: Api,
	listing: ListRequest,
	limit: number,
	make: (entry: T) => Made | undefined,
): Promise<Made[]> {
	const found: Made[] = [];
	for await (const page of pages<T>(api, listing)) {
		for (const entry of page) {
			const made = found.length < limit ? make(entry) : undefined;
			if (made !== undefined) found.push(made);
		}
		if (found.length >= limit) break;
	}
	return found;
}

/**
 * All entries of a list, page after page, each once.
 *
 * @throws NodeApiError on a cursor that comes again, 50 pages with nothing new, and as `getJson`.
 */
export function pages<T extends { id: string }>(
	api: Api,
	listing: ListRequest,
): AsyncGenerator<T[]> {
	const { name, query, from, mayGoOn } = listing;
	const endless = (problem: string) =>
		unusableAnswerError(api, listResource(name, query), {}, problem);
	const pageSize = pageSizeOf(api, listing);
	return pagesOf(listOf<T>(api, listing), { pageSize, from, mayGoOn, endless });
}

/**
 * One page of a list. A first page that fails because of its size is requested again with 10 entries.
 * The list then keeps to 10; after a refusal, the run does.
 *
 * @param cursor The `nextCursor` of the page before.
 * @param size The page size of the page before.
 * @throws NodeApiError as `getJson`, and if the answer isn't a page.
 */
export async function readPage<T>(
	api: Api,
	listing: ListRequest,
	cursor?: string,
	size = pageSizeOf(api, listing),
) {
	return await readPageOf(listOf<T>(api, listing), size, cursor);
}

function pageSizeOf({ run }: Api, { pageSize = MAX_PAGE_SIZE }: ListRequest): number {
	return Math.min(pageSize, run.pageLimit ?? MAX_PAGE_SIZE);
}

function listOf<T>(api: Api, listing: ListRequest): List<T> {
	return {
		async getPage(limit, cursor, problem) {
			const own = problem === 'failed' ? { ...api, retries: 0 } : api;
			const page = await askForPage<T>(own, listing, limit, cursor);
			if (problem === 'refused') api.run.pageLimit = limit;
			return page;
		},
		sizeProblem: (error, cursor) =>
			cursor === listing.from ? sizeProblem(listing, error) : undefined,
	};
}

/** Whether a page was too much for the service. A search has no next page for the rest. */
function sizeProblem({ query }: ListRequest, error: unknown): SizeProblem | undefined {
	const kind = kindOf(error);
	const isTooMuch = kind === 'tooLarge' || kind === 'tooSlow';
	const problem = isTooMuch ? 'failed' : sizeProblemOf(Number((error as NodeApiError).httpCode));
	return problem === 'failed' && query.search !== undefined ? undefined : problem;
}

async function askForPage<T>(
	api: Api,
	{ name, query, onUnusable }: ListRequest,
	limit: number,
	cursor?: string,
) {
	const resource = listResource(name, query);
	const body = await getJson(api, `/v1/${name}`, { ...query, limit, cursor }, resource);
	const page = pageOf(body, name);
	if (typeof page === 'string') throw unusableAnswerError(api, resource, { body }, page);
	const entries = page.entries.filter((entry) => isId((entry as IDataObject | null)?.id));
	if (entries.length < page.entries.length) {
		const error = unusableAnswerError(api, resource, { body }, `some of its ${name} have no ID`);
		if (!onUnusable) throw error;
		onUnusable(error);
	}
	return { ...page, entries: entries as T[] };
}
