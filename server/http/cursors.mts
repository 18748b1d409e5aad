import { ApiError } from '../util/errors.mts';
import type { Position } from '../index/store.mts';

/** Content of a cursor: its query, and the position in the results. */
export interface Cursor<Query> {
	query: Query;
	after: Position;
}

export function encodeCursor<Query>(cursor: Cursor<Query>): string {
	return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/**
 * Decodes a string of `encodeCursor`. Throws an ApiError (400) if it is invalid, or `isQuery`
 * rejects its content.
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
		// rejected below
	}
	throw new ApiError(400, "cursor doesn't come from this service");
}
