import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'undici';
import pRetry from 'p-retry';
import pThrottle from 'p-throttle';
import {
	type Fault,
	isLikeEndOfLimitless,
	LIMITLESS_END,
	LIMITLESS_URL,
} from '../../lifelog/limitless.ts';
import { METADATA_ONLY } from '../../lifelog/paging.ts';
import { retryAfterMs } from '../../lifelog/retryAfter.ts';
import { commandName } from '../util/commandLine.mts';
import { MINUTE_MS } from '../util/durations.mts';
import {
	bodyOf,
	codeOf,
	headersOf,
	isRedirect,
	LateError,
	send,
	textOf,
	TooLargeError,
} from '../util/http.mts';

/** A request failed permanently. Others may succeed. */
export class RequestError extends Error {
	/** HTTP status, if there was an answer. */
	readonly status: number | undefined;
	/** Whether a retry may succeed in some seconds. */
	readonly isTemporary: boolean;
	readonly fault: Fault;

	constructor(
		message: string,
		{
			status,
			isTemporary = false,
			...fault
		}: { status?: number; isTemporary?: boolean } & Pick<Fault, 'code' | 'isHtml'> = {},
	) {
		super(message);
		this.status = status;
		this.isTemporary = isTemporary;
		this.fault = { statusCode: status, ...fault };
	}
}

/** The service is unusable for the rest of this run. The message says why and what to do. */
export class ServiceError extends Error {}

/** The service refused a request in a way that usually affects all requests. */
export class Refused extends ServiceError {
	readonly status: number;

	constructor(status: number, message: string) {
		super(message);
		this.status = status;
	}
}

export class Stopped extends Error {
	constructor() {
		super('the run was stopped');
	}
}

/** The rate limit applies; retry later. */
class RateLimited extends Error {}

export interface ServiceOptions {
	/** Without `/v1`. */
	url: string;
	apiKey: string;
	requestsPerMinute: number;
	/** When aborted, no further request is sent. */
	stop: AbortSignal;
	/** Called before a pause for the rate limit, in seconds. */
	onWait: (seconds: number) => void;
}

const END = `${LIMITLESS_END} If you archived your lifelogs, look at them: ${commandName} serve <folder>`;

type Query = Record<string, string | number | boolean>;

const RETRIES = 3;
const FIRST_BACKOFF_MS = 1000;
const JSON_TIMEOUT_MS = 120_000;
const STALL_MS = 60_000;
const JSON_BODY = { maxBytes: 64 * 2 ** 20, totalMs: JSON_TIMEOUT_MS, stallMs: STALL_MS };
const DOWNLOAD = { totalMs: 1_800_000, stallMs: STALL_MS };
const MAX_RETRY_AFTER_S = 600;
/** Maximum consecutive pauses for the rate limit, per request. */
const MAX_WAITS = 10;
/** After so many consecutive failures, a probe tests the service. */
const MAX_FAILURES_IN_A_ROW = 10;
const TEMPORARY = [408, 425, 500, 502, 503, 504];

/**
 * Client of the archived service. It applies the rate limit, retries temporary failures, and pauses
 * all requests after a 429 (docs/api-spec.md, sections 7 and 8).
 */
export class ServiceClient {
	/** Number of requests sent, and the times of the last ones, epoch ms. */
	requests = 0;
	/** Whether it has returned a list, which proves that it is a Lifelog API. */
	hasAnswered = false;
	readonly #sentAt: number[] = [];
	readonly #options: ServiceOptions;
	readonly #acquire: () => Promise<void>;
	#blockedUntil = 0;
	#clockOffsetMs = 0;
	#failures = 0;

	constructor(options: ServiceOptions) {
		this.#options = options;
		const throttle = pThrottle({
			limit: options.requestsPerMinute,
			interval: MINUTE_MS,
			strict: true,
			signal: options.stop,
		});
		this.#acquire = throttle(async () => {});
	}

	/** The time by the service's clock, epoch ms; local time before its first answer. */
	now(): number {
		return Date.now() + this.#clockOffsetMs;
	}

