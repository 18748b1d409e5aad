import { sleep } from 'n8n-workflow';

const DEFAULT_WAIT_MS = 60_000;
const SHORTEST_WAIT_MS = 1_000;
/** A gate never stays shut longer than this, so that one absurd answer cannot shut out a key for days. */
const LONGEST_SHUT_MS = 3_600_000;
/** Requests that waited for the same gate resume this far apart, instead of all at once. */
const SPREAD_MS = 50;

interface Gate {
	opensAt: number;
	waiting: number;
}

/** Shared by all executions of the process: the rate is counted per API key (specification, section 8). */
const gates = new Map<string, Gate>();

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
	const asked = waits.find((ms) => ms !== undefined) ?? DEFAULT_WAIT_MS;
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
	const gate = gates.get(key) ?? { opensAt: 0, waiting: 0 };
	gate.opensAt = Math.max(gate.opensAt, Date.now() + Math.min(waitMs, LONGEST_SHUT_MS));
	gates.set(key, gate);
}

/**
 * Returns when a request with this key may be sent.
 *
 * @param allowedMs The longest wait, in ms.
 * @param signal Ends the wait at once with the signal's reason.
 * @returns How long it waited, in ms.
 * @throws WaitTooLong at once, without waiting, when the wait would exceed `allowedMs`.
 */
export async function waitForGate(
	key: string,
	allowedMs: number,
	signal?: AbortSignal,
): Promise<number> {
	const began = Date.now();
	const waitedMs = () => Date.now() - began;
	for (let gate = gates.get(key); gate; gate = gates.get(key)) {
		const shutMs = gate.opensAt - Date.now();
		if (shutMs <= 0) {
			if (gate.waiting === 0) gates.delete(key);
			break;
		}
		const waitMs = shutMs + gate.waiting * SPREAD_MS;
		if (waitedMs() + waitMs > allowedMs) throw new WaitTooLong(waitMs);
		gate.waiting++;
		try {
			await pause(waitMs, signal);
		} finally {
			gate.waiting--;
		}
	}
	return waitedMs();
}

/**
 * Sleeps, and wakes at once when the signal fires (n8n 2.0's `sleep` would sleep on).
 *
 * @param ms How long.
 * @throws The signal's reason.
 */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	let stop: (() => void) | undefined;
	const aborted = new Promise<never>((_resolve, reject) => {
		stop = () => reject(signal?.reason);
		signal?.addEventListener('abort', stop, { once: true });
	});
	try {
		await Promise.race([sleep(ms, signal), aborted]);
	} finally {
		if (stop) signal?.removeEventListener('abort', stop);
	}
}
