import type { PageMeta } from './api.ts';

/** The maximum by one statement of the specification (section 8), and by the other. */
export const MAX_PAGE_SIZE = 100;
export const FALLBACK_PAGE_SIZE = 10;
/** Pages above this size come without contents (specification, section 4.2). */
export const MAX_PAGE_SIZE_WITH_CONTENTS = 25;
/** For requests that need only ID, title and times (specification, section 4.2). */
export const METADATA_ONLY = {
	includeMarkdown: false,
	includeHeadings: false,
	includeContents: false,
};
export const EVERY_PART = { includeMarkdown: true, includeHeadings: true, includeContents: true };
const MAX_EMPTY_PAGES = 50;
const REFUSED = [400, 413, 422];
const FAILED = [500, 504];

export type ListName = 'lifelogs' | 'chats';
/** How a page size was too large: the service refused it, or failed because of it. */
export type SizeProblem = 'refused' | 'failed';

export interface Page<Entry> {
	entries: Entry[];
	nextCursor?: string;
}

export interface List<Entry> {
	/** Asks for a page. @param problem That of the larger page that was asked for before. */
	getPage: (
		size: number,
		cursor: string | undefined,
		problem: SizeProblem | undefined,
	) => Promise<Page<Entry>>;
	/** Whether a page failed because of its size; undefined if a smaller one isn't worth asking for. */
	sizeProblem: (error: unknown, cursor: string | undefined) => SizeProblem | undefined;
}

/** What a status says about the page size that was asked for. */
export function sizeProblemOf(status: number | undefined): SizeProblem | undefined {
	if (status === undefined) return undefined;
	if (REFUSED.includes(status)) return 'refused';
	return FAILED.includes(status) ? 'failed' : undefined;
}

/** The page in the answer of a list (specification, section 2.7), or what is wrong with it. */
export function pageOf(body: unknown, name: ListName): Page<unknown> | string {
	const { data, meta } = (body ?? {}) as {
		data?: Record<string, unknown> | null;
		meta?: Record<string, PageMeta | undefined> | null;
	};
	const entries = data?.[name];
	if (!Array.isArray(entries)) return `it has no list of ${name} (data.${name})`;
	const nextCursor: unknown = meta?.[name]?.nextCursor || undefined;
	if (nextCursor === undefined) return { entries };
	if (typeof nextCursor !== 'string') return 'its cursor (nextCursor) is not a text';
	return { entries, nextCursor };
}

/**
 * One page of a list. If it fails because of its size, 10 entries are requested instead
 * (specification, section 4.2, `limit`).
 *
 * @returns The page, and the size to keep to.
 * @throws What `getPage` throws.
 */
export async function readPage<Entry>(
	{ getPage, sizeProblem }: List<Entry>,
	size: number,
	cursor?: string,
): Promise<Page<Entry> & { size: number }> {
	const answer = await getPage(size, cursor, undefined).catch(async (error: unknown) => {
		const problem = size > FALLBACK_PAGE_SIZE ? sizeProblem(error, cursor) : undefined;
		if (problem === undefined) throw error;
		const smaller = getPage(FALLBACK_PAGE_SIZE, cursor, problem);
		const page = await smaller.catch((next: unknown) => {
			throw problem === 'refused' ? next : error;
		});
		return { ...page, size: FALLBACK_PAGE_SIZE };
	});
	return { size, ...answer };
}

/**
 * All entries of a list, page after page, each once. Ends without a further cursor, never because a
 * page was short (specification, section 2.7).
 *
 * @param from The cursor to begin at.
 * @param mayGoOn Called before each further page; false ends the list.
 * @param endless Creates the error of a list that sends a cursor twice, or 50 pages with nothing new.
 * @throws What `getPage` throws, and that error.
 */
export async function* pages<Entry extends { id?: unknown }>(
	list: List<Entry>,
	{
		pageSize,
		from,
		mayGoOn,
		endless,
	}: {
		pageSize: number;
		from?: string;
		mayGoOn?: (cursor: string) => boolean;
		endless: (problem: string) => Error;
	},
): AsyncGenerator<Entry[]> {
	const cursors = new Set<string>();
	const ids = new Set<unknown>();
	let emptyPages = 0;
	let cursor = from;
	let size = pageSize;
	for (;;) {
		const page = await readPage(list, size, cursor);
		const entries = page.entries.filter(({ id }) => !ids.has(id) && ids.add(id));
		({ nextCursor: cursor, size } = page);
		if (entries.length > 0) yield entries;
		emptyPages = entries.length > 0 ? 0 : emptyPages + 1;
		if (cursor === undefined || mayGoOn?.(cursor) === false) return;
		if (cursors.has(cursor)) throw endless('its pages repeat (it sent a cursor twice)');
		if (emptyPages >= MAX_EMPTY_PAGES) {
			throw endless(`it sent ${MAX_EMPTY_PAGES} pages in a row with nothing new`);
		}
		cursors.add(cursor);
	}
}
