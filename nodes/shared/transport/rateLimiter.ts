import { createHash } from 'node:crypto';

import type { Api } from './connection';
import { pause, unlessAborted } from './concurrency';

/** How long a 429 asks to wait, as documented (specification, section 8). */
const DOCUMENTED_WAIT_MS = 60_000;
/** Zero would be a hot loop. */
const MIN_WAIT_MS = 1_000;
const MAX_BLOCK_MS = 3_600_000; // one absurd answer must not block a key for days

/** A request in the queue. Times are of `performance.now()`, which nobody can set. */
interface Ticket {
	budget: Pick<Api, 'maxWaitMs' | 'waitUntil' | 'hasPriority' | 'signal'>;
	rank: number; // the order of arrival, negative with priority
	waitedMs: number;
	countedUntil: number; // until when `waitedMs` counts
	passed: number; // how many requests got through by then
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
	private tickets = 0;
	private readonly queue: Ticket[] = [];
	private changed = Promise.resolve();
	private notify = () => {};

	get isIdle(): boolean {
		return this.active + this.queue.length === 0 && this.blockedUntil <= performance.now();
	}

	/** Sends a request from the queue, again while `askedWaitMs` names a wait. `send` says when it got through. */
	async run<T>(
		budget: Ticket['budget'],
		send: (heldMs: number, hasPassed: () => void) => Promise<T>,
		askedWaitMs: (outcome: T) => number | undefined,
	): Promise<T> {
		const rank = this.tickets++ - (budget.hasPriority ? Number.MAX_SAFE_INTEGER : 0);
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

	/** @returns The function that releases it. */
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

	/** A refusal while blocked is older, because nothing is sent then. */
	private block(waitMs: number): void {
		if (performance.now() < this.blockedUntil) return;
		this.blockedUntil = performance.now() + Math.min(waitMs, MAX_BLOCK_MS);
		this.concurrency = 1;
	}

	/** Counts each moment once, and again from 0 when requests ahead in the queue got through. */
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

/** By the hash of the key, so that no key outlives its execution. */
const limiters = new Map<string, RateLimiter>();

/** The rate limiter of an address and key, shared by all executions of the process. */
export function rateLimiterFor(key: string): RateLimiter {
	for (const [id, { isIdle }] of limiters) if (isIdle) limiters.delete(id);
	const id = createHash('sha256').update(key).digest('base64');
	if (!limiters.has(id)) limiters.set(id, new RateLimiter());
	return limiters.get(id)!;
}

/**
 * How long a 429 asks to wait, in ms: `retryAfter` of its body (seconds), else its `Retry-After`
 * header (seconds, or a date compared with the service's `Date`), else 60 s; at least 1 s
 * (specification, section 7).
 */
export function retryAfterMs(body: unknown, headers: Record<string, unknown>): number {
	const inBody = (body as { retryAfter?: unknown } | null | undefined)?.retryAfter;
	const inHeader = headers['retry-after'];
	const waits = [seconds(inBody), seconds(inHeader), untilDate(inHeader, headers.date)];
	const asked = waits.find((ms) => ms !== undefined) ?? DOCUMENTED_WAIT_MS;
	return Math.max(asked, MIN_WAIT_MS);
}

function seconds(value: unknown): number | undefined {
	const isWritten = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
	const ms = Number(value) * 1000;
	return isWritten && Number.isFinite(ms) && ms >= 0 ? Math.ceil(ms) : undefined;
}

function untilDate(value: unknown, serviceDate: unknown): number | undefined {
	const now = Date.parse(String(serviceDate));
	const ms = Date.parse(String(value)) - (Number.isNaN(now) ? Date.now() : now);
	return ms >= 0 ? ms : undefined;
}
