import { comparePositions, encodeCursor, type Cursor, type Position } from './cursors.mts';
import type { Dialect } from './dialect.mts';

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
	dialect: Dialect;
}

/**
 * Cuts one page out of `entries` (ascending by position), in the requested direction and after
 * the cursor's position, and writes the cursor of the next one as the dialect has it.
 */
export function cutPage<Entry, Query>(
	entries: Entry[],
	{ query, limit, direction, cursor, position, dialect }: PageOptions<Entry, Query>,
): Page<Entry> {
	if (cursor?.gap) {
		const nextCursor = encodeCursor({ query, after: cursor.after });
		return { entries: [], meta: { nextCursor, count: 0 } };
	}
	const sign = direction === 'asc' ? 1 : -1;
	const ordered = direction === 'asc' ? entries : entries.toReversed();
	const from = cursor
		? firstOf(ordered, (entry) => sign * comparePositions(position(entry), cursor.after) > 0)
		: 0;
	const size = dialect.pages === 'short' ? Math.ceil(limit / 2) : limit;
	const page = ordered.slice(from, from + size);
	const last = page.at(-1);
	const nextCursor =
		last && ordered.length > from + size
			? encodeCursor({ query, after: position(last), gap: dialect.pages === 'emptyBetween' })
			: noCursor[dialect.lastCursor];
	return {
		entries: page,
		meta: { ...(nextCursor !== undefined && { nextCursor }), count: page.length },
	};
}

/**
 * The place of the first entry for which something holds that holds for all behind it, too. A page
 * of a long list must not take longer than one of a short list.
 */
function firstOf<Entry>(entries: Entry[], holds: (entry: Entry) => boolean): number {
	let [low, high] = [0, entries.length];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		if (holds(entries[middle])) high = middle;
		else low = middle + 1;
	}
	return low;
}

const noCursor = { absent: undefined, null: null, empty: '' };