	/** Difference between the two clocks, in ms. */
	clockDifferenceMs(): number {
		return Math.abs(this.#clockOffsetMs);
	}

	requestsInLastMinute(): number {
		const since = Date.now() - MINUTE_MS;
		while (this.#sentAt.length > 0 && this.#sentAt[0] < since) this.#sentAt.shift();
		return this.#sentAt.length;
	}

	/**
	 * Reads JSON; undefined if the service answers 404.
	 *
	 * @throws RequestError, ServiceError, Stopped.
	 */
	async getJson(path: string, query: Query): Promise<unknown> {
		return await this.#get(path, query, 'application/json', async (response) => {
			const text = await textOf(response, JSON_BODY);
			try {
				return JSON.parse(text) as unknown;
			} catch {
				const isHtml = /^\s*</.test(text);
				throw new RequestError('the answer is not JSON', { isTemporary: true, isHtml });
			}
		});
	}

	/**
	 * Streams a response body into `save`, from the start for each retry. Returns the result of
	 * `save`, or undefined for a 404.
	 *
	 * @throws RequestError, ServiceError, Stopped, and errors of `save`.
	 */
	async download<Result>(
		path: string,
		query: Query,
		save: (body: AsyncIterable<Uint8Array>, contentType: string) => Promise<Result>,
	): Promise<Result | undefined> {
		return await this.#get(path, query, 'audio/ogg', async (response) => {
			const contentType = response.headers.get('content-type') ?? '';
			return await save(bodyOf(response, DOWNLOAD), contentType);
		});
	}

	async #get<Result>(
		path: string,
		query: Query,
		accept: string,
		use: (response: Response) => Promise<Result>,
	): Promise<Result | undefined> {
		try {
			const result = await this.#retry(path, query, accept, use);
			this.#failures = 0;
			return result;
		} catch (given) {
			let error = given;
			if (error instanceof Refused && this.hasAnswered) {
				await this.#requireService(error);
				error = new RequestError(`the service returned ${error.status}`, { status: error.status });
			}
			if (!(error instanceof RequestError)) throw error;
			this.#failures += 1;
			if (this.#failures >= MAX_FAILURES_IN_A_ROW) await this.#requireService(error);
			throw error;
		}
	}

	async #retry<Result>(
		path: string,
		query: Query,
		accept: string,
		use: (response: Response) => Promise<Result>,
	): Promise<Result | undefined> {
		// Without the signal, which would discard a file that arrives after Ctrl+C.
		return await pRetry(() => this.#attempt(path, query, accept, use), {
			retries: RETRIES,
			minTimeout: FIRST_BACKOFF_MS,
			randomize: true,
			shouldRetry: ({ error }) => error instanceof RequestError && error.isTemporary,
		});
	}

	/** Sends one request. Waits for the rate limit and tries again. */
	async #attempt<Result>(
		path: string,
		query: Query,
		accept: string,
		use: (response: Response) => Promise<Result>,
	): Promise<Result | undefined> {
		for (let waits = 0; ; waits++) {
			await this.#waitForTurn();
			try {
				const response = await this.#send(path, query, accept);
				return response && (await use(response));
			} catch (error) {
				if (!(error instanceof RateLimited)) throw asRequestError(error);
				if (waits === MAX_WAITS) {
					throw new ServiceError(
						'The service keeps refusing requests because of the rate limit. Run it again later, with a lower --rate-limit',
					);
				}
			}
		}
	}

	/** Waits for the rate limits of the user and of the service. */
	async #waitForTurn(): Promise<void> {
		const { stop } = this.#options;
		await this.#waitWhileBlocked();
		await this.#acquire().catch((error: unknown) => {
			throw stop.aborted ? new Stopped() : error;
		});
		await this.#waitWhileBlocked();
		if (stop.aborted) throw new Stopped();
	}

	/** @returns undefined for a 404. */
	async #send(path: string, query: Query, accept: string): Promise<Response | undefined> {
		const { url, apiKey } = this.#options;
		const search = new URLSearchParams(
			Object.entries(query).map(([name, value]) => [name, String(value)]),
		);
		this.requests += 1;
		this.#sentAt.push(Date.now());
		const response = await send(`${url}${path}?${search}`, {
			headers: { 'x-api-key': apiKey, accept },
			beginMs: JSON_TIMEOUT_MS,
		});
		const date = Date.parse(response.headers.get('date') ?? '');
		if (!Number.isNaN(date)) this.#clockOffsetMs = date - Date.now();
		if (response.ok) return response;
		const body = parsed(await textOf(response, JSON_BODY).catch(() => ''));
		// A 404 page of a proxy proves nothing about the service's data.
		if (response.status === 404 && typeof body === 'object' && body !== null) return undefined;
		throw this.#errorOf(response, body);
	}

	#errorOf(response: Response, body: unknown): Error {
		const { url } = this.#options;
		const { status } = response;
		if (status === 429) {
			this.#block(retryAfterMs(body, headersOf(response)) / 1000);
			return new RateLimited();
		}
		if (status === 401 || status === 403) {
			return this.#refused(
				status,
				'The service refuses the API key. Copy it again from the developer settings of the app',
			);
		}
		if (isRedirect(response)) {
			return this.#refused(
				status,
				`${url} redirects to another address, and the API key is not sent there. Give that address with --url`,
			);
		}
		return new RequestError(`the service returned ${status}`, {
			status,
			isTemporary: TEMPORARY.includes(status) || status === 404,
		});
	}

	#refused(statusCode: number, message: string): Refused {
		return new Refused(statusCode, this.aboutAll(message, { statusCode }));
	}

	/** A message about the whole service, with what is known about Limitless. */
	aboutAll(message: string, fault: Fault): string {
		const isEnd = isLikeEndOfLimitless(this.#options.url, fault);
		return isEnd ? `${message}. ${END}` : message;
	}

	/** A message that the service is empty, with what is known about Limitless. */
	aboutNothing(message: string): string {
		return this.#options.url === LIMITLESS_URL ? `${message}. ${END}` : message;
	}

	/** Pauses all requests. */
	#block(seconds: number): void {
		if (seconds > MAX_RETRY_AFTER_S) {
			throw new ServiceError(
				`The rate limit blocks requests for ${Math.ceil(seconds / 60)} minutes. Run it again after that. Stored files are kept`,
			);
		}
		const until = performance.now() + seconds * 1000;
		if (until <= this.#blockedUntil) return;
		this.#blockedUntil = until;
		this.#options.onWait(seconds);
	}

	async #waitWhileBlocked(): Promise<void> {
		const { stop } = this.#options;
		for (;;) {
			const ms = this.#blockedUntil - performance.now();
			if (ms <= 0) return;
			if (stop.aborted) throw new Stopped();
			await sleep(ms, undefined, { signal: stop }).catch(() => {});
		}
	}

	async #requireService(last: Error): Promise<void> {
		try {
			const query = { limit: 1, timezone: 'UTC', ...METADATA_ONLY };
			await this.#retry('/v1/lifelogs', query, 'application/json', async (response) => {
				const { data } = JSON.parse(await textOf(response, JSON_BODY));
				if (!Array.isArray(data?.lifelogs)) throw new RequestError('the answer is not a list');
			});
		} catch (error) {
			if (error instanceof Stopped || error instanceof Refused) throw error;
			const message = `The service stopped answering (${last.message}). Run it again. Stored files are kept`;
			throw new ServiceError(
				error instanceof RequestError ? this.aboutAll(message, error.fault) : message,
			);
		}
		this.#failures = 0;
	}
}

/** @returns undefined for text that isn't JSON, such as an error page. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** The error of a request or its answer. Disk errors stay unchanged. */
function asRequestError(error: unknown): unknown {
	const isTemporary = true;
	if (error instanceof LateError) {
		return new RequestError(`the service ${error.message}`, { isTemporary });
	}
	if (error instanceof TooLargeError) {
		return new RequestError('the answer is too large', { status: 413 });
	}
	// undici's form of a connection error.
	if (!(error instanceof TypeError)) return error;
	const code = codeOf(error);
	const { message } = (error.cause ?? error) as Error;
	return new RequestError(NETWORK[code ?? ''] ?? `the connection failed (${code ?? message})`, {
		...{ code, isTemporary },
	});
}

const NETWORK: Record<string, string> = {
	ECONNREFUSED: 'nothing listens at that address (ECONNREFUSED)',
	ENOTFOUND: 'there is no host with the name of the service (ENOTFOUND)',
	EAI_AGAIN: "the name of the service can't be looked up (EAI_AGAIN)",
	ECONNRESET: 'the connection was interrupted (ECONNRESET)',
	UND_ERR_SOCKET: 'the connection was interrupted before the response was complete',
};
