import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DateTime } from 'luxon';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../util/errors.mts';
import { checkZone, parseWallClock, zoneFormatter } from '../util/times.mts';

/** Allowed differences between services: a dialect chooses where the contract is ambiguous or silent. */
export interface Dialect {
	/** Maximum page size of the lifelog list, and the handling of a larger `limit`. */
	limit: { max: 10 | 100; above: 'clamp' | 'reject' };
	includeContentsDefault: boolean;
	/** Location of `success` in the answer to deleting a lifelog. Chats always use `data`. */
	deleteShape: 'top' | 'data';
	/** The answer for an unknown ID: 404, or 200 with null. */
	missing: '404' | 'null';
	/** `short`: half-filled pages; `emptyBetween`: an empty page after each page except the last. */
	pages: 'full' | 'short' | 'emptyBetween';
	/** Form of `nextCursor` without a next page. */
	lastCursor: 'absent' | 'null' | 'empty';
	/** Location of the delay in a 429. */
	retryAfter: 'body' | 'headerSeconds' | 'headerDate' | 'none';
	/** Requests per key in a sliding window of `windowMs` milliseconds. */
	rateLimit: { max: number; windowMs: number };
	/** Whether an entry that starts exactly at `end` is in the range. */
	endInclusive: boolean;
	/** Meaning of a local time in the hour that autumn repeats. */
	ambiguousHour: 'first' | 'second';
	/** Whether audio has a Content-Length if known, or is sent chunked. */
	audioContentLength: boolean;
	/** Delay before each request is handled, in milliseconds. */
	latencyMs: number;
}

/** A partial change. Fields of `limit` and `rateLimit` can be changed separately. */
export type DialectChange = Partial<Omit<Dialect, 'limit' | 'rateLimit'>> & {
	limit?: Partial<Dialect['limit']>;
	rateLimit?: Partial<Dialect['rateLimit']>;
};

/** The dialect after start and after each reset: what clients are most likely to expect. */
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
	audioContentLength: true,
	latencyMs: 0,
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

interface Query {
	limit?: number;
	cursor?: string;
	search?: string;
	start?: string;
	end?: string;
	timezone?: string;
	includeContents?: boolean;
}

/** How to call a request's handler, and to read its answer. */
interface Spoken {
	dialect: Dialect;
	/** `lifelogs` or `chats` for lists, whose pages the dialect cuts. */
	list?: 'lifelogs' | 'chats';
	/** The requested time zone, if the handler is called with UTC. */
	zone?: string;
}

const GAP = 'gap:';

/**
 * Translates requests and answers of `app` to the world's dialect. The handlers know no dialects.
 * Add `injectFaults` first, so that answers of faults aren't translated.
 */
export function speakDialect(
	app: FastifyInstance,
	world: { readonly dialect: Dialect; now: () => number },
): void {
	const spoken = new WeakMap<FastifyRequest, Spoken>();

	app.addHook('onRequest', async (request) => {
		const { dialect } = world;
		spoken.set(request, { dialect });
		if (dialect.latencyMs > 0) await sleep(dialect.latencyMs, undefined, { ref: false });
	});

	app.addHook('preHandler', async (request, reply) => {
		const saying = spoken.get(request)!;
		const { dialect } = saying;
		const query = request.query as Query;
		const { url } = request.routeOptions;
		if (!dialect.audioContentLength) delete request.headers.range;
		if (request.method !== 'GET' || !url?.startsWith('/v1/')) return;
		if (url.startsWith('/v1/lifelogs')) query.includeContents ??= dialect.includeContentsDefault;
		const list = /^\/v1\/(lifelogs|chats)$/.exec(url)?.[1] as Spoken['list'];
		if (!list) return;
		saying.list = list;
		if (query.cursor?.startsWith(GAP)) {
			const meta = { nextCursor: query.cursor.slice(GAP.length), count: 0 };
			return reply.send({ data: { [list]: [] }, meta: { [list]: meta } });
		}
		query.limit = pageSize(dialect, list, query);
		if (list === 'lifelogs') saying.zone = askForRange(dialect, query);
	});

	app.addHook('onSend', async (request, reply, payload) => {
		const saying = spoken.get(request);
		if (!saying) return payload;
		const { dialect, list, zone } = saying;
		if (request.routeOptions.url === '/v1/download-audio' && !dialect.audioContentLength) {
			for (const name of ['content-length', 'accept-ranges', 'etag']) reply.removeHeader(name);
		}
		if (typeof payload !== 'string' || !request.routeOptions.url?.startsWith('/v1/')) {
			return payload;
		}
		const isList = list !== undefined && reply.statusCode === 200;
		const body = JSON.parse(payload, zone && isList ? inZone(zone) : undefined);
		if (isList) Object.assign(body.meta[list], cursorOf(body.meta[list], dialect, request));
		if (reply.statusCode === 429) tellWait(reply, body, dialect, world.now());
		if (reply.statusCode === 404 && request.method === 'GET' && dialect.missing === 'null') {
			const entry = /^\/v1\/(lifelog|chat)s\/:id$/.exec(request.routeOptions.url)?.[1];
			if (entry) {
				reply.code(200);
				return JSON.stringify({ data: { [entry]: null } });
			}
		}
		if (request.method === 'DELETE' && body.success && dialect.deleteShape === 'data') {
			return JSON.stringify({ data: { success: true } });
		}
		return JSON.stringify(body);
	});
}

