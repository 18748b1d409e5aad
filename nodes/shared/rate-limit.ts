import { createHash } from 'node:crypto';
import { sleep } from 'n8n-workflow';

/** How long a 429 asks to wait, as documented (specification, section 8). */
export const DOCUMENTED_WAIT_MS = 60_000;
const SHORTEST_WAIT_MS = 1_000;
/** A gate never stays shut longer than this, so that one absurd answer cannot shut out a key for days. */
const LONGEST_SHUT_MS = 3_600_000;
/** Requests that waited for the same gate resume this far apart, instead of all at once. */
const SPREAD_MS = 50;
/**
 * What goes first has the key for itself for this share of a wait (1 s after the documented minute),
 * and as much again behind each of its requests, up to the other share in all (5 s).
 */
const HEAD_START = 1 / 60;
const LONGEST_HEAD_START = 1 / 12;
/** Requests that are refused together are so within moments: that much longer is no longer wait. */
const TOLERANCE_MS = 1_000;
const SWEEP_MS = 1_000;

/** Its times are those of `performance.now()`: no clock that somebody sets moves them. */
interface Gate {
	opensAt: number;
	/** When it opens for what does not go first. */
	opensToAllAt: number;
	/** How long it was shut for, in ms. */
	shutMs: number;
	/** How many wait to go first, and how many to go behind them. */
	waiting: { first: number; others: number };
}

/**
 * Shared by all executions of the process: the rate is counted per API key (specification, section
 * 8). By the hash of the key, so that none stays in memory longer than its execution.
 */
const gates = new Map<string, Gate>();
let isSweeping = false;

/** What was waited for the rate limit by one request, or by a run whose requests wait together. */
export interface LimitWait {
	/** ms that the limit has asked for, each counted once, whoever waited in it. */
	ms: number;
	/** Until when it is counted, by `performance.now()`. */
	until: number;
}

/** Patience with a gate. */
export interface GatePatience {
	/** The longest wait in all, in ms. */
	allowedMs: number;
	/** What of it is used up; {@link waitForGate} adds to it. */
	waited: LimitWait;
	/** Whether to go before others when the gate opens: for what a person or a clock waits for. */
	goesFirst?: boolean;
	/** Ends the wait at once with the signal's reason. */
	signal?: AbortSignal;
}

/** Thrown by {@link waitForGate} when the wait would be longer than allowed. */
export class WaitTooLong extends Error {
	readonly waitMs: number;

	/** @param waitMs How long the request would have to wait, in ms. */
	constructor(waitMs: number) {
		super(`The rate limit asks for a wait of ${waitMs} ms`);
		this.waitMs = waitMs;
	}
}

/**
 * How long a 429 asks to wait: its body's `retryAfter` (seconds), else its `Retry-After` header
 * (seconds, or a date read against the service's own `Date`), else 60 s; at least 1 s.
 * Specification, section 7.
 *
 * @returns ms
 */
