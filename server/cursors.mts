import { ApiError } from './errors.mts';
import type { Position } from './store/store.mts';

/** What a cursor carries: the query it is bound to, and the place in its results. */
export interface Cursor<Query> {
	query: Query;
	after: Position;
	/** The next page is an empty one (reading `pages: emptyBetween`). */
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
