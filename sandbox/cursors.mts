import { ApiError } from './errors.mts';

/** Where a page ended: the sort keys of its last entry. Entries added or deleted do not move it. */
export interface Position {
	time: string;
	id: string;
}

/** Orders positions by time, then id: negative when `a` comes first. */
export function comparePositions(a: Position, b: Position): number {
	if (a.time !== b.time) return a.time < b.time ? -1 : 1;
	if (a.id !== b.id) return a.id < b.id ? -1 : 1;
	return 0;
}

/** What a cursor carries: the query it is bound to, and the place in its results. */
export interface Cursor<Query> {
	query: Query;
	after: Position;
	/** The next page is an empty one (dialect `pages: emptyBetween`). */
	gap?: boolean;
}

/** Writes a cursor as an opaque string. */
export function encodeCursor<Query>(cursor: Cursor<Query>): string {
	return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Reads a string written by `encodeCursor`. Throws an ApiError (400) when it is none. */
export function decodeCursor<Query>(text: string): Cursor<Query> {
	try {
		const cursor = JSON.parse(Buffer.from(text, 'base64url').toString());
		if (typeof cursor.after.id === 'string' && typeof cursor.query === 'object') return cursor;
	} catch {
		// refused below
	}
	throw new ApiError(400, 'cursor is not one that this service gave out');
}