export function retryAfterMs(body: unknown, headers: Record<string, unknown>): number {
	const inBody = (body as { retryAfter?: unknown } | null | undefined)?.retryAfter;
	const inHeader = headers['retry-after'];
	const waits = [seconds(inBody), seconds(inHeader), untilDate(inHeader, headers.date)];
	const asked = waits.find((ms) => ms !== undefined) ?? DOCUMENTED_WAIT_MS;
	return Math.max(asked, SHORTEST_WAIT_MS);
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

/**
 * Makes every request of this process with the same key wait.
 *
 * @param key What the rate is counted by: address and API key.
 * @param waitMs How long, in ms, from now.
 */
export function shutGate(key: string, waitMs: number): void {
	const id = hashOf(key);
	const shutMs = Math.min(waitMs, LONGEST_SHUT_MS);
	const opensAt = performance.now() + shutMs;
	const gate = gates.get(id) ?? newGate();
	if (opensAt > gate.opensAt) {
		Object.assign(gate, { opensAt, opensToAllAt: opensAt + shutMs * HEAD_START, shutMs });
	}
	gates.set(id, gate);
	sweepLater();
}

/** Whether a request with this key that does not go first would have to wait. */
export function isShut(key: string): boolean {
	return (gates.get(hashOf(key))?.opensToAllAt ?? 0) > performance.now();
}

/**
 * Returns when a request with this key may be sent. What the package adds to the wait, so that not
 * all resume at once, does not count against what is allowed.
 *
 * @throws WaitTooLong at once, without waiting, when the limit asks for more than is allowed.
 */
export async function waitForGate(key: string, patience: GatePatience): Promise<void> {
	const { waited, goesFirst = false, signal } = patience;
	const id = hashOf(key);
	const line = goesFirst ? 'first' : 'others';
	for (let gate = gates.get(id); gate; gate = gates.get(id)) {
		const now = performance.now();
		const resumesAt = goesFirst ? gate.opensAt : gate.opensToAllAt;
		if (resumesAt <= now) {
			if (goesFirst) holdOthers(gate, now);
			return;
		}
		const limitMs = Math.max(0, gate.opensAt - now);
		if (limitMs > 0 && !mayWait(limitMs, patience)) throw new WaitTooLong(limitMs);
		waited.ms += uncounted(limitMs, waited);
		waited.until = Math.max(waited.until, gate.opensAt);
		const waitMs = resumesAt - now + gate.waiting[line] * SPREAD_MS;
		gate.waiting[line]++;
		try {
			await pause(waitMs, signal);
		} finally {
			gate.waiting[line]--;
		}
	}
}

/** Whether a wait of this many ms from now is within what is allowed in all. */
export function mayWait(waitMs: number, { allowedMs, waited }: GatePatience): boolean {
	const inAllMs = waited.ms + uncounted(waitMs, waited);
	return inAllMs <= (allowedMs > 0 ? allowedMs + TOLERANCE_MS : 0);
}

/** What of a wait of this many ms from now is not counted yet. */
function uncounted(waitMs: number, { until }: LimitWait): number {
	const now = performance.now();
	return Math.max(0, now + waitMs - Math.max(now, until));
}

function holdOthers(gate: Gate, now: number): void {
	const heldUntil = now + gate.shutMs * HEAD_START;
	const latest = gate.opensAt + gate.shutMs * LONGEST_HEAD_START;
	gate.opensToAllAt = Math.max(gate.opensToAllAt, Math.min(heldUntil, latest));
}

function newGate(): Gate {
	return { opensAt: 0, opensToAllAt: 0, shutMs: 0, waiting: { first: 0, others: 0 } };
}

/** Drops gates that have opened, also those of keys that nobody uses again. */
function sweepLater(): void {
	if (isSweeping || gates.size === 0) return;
	isSweeping = true;
	// Unlike other timers this one does not keep the process running.
	AbortSignal.timeout(SWEEP_MS).addEventListener('abort', () => {
		isSweeping = false;
		const now = performance.now();
		for (const [id, gate] of gates) {
			const isAwaited = gate.waiting.first + gate.waiting.others > 0;
			if (gate.opensToAllAt <= now && !isAwaited) gates.delete(id);
		}
		sweepLater();
	});
}

function hashOf(key: string): string {
	return createHash('sha256').update(key).digest('base64');
}

/**
 * Sleeps, and wakes at once when the signal fires (n8n 2.0's `sleep` would sleep on).
 *
 * @param ms How long.
 * @throws The signal's reason.
 */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await unlessAborted(sleep(ms, signal), signal);
}

/**
 * What is waited for, or, when the signal fires, an end of the waiting at once.
 *
 * @throws The signal's reason.
 */
export async function unlessAborted<T>(awaited: Promise<T>, signal?: AbortSignal): Promise<T> {
	let stop: (() => void) | undefined;
	const aborted = new Promise<never>((_resolve, reject) => {
		stop = () => reject(signal?.reason);
		signal?.addEventListener('abort', stop, { once: true });
	});
	try {
		return await Promise.race([awaited, aborted]);
	} finally {
		if (stop) signal?.removeEventListener('abort', stop);
	}
}
