import { createHash } from 'node:crypto';

import type { Api } from './connection';
import { pause, unlessAborted } from './concurrency';

const MAX_BLOCK_MS = 3_600_000; // one absurd answer must not block a key for days

/** A request in the queue. All times are those of `performance.now()`, which nobody can set. */
interface Ticket {
	budget: Pick<Api, 'maxWaitMs' | 'waitUntil' | 'goesFirst' | 'signal'>;
	rank: number; // the order of arrival, negative for what goes first
	waitedMs: number;
	countedUntil: number; // until when `waitedMs` counts
	passed: number; // how many requests had got through by then
}

/** Thrown when the wait would be longer than allowed; with the answer that asks for it, if any. */
export class WaitTooLong extends Error {
	wait = { ms: 0, waitedMs: 0, refusal: undefined as unknown };
}

/**
 * The requests of one key. A refusal blocks them all until the time it names. Then they go in the
 * order of their arrival: first one alone, and with each that gets through one more at a time.
 */
export class RateLimiter {
	private blockedUntil = 0;
	private concurrency = Infinity;
	private active = 0;
	private passed = 0;
	private tickets = 0;
	private readonly queue: Ticket[] = [];
	private changed = Promise.resolve();
	private notify = () => {};

	get isIdle(): boolean {
		return this.active + this.queue.length === 0 && this.blockedUntil <= performance.now();
	}

	/**
	 * Sends a request in its turn, and again while `askedWaitMs` names a wait. `send` learns how long
	 * it was held up, in ms, and says when it has got through.
	 */
	async run<T>(
		budget: Ticket['budget'],
		send: (heldMs: number, hasPassed: () => void) => Promise<T>,
		askedWaitMs: (outcome: T) => number | undefined,
	): Promise<T> {
		const rank = this.tickets++ - (budget.goesFirst ? Number.MAX_SAFE_INTEGER : 0);
		const ticket = { budget, rank, waitedMs: 0, countedUntil: 0, passed: 0 };
		for (;;) {
			const arrivedAt = performance.now();
			const release = await this.acquire(ticket);
			try {
				const outcome = await send(performance.now() - arrivedAt, () => release(1));
				const waitMs = askedWaitMs(outcome);
				if (waitMs === undefined) return outcome;
				this.block(waitMs);
				this.spend(ticket, performance.now() + waitMs, outcome);
			} finally {
				release(0);
			}
		}
	}

	/** @returns To be called when the next request may go. */
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
			this.concurrency += passed * held;
			held = 0;
			this.wakeQueue();
		};
	}

	/** Nothing is sent while it is blocked, so a refusal then is older and says nothing new. */
	private block(waitMs: number): void {
		if (performance.now() < this.blockedUntil) return;
		this.blockedUntil = performance.now() + Math.min(waitMs, MAX_BLOCK_MS);
		this.concurrency = 1;
	}

	/** Counts a wait: each moment once, and anew when requests ahead in the queue got through. */
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
		this.changed = new Promise((resolve) => (this.notify = resolve));
	}
}

/** By the hash of the key, so that none stays in memory longer than its execution. */
const limiters = new Map<string, RateLimiter>();

/** The rate limiter of an address and key, shared by all executions of the process. */
export function rateLimiterFor(key: string): RateLimiter {
	for (const [id, { isIdle }] of limiters) if (isIdle) limiters.delete(id);
	const id = createHash('sha256').update(key).digest('base64');
	if (!limiters.has(id)) limiters.set(id, new RateLimiter());
	return limiters.get(id)!;
}
