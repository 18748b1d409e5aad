import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { RateLimitedError } from '../util/errors.mts';
import { keyOf } from './auth/requestKey.mts';
import type { Service } from './service.mts';
import { SlidingLog } from './slidingLog.mts';

/**
 * Limits requests per API key over all routes of `app`, including unknown ones, by the service's
 * `rateLimit`. Further requests fail with a RateLimitedError.
 */
export async function limitRate(app: FastifyInstance, service: Service): Promise<void> {
	await app.register(rateLimit, {
		// The plugin needs a class; its instance is the service's log.
		store: class {
			constructor() {
				return service.rateLimits ?? new SlidingLog();
			}
		} as unknown as new () => SlidingLog,
		keyGenerator: (request) => String(keyOf(request)),
		// Invalid keys are rejected anyway, and remembering them would need unlimited memory.
		allowList: (request) => {
			const key = keyOf(request);
			return !service.rateLimits || key === undefined || !service.visitorOfKey(key);
		},
		max: () => service.rateLimit?.max ?? Infinity,
		timeWindow: () => service.rateLimit?.windowMs ?? 60_000,
		errorResponseBuilder: (_request, { ttl }) => new RateLimitedError(ttl),
		addHeaders: noHeaders,
		addHeadersOnExceeding: noHeaders,
	});
}

const noHeaders = {
	'x-ratelimit-limit': false,
	'x-ratelimit-remaining': false,
	'x-ratelimit-reset': false,
	'retry-after': false,
};

/** The body of a 429 (specification, section 5). */
export function answerRateLimited({ message, waitMs }: RateLimitedError) {
	const seconds = String(Math.max(1, Math.ceil(Math.round(waitMs) / 1000)));
	return { error: message, retryAfter: seconds };
}
