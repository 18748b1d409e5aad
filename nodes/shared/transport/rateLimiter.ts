import { createHash } from 'node:crypto';

import type { Api } from '../auth/connection';
import { pause, unlessAborted } from './concurrency';

const MAX_BLOCK_MS = 3_600_000; // one absurd answer must not block a key for days

/** A request with all its retries. Times are of `performance.now()`, which nobody can set. */
export class Ticket {
	private static count = 0;
	readonly budget: Pick<Api, 'maxWaitMs' | 'waitUntil' | 'hasPriority' | 'signal'>;
	readonly rank: number; // the order of arrival, negative with priority
	waitedMs = 0;
	countedUntil = 0; // until when `waitedMs` counts
	passed = 0; // how many requests got through by then

	constructor(budget: Ticket['budget']) {
		this.budget = budget;
		this.rank = Ticket.count++ - (budget.hasPriority ? Number.MAX_SAFE_INTEGER : 0);
	}
}

/** Thrown if the wait would exceed the budget; with the answer that asks for it, if any. */
export class WaitTooLong extends Error {
	wait = { ms: 0, waitedMs: 0, refusal: undefined as unknown };
}

/**
 * The requests of one key. A refusal blocks them all until the time it names. Then they go in the
 * order of their arrival: one, and with each that gets through one more at a time.
 */
export class RateLimiter {
	private blockedUntil = 0;
	private concurrency = Infinity;
	private active = 0;
	private passed = 0;
	private readonly queue: Ticket[] = [];
	private changed = Promise.resolve();
	private notify = () => {};

	get isIdle(): boolean {
		return this.active + this.queue.length === 0 && this.blockedUntil <= performance.now();
	}

	/** Sends a request when its turn comes, and again after each wait that `askedWaitMs` names. `send` says when it got through. */
	async run<T>(
		ticket: Ticket,
		send: (heldMs: number, onPassed: () => void) => Promise<T>,
		askedWaitMs: (outcome: T) => number | undefined,
	): Promise<T> {
		for (;;) {
			const arrivedAt = performance.now();
			const release = await this.acquire(ticket);
			try {
				const outcome = await send(performance.now() - arrivedAt, () => release(1));
				const waitMs = askedWaitMs(outcome);
				if (waitMs === undefined) return outcome;
				this.spend(ticket, this.block(waitMs), outcome);
			} finally {
				release(0);
			}
		}
	}

	private async acquire(ticket: Ticket): Promise<(passed: number) => void> {
		this.queue.push(ticket);
		this.queue.sort((a, b) => a.rank - b.rank);
		try {
			for (;;) {
				const waitMs = this.blockedUntil - performance.now();
				if (waitMs > 0) {
					this.spend(ticket, this.blockedUntil);
					await pause(Math.ceil(waitMs), ticket.budget.signal);
				} else if (this.queue[0] === ticket && this.active < this.concurrency) break;
				else await unlessAborted(this.changed, ticket.budget.signal);
			}
		} finally {
			this.queue.splice(this.queue.indexOf(ticket), 1);
			this.wakeQueue();
		}
		this.active++;
		let held = 1;
		return (passed) => {
			this.active -= held;
			this.passed += passed * held;
			ticket.passed += passed * held; // only others' progress starts its budget again
			this.concurrency += passed * held;
			held = 0;
			this.wakeQueue();
		};
	}

	/** @returns Until when. A refusal while blocked is older, because nothing is sent then. */
	private block(waitMs: number): number {
		const now = performance.now();
		if (now < this.blockedUntil) return this.blockedUntil;
		this.blockedUntil = now + Math.min(waitMs, MAX_BLOCK_MS);
		this.concurrency = 1;
		return now + waitMs;
	}

	/** Counts each moment once, and again from 0 when other requests got through. */
	private spend(ticket: Ticket, until: number, refusal?: unknown): void {
		const now = performance.now();
		if (ticket.passed < this.passed) Object.assign(ticket, { passed: this.passed, waitedMs: 0 });
		const waitMs = Math.max(0, until - Math.max(now, ticket.countedUntil));
		const { maxWaitMs, waitUntil = Infinity } = ticket.budget;
		if (ticket.waitedMs + waitMs > maxWaitMs || until > waitUntil) {
			const wait = { ms: until - now, waitedMs: ticket.waitedMs, refusal };
			throw Object.assign(new WaitTooLong(), { wait });
		}
		ticket.waitedMs += waitMs;
		ticket.countedUntil = Math.max(until, ticket.countedUntil);
	}

	private wakeQueue(): void {
		this.notify();
		this.changed = new Promise((resolve) => {
			this.notify = resolve;
		});
	}
}

const limiters = new Map<string, RateLimiter>();

/** The rate limiter of an address and key, by its hash: no key outlives its execution. */
export function rateLimiterFor(key: string): RateLimiter {
	const id = createHash('sha256').update(key).digest('base64');
	for (const [other, { isIdle }] of limiters) if (isIdle && other !== id) limiters.delete(other);
	if (!limiters.has(id)) limiters.set(id, new RateLimiter());
	return limiters.get(id)!;
}
