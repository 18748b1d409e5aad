import { encodeCursor, type Cursor } from './cursors.mts';
import type { Position, Slice } from '../index/store.mts';

/** Entries of a page. */
export const MAX_PAGE = 100;

/** One page of a list, and the metadata that goes with it. */
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
 * Cuts one page out of what `list` gives, in the requested direction and after the cursor's
 * position, and writes the cursor of the next one.
 */
export function cutPage<Entry, Query>(
	list: (slice: Slice) => Entry[],
	{ query, limit, direction, cursor, position }: PageOptions<Entry, Query>,
): Page<Entry> {
	// One more tells whether there is a next page.
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
