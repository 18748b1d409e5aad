/** How long a 429 asks to wait, as documented (specification, section 8). */
const DOCUMENTED_WAIT_MS = 60_000;
/** Zero would be a hot loop. */
const MIN_WAIT_MS = 1_000;

type Headers = Record<string, unknown>;

/** How long to wait after a 429, in ms: what it asks for, else 60 s; at least 1 s. */
export function retryAfterMs(body: unknown, headers: Headers): number {
	return Math.max(askedWaitMs(body, headers) ?? DOCUMENTED_WAIT_MS, MIN_WAIT_MS);
}

/**
 * How long a response asks to wait, in ms: `retryAfter` of its body (seconds), else its `Retry-After`
 * header (seconds, or a date compared with the service's `Date`); undefined if it doesn't say
 * (specification, section 7).
 */
export function askedWaitMs(body: unknown, headers: Headers): number | undefined {
	const inBody = (body as { retryAfter?: unknown } | null | undefined)?.retryAfter;
	const inHeader = headers['retry-after'];
	const waits = [seconds(inBody), seconds(inHeader), untilDate(inHeader, headers.date)];
	return waits.find((ms) => ms !== undefined);
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
