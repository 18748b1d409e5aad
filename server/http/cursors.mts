import { ApiError } from '../util/errors.mts';
import type { Position } from '../index/store.mts';

/** What a cursor carries: the query it is bound to, and the place in its results. */
export interface Cursor<Query> {
	query: Query;
	after: Position;
}

/** Writes a cursor as an opaque string. */
export function encodeCursor<Query>(cursor: Cursor<Query>): string {
	return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/**
 * Reads a string written by `encodeCursor`. Throws an ApiError (400) when it is none, or when it
 * carries something else than `isQuery` takes.
 */
export function decodeCursor<Query>(
	text: string,
	isQuery: (value: unknown) => value is Query,
): Cursor<Query> {
	try {
		const { query, after } = JSON.parse(Buffer.from(text, 'base64url').toString());
		if (typeof after.id === 'string' && typeof after.time === 'string' && isQuery(query)) {
			return { query, after: { time: after.time, id: after.id } };
		}
	} catch {
		// refused below
	}
	throw new ApiError(400, "cursor doesn't come from this service");
}
