import { defaultReading, type Reading } from '../server/reading.mts';

/**
 * The ways in which a service that honours the contract may still differ: where the contract
 * states two things, or says nothing, a dialect chooses.
 */
export interface Dialect extends Reading {
	/** Delay before each request is handled, in milliseconds. */
	latencyMs: number;
}

/** A change of some switches; those of `limit` and `rateLimit` can be given one by one. */
export type DialectChange = Partial<Omit<Dialect, 'limit' | 'rateLimit'>> & {
	limit?: Partial<Dialect['limit']>;
	rateLimit?: Partial<Dialect['rateLimit']>;
};

/** The dialect after start and after each reset. */
export const defaultDialect: Dialect = { ...defaultReading, latencyMs: 0 };

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
