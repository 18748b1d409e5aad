import { encodeCursor, type Cursor } from './cursors.mts';
import type { Position, Slice } from '../index/store.mts';

/** Maximum entries per page. */
export const MAX_PAGE = 100;

/** One page of a list with its metadata. */
export interface Page<Entry> {
	entries: Entry[];
	meta: { nextCursor?: string; count: number };
}

interface PageOptions<Entry, Query> {
	query: Query;
	limit: number;
	direction: 'asc' | 'desc';
	cursor?: Cursor<Query>;
	/** The sort keys of an entry. */
	position: (entry: Entry) => Position;
}

/**
 * Cuts one page from the result of `list`, in the requested direction and after the cursor, and
 * creates the next cursor.
 */
export function cutPage<Entry, Query>(
	list: (slice: Slice) => Entry[],
	{ query, limit, direction, cursor, position }: PageOptions<Entry, Query>,
): Page<Entry> {
	// One extra entry shows whether there is a next page.
	const found = list({ direction, after: cursor?.after, limit: limit + 1 });
	const page = found.slice(0, limit);
	const last = page.at(-1);
	const nextCursor =
		last && found.length > limit ? encodeCursor({ query, after: position(last) }) : undefined;
	return {
		entries: page,
		meta: { ...(nextCursor !== undefined && { nextCursor }), count: page.length },
	};
}
