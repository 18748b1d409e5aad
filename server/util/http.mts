// HTTP requests with limits for time and size, without redirects.
import { Agent, type Dispatcher, fetch, type FormData, type Response } from 'undici';

interface Sending {
	method?: 'GET' | 'POST';
	headers: Record<string, string>;
	body?: string | FormData;
	/** Maximum time until the answer begins, in ms. */
	beginMs: number;
	signal?: AbortSignal;
	dispatcher?: Dispatcher;
}

/** Maximum times for an answer's body, in ms. */
interface BodyTimes {
	totalMs: number;
	/** Without a byte; by default the total time. */
	stallMs?: number;
}

/** An answer took too long. */
export class LateError extends Error {
	constructor(ms: number) {
		super(`didn't respond within ${Math.round(ms / 1000)} s`);
	}
}

export class TooLargeError extends Error {}

/** For requests that may take longer than undici's five minutes. */
export const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/**
 * Sends a request. Redirects are returned, not followed: they would send a key or private words to
 * another address.
 *
 * @throws LateError, the reason of `signal`, and undici's connection errors.
 */
export async function send(url: string, { beginMs, signal, ...init }: Sending): Promise<Response> {
	const late = new AbortController();
	const timer = setTimeout(() => late.abort(new LateError(beginMs)), beginMs);
	const signals = [late.signal, ...(signal ? [signal] : [])];
	return await fetch(url, {
		...init,
		redirect: 'manual',
		signal: AbortSignal.any(signals),
	}).finally(() => clearTimeout(timer));
}

export const isRedirect = ({ status }: { status: number }) => status >= 300 && status < 400;

/** The headers of an answer, for `lifelog/retryAfter`. */
export const headersOf = ({ headers }: Response) => Object.fromEntries(headers);

/** Streams the body of an answer. @throws LateError. */
export async function* bodyOf(
	response: Response,
	{ totalMs, stallMs = totalMs }: BodyTimes,
): AsyncGenerator<Uint8Array> {
	if (!response.body) return;
	const reader = response.body.getReader();
	const until = performance.now() + totalMs;
	try {
		for (;;) {
			const left = Math.max(1, until - performance.now());
			const { done, value } = await within(Math.min(stallMs, left), reader.read());
			if (done) return;
			yield value;
		}
	} finally {
		await reader.cancel().catch(() => {});
	}
}

/** The body of an answer as text. @throws LateError, TooLargeError. */
export async function textOf(
	response: Response,
	{ maxBytes, ...times }: BodyTimes & { maxBytes: number },
): Promise<string> {
	const pieces: Uint8Array[] = [];
	let bytes = 0;
	for await (const piece of bodyOf(response, times)) {
		bytes += piece.length;
		if (bytes > maxBytes) throw new TooLargeError(`more than ${maxBytes / 2 ** 20} MiB`);
		pieces.push(piece);
	}
	return new TextDecoder().decode(Buffer.concat(pieces));
}

/** The code of a connection error, such as ECONNREFUSED. */
export function codeOf(error: Error): string | undefined {
	return ((error.cause ?? error) as NodeJS.ErrnoException).code;
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new LateError(ms)), ms);
	});
	return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
