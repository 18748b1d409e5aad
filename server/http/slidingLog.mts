type Answer = (error: Error | null, result?: { current: number; ttl: number }) => void;

/**
 * A store for @fastify/rate-limit with the time of each counted request, for a sliding window.
 * Rejected requests don't count.
 */
export class SlidingLog {
	readonly #times = new Map<string, number[]>();

	/** Counts a request of `key`. `ttl` is the time until the oldest one leaves the window. */
	incr(key: string, answer: Answer, windowMs: number, max: number): void {
		const now = performance.now();
		const times = (this.#times.get(key) ?? []).filter((time) => time > now - windowMs);
		const full = times.length >= max;
		if (!full) times.push(now);
		this.#times.set(key, times);
		const freeing = times.at(full ? -max : 0) ?? now;
		answer(null, { current: full ? max + 1 : times.length, ttl: freeing + windowMs - now });
	}

	/** All routes share one log. */
	child(): this {
		return this;
	}

	clear(): void {
		this.#times.clear();
	}
}
