/**
 * The ways in which a service that honours the contract may still differ: where the contract
 * states two things, or says nothing, a dialect chooses.
 */
export interface Dialect {
	/** Page size of the lifelog list: the largest, and what happens to a larger `limit`. */
	limit: { max: 10 | 100; above: 'clamp' | 'reject' };
	/** `includeContents` when the request does not say. */
	includeContentsDefault: boolean;
	/** Where a lifelog's delete puts `success`. Chats always use `data`. */
	deleteShape: 'top' | 'data';
	/** What getting an unknown id answers: 404, or 200 with null. */
	missing: '404' | 'null';
	/** `short`: half-filled pages; `emptyBetween`: an empty page after each page but the last. */
	pages: 'full' | 'short' | 'emptyBetween';
	/** How `nextCursor` says that there is no next page. */
	lastCursor: 'absent' | 'null' | 'empty';
	/** Where a 429 says how long to wait. */
	retryAfter: 'body' | 'headerSeconds' | 'headerDate' | 'none';
	/** Requests per key in a sliding window of `windowMs` milliseconds. */
	rateLimit: { max: number; windowMs: number };
	/** Whether an entry that begins exactly at `end` belongs to the range. */
	endInclusive: boolean;
	/** Which instant a wall-clock value means in the hour that autumn repeats. */
	ambiguousHour: 'first' | 'second';
	/** Delay before each request is handled, in milliseconds. */
	latencyMs: number;
	/** Whether audio declares its length or is sent chunked. */
	audioContentLength: boolean;
}

/** A change of some switches; those of `limit` and `rateLimit` can be given one by one. */
export type DialectChange = Partial<Omit<Dialect, 'limit' | 'rateLimit'>> & {
	limit?: Partial<Dialect['limit']>;
	rateLimit?: Partial<Dialect['rateLimit']>;
};

/** The dialect after start and after each reset. */
export const defaultDialect: Dialect = {
	limit: { max: 100, above: 'clamp' },
	includeContentsDefault: true,
	deleteShape: 'top',
	missing: '404',
	pages: 'full',
	lastCursor: 'absent',
	retryAfter: 'body',
	rateLimit: { max: 180, windowMs: 60_000 },
	endInclusive: false,
	ambiguousHour: 'first',
	latencyMs: 0,
	audioContentLength: true,
};

/** Returns `dialect` with `change` applied; neither is modified. */
export function changeDialect(dialect: Dialect, change: DialectChange): Dialect {
	return {
		...dialect,
		...change,
		limit: { ...dialect.limit, ...change.limit },
		rateLimit: { ...dialect.rateLimit, ...change.rateLimit },
	};
}

const oneOf = (...values: unknown[]) => ({ enum: values });

/** JSON Schema of a `DialectChange`. */
export const dialectSchema = {
	type: 'object',
	additionalProperties: false,
	properties: {
		limit: {
			type: 'object',
			additionalProperties: false,
			properties: { max: oneOf(10, 100), above: oneOf('clamp', 'reject') },
		},
		includeContentsDefault: { type: 'boolean' },
		deleteShape: oneOf('top', 'data'),
		missing: oneOf('404', 'null'),
		pages: oneOf('full', 'short', 'emptyBetween'),
		lastCursor: oneOf('absent', 'null', 'empty'),
		retryAfter: oneOf('body', 'headerSeconds', 'headerDate', 'none'),
		rateLimit: {
			type: 'object',
			additionalProperties: false,
			properties: {
				max: { type: 'integer', minimum: 0 },
				windowMs: { type: 'integer', minimum: 1 },
			},
		},
		endInclusive: { type: 'boolean' },
		ambiguousHour: oneOf('first', 'second'),
		latencyMs: { type: 'integer', minimum: 0 },
		audioContentLength: { type: 'boolean' },
	},
};
