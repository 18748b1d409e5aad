import { encodeCursor, type Cursor } from './cursors.mts';
import type { Reading } from './reading.mts';
import type { Position, Slice } from './store/store.mts';

/** One page of a list, and the metadata that goes with it. */
export interface Page<Entry> {
	entries: Entry[];
	meta: { nextCursor?: string | null; count: number };
}

interface PageOptions<Entry, Query> {
	query: Query;
	limit: number;
	direction: 'asc' | 'desc';
	cursor?: Cursor<Query>;
	/** The sort keys of an entry. */
	position: (entry: Entry) => Position;
	reading: Reading;
}

/**
 * Cuts one page out of what `list` gives, in the requested direction and after the cursor's
 * position, and writes the cursor of the next one as the reading has it.
 */
export function cutPage<Entry, Query>(
	list: (slice: Slice) => Entry[],
	{ query, limit, direction, cursor, position, reading }: PageOptions<Entry, Query>,
): Page<Entry> {
	if (cursor?.gap) {
		const nextCursor = encodeCursor({ query, after: cursor.after });
		return { entries: [], meta: { nextCursor, count: 0 } };
	}
	const size = reading.pages === 'short' ? Math.ceil(limit / 2) : limit;
	// One more tells whether there is a next page.
	const found = list({ direction, after: cursor?.after, limit: size + 1 });
	const page = found.slice(0, size);
	const last = page.at(-1);
	const nextCursor =
		last && found.length > size
			? encodeCursor({ query, after: position(last), gap: reading.pages === 'emptyBetween' })
			: noCursor[reading.lastCursor];
	return {
		entries: page,
		meta: { ...(nextCursor !== undefined && { nextCursor }), count: page.length },
	};
}

const noCursor = { absent: undefined, null: null, empty: '' };