/** The page size for the handler. Throws an ApiError (400) if it is rejected. */
function pageSize({ limit, pages }: Dialect, list: 'lifelogs' | 'chats', query: Query): number {
	const max = list === 'lifelogs' ? limit.max : 100;
	if (query.limit !== undefined && query.limit > max && limit.above === 'reject') {
		throw new ApiError(400, `limit must be at most ${max}`);
	}
	const usual = list === 'chats' ? 50 : max === 10 ? 3 : 10;
	const size = Math.min(query.limit ?? usual, max);
	return pages === 'short' && query.search === undefined ? Math.ceil(size / 2) : size;
}

/**
 * Converts `start` and `end` to the range that the dialect means, in UTC, where no hour repeats.
 *
 * @returns The time zone for the answer.
 */
function askForRange({ endInclusive, ambiguousHour }: Dialect, query: Query): string | undefined {
	const { start, end } = query;
	if ((!endInclusive && ambiguousHour === 'first') || (start === undefined && end === undefined)) {
		return undefined;
	}
	const zone = checkZone(query.timezone);
	const inUtc = (name: string, value: string | undefined, plusMs: number) => {
		if (value === undefined) return undefined;
		const first = DateTime.fromISO(parseWallClock(name, value, zone), { zone });
		const instants = first.getPossibleOffsets().map((possible) => possible.toMillis());
		const instant = ambiguousHour === 'first' ? Math.min(...instants) : Math.max(...instants);
		return new Date(instant + plusMs).toISOString();
	};
	Object.assign(query, {
		start: inUtc('start', start, 0),
		end: inUtc('end', end, endInclusive ? 1000 : 0),
		timezone: 'UTC',
	});
	return zone;
}

/** A JSON reviver that converts times of lifelogs to a time zone. */
function inZone(zone: string): (key: string, value: unknown) => unknown {
	const format = zoneFormatter(zone);
	const times = ['startTime', 'endTime', 'updatedAt'];
	return (key, value) => (times.includes(key) && typeof value === 'string' ? format(value) : value);
}

/** The next page's cursor in the dialect's form. */
function cursorOf(
	{ nextCursor }: { nextCursor?: string },
	{ pages, lastCursor }: Dialect,
	{ query }: FastifyRequest,
): { nextCursor?: string | null } {
	if ((query as Query).search !== undefined) return {};
	if (nextCursor === undefined) {
		return lastCursor === 'absent' ? {} : { nextCursor: lastCursor === 'null' ? null : '' };
	}
	const isAfterGap = (query as Query).cursor?.startsWith(GAP);
	return pages === 'emptyBetween' && !isAfterGap ? { nextCursor: GAP + nextCursor } : {};
}

/** Adds the delay of a 429 in the dialect's form. */
function tellWait(
	reply: { header: (name: string, value: string) => unknown },
	body: { retryAfter?: string },
	{ retryAfter: way }: Dialect,
	now: number,
): void {
	const { retryAfter: seconds } = body;
	if (way === 'body' || seconds === undefined) return;
	delete body.retryAfter;
	if (way === 'headerSeconds') reply.header('retry-after', seconds);
	if (way === 'headerDate') {
		reply.header('retry-after', new Date(now + Number(seconds) * 1000).toUTCString());
	}
}
