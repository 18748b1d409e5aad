import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import type { Api, ApiContext } from './api';
import type { Answer, Subject } from './errors';
import {
	blockedError,
	cancelledError,
	connectionError,
	rateLimitError,
	statusError,
	toNodeError,
	unusableAnswerError,
} from './errors';
import { type ByteStream, type IncomingBody, incomingBody } from './incoming-body';
import {
	type GatePatience,
	isShut,
	mayWait,
	pause,
	retryAfterMs,
	shutGate,
	waitForGate,
	WaitTooLong,
} from './rate-limit';
import { type Turn, turnIn } from './rate-limit-line';

/** The `timeoutMs` of an {@link Api} that names none. */
const TIMEOUT_MS = 60_000;
const FIRST_RETRY_PAUSE_MS = 500;
/** What is read, in bytes, of a body that is not what was asked for. */
const LONGEST_WORDS = 65_536;
/** What is read of JSON, once unpacked: what came packed in a few kB can be gigabytes. */
const LONGEST_JSON_MIB = 64;
const LONGEST_JSON = LONGEST_JSON_MIB * 1024 * 1024;
/** Compressed, a body would not have the length that its answer declares; cached, it may be old. */
const AS_AUDIO: Partial<IHttpRequestOptions> = {
	headers: {
		accept: 'audio/*, */*;q=0.5',
		'accept-encoding': 'identity',
		'cache-control': 'no-cache',
	},
};

/** When a request is repeated; for the rate limit any of them waits, and is then sent again. */
interface RetryPolicy {
	/** How often at the most, where the connection allows it (`retries` of an {@link Api}). */
	most: number;
	/** Whether also where the service answers that it failed (5xx), not only where no answer came. */
	afterFailure: boolean;
	/** Whether a 404 to what is repeated says that the first one took effect. */
	isDoneIfGone: boolean;
}

const POLICIES = {
	GET: { most: Infinity, afterFailure: true, isDoneIfGone: false },
	DELETE: { most: 1, afterFailure: false, isDoneIfGone: true },
} satisfies Record<string, RetryPolicy>;

interface Request {
	method: keyof typeof POLICIES;
	/** Path below the Base URL, its ids encoded. */
	path: string;
	/** Parameters that are undefined are not sent. */
	query: IDataObject;
	subject: Subject;
	/**
	 * Takes the body of a success as it comes in, and a 404 is an answer like others; without it the
	 * body is read whole, as JSON, and a 404 is an error.
	 */
	receive?: (body: IncomingBody, answer: Answer) => Promise<unknown>;
}

/**
 * GETs a JSON object.
 *
 * @param path Path below the Base URL; build it with {@link pathOf} where it holds an id.
 * @param query Query parameters; undefined ones are not sent.
 * @returns The parsed body, known to be an object.
 * @throws NodeApiError for every other outcome; see `errors.ts`.
 */
export async function getJson(
	api: Api,
	path: string,
	query: IDataObject,
	subject: Subject,
): Promise<IDataObject> {
	const answer = await request(api, { method: 'GET', path, query, subject });
	return jsonObject(api, subject, answer);
}

/**
 * GETs something that is no JSON and hands its body on as it comes in. A body that breaks off or
 * stands still is a broken connection: the request is repeated, and `receive` called anew.
 *
 * @param receive Takes the body of a success. What it throws ends the request, unless the body
 *   broke.
 * @returns What `receive` returned; undefined when the service says that there is nothing, as
 *   documented: by a 404 with an `error` text in JSON.
 * @throws NodeApiError for every other outcome, any other 404 included.
 */
export async function download<T>(
	api: Api,
	path: string,
	query: IDataObject,
	subject: Subject,
	receive: (body: IncomingBody, answer: Answer) => Promise<T>,
): Promise<T | undefined> {
	const answer = await request(api, { method: 'GET', path, query, subject, receive });
	if (answer.statusCode !== 404) return answer.body as T;
	const { error } = (answer.body as IDataObject | null | undefined) ?? {};
	if (typeof error === 'string' && error.trim() !== '') return undefined;
	throw statusError(api, subject, query, answer);
}

/**
 * DELETEs an entry for good. Repeated only where the first request cannot have been answered.
 *
 * @throws NodeApiError when the entry does not exist, or the answer does not confirm the deletion
 *   in one of the two documented shapes (specification, section 4.4).
 */
export async function deleteEntry(api: Api, noun: 'lifelog' | 'chat', id: string): Promise<void> {
	const subject = { noun, id };
	const doubtful = { ...subject, doubt: `Whether the ${noun} was deleted is not known.` };
	const path = pathOf(`/v1/${noun}s`, id);
	const answer = await request(api, { method: 'DELETE', path, query: {}, subject: doubtful });
	if (answer.statusCode === 404) return;
	const body = jsonObject(api, doubtful, answer);
	const success = body.success ?? (body.data as IDataObject | null | undefined)?.success;
	if (success !== true) {
		const problem =
			success === undefined
				? `it does not say whether the ${noun} was deleted`
				: `it says that the ${noun} was not deleted`;
		throw unusableAnswerError(api, subject, answer, problem);
	}
}

/** A path with ids as single segments: `pathOf('/v1/lifelogs', id)`. */
export function pathOf(collection: string, id: string): string {
	return `${collection}/${encodeURIComponent(id)}`;
}

function jsonObject(api: Api, subject: Subject, answer: Answer): IDataObject {
	const { body } = answer;
	if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as IDataObject;
	const problem = body === '' ? 'it is empty' : 'it is not a JSON object';
	throw unusableAnswerError(api, subject, answer, problem);
}

/** Sends a request until it succeeds or fails for good. */
async function request(api: Api, request: Request): Promise<Answer> {
	const turn = turnIn(api.run.line);
	try {
		return await repeated(api, request, turn);
	} finally {
		turn.end();
	}
}

/** A request, repeated as its {@link RetryPolicy} says, and after each wait for the rate limit. */
async function repeated(api: Api, request: Request, turn: Turn): Promise<Answer> {
	const { method, subject, query, receive } = request;
	const { most, afterFailure, isDoneIfGone } = POLICIES[method];
	const gateKey = `${api.baseUrl} ${api.apiKey}`;
	const { maxWaitMs: allowedMs, goesFirst, signal } = api;
	const waited = goesFirst ? api.run.waited : { ms: 0, until: 0 };
	const patience: GatePatience = { allowedMs, waited, goesFirst, signal };
	const began = performance.now();
	let heldMs = 0;
	let repeats = 0;
	let isRefused = false;

	/** @returns Whether nothing had to be waited for. */
	const passGate = async () => {
		const arrived = performance.now();
		const isInLine = !goesFirst && (isRefused || api.run.line.isTaken || isShut(gateKey));
		try {
			if (isInLine) await turn.take(signal);
			const isOpen = !isShut(gateKey);
			await waitForGate(gateKey, patience);
			return isOpen;
		} catch (error) {
			throw error instanceof WaitTooLong
				? rateLimitError(api, error.waitMs, waited.ms, subject)
				: cancelledError(api.context);
		} finally {
			const gateMs = performance.now() - arrived;
			heldMs += gateMs;
			api.run.waitedMs += gateMs;
		}
	};

	for (;;) {
		const isOpen = await passGate();
		const outcome = await send(api, request);
		isRefused = 'statusCode' in outcome && outcome.statusCode === 429;
		const hasFailed = 'code' in outcome || outcome.statusCode >= 500;
		// One that is to be repeated keeps its turn: behind others it could have to wait once more.
		if (!isRefused && !hasFailed) turn.end(isOpen && !isShut(gateKey));
		const mayRepeat = repeats < Math.min(most, api.retries);

		if ('code' in outcome) {
			const spentMs = performance.now() - began - heldMs;
			if (!mayRepeat || (!receive && spentMs >= patienceMs(api))) {
				throw connectionError(api, subject, outcome.code);
			}
			await backOff(api, ++repeats);
		} else if (outcome.statusCode === 429) {
			const askedMs = retryAfterMs(outcome.body, outcome.headers);
			shutGate(gateKey, askedMs);
			if (!mayWait(askedMs, patience)) {
				throw rateLimitError(api, askedMs, waited.ms, subject, outcome);
			}
		} else if (outcome.statusCode >= 500 && afterFailure && mayRepeat) {
			await backOff(api, ++repeats);
		} else if (outcome.statusCode === 404 && (receive || (isDoneIfGone && repeats > 0))) {
			return outcome;
		} else if (!isSuccess(outcome)) {
			throw statusError(api, subject, query, outcome);
		} else {
			return outcome;
		}
	}
}

/**
 * One request on the wire: the answer, or the code of the connection's error. The answer's body is
 * what `receive` made of it, if the request has one and succeeded.
 */
async function send(
	api: Api,
	{ method, path, query, subject, receive }: Request,
): Promise<Answer | { code: string }> {
	const timeout = timeoutMs(api);
	const ownEnd = new AbortController();
	const latest = receive ? undefined : AbortSignal.timeout(patienceMs(api));
	const ends = [api.signal, ownEnd.signal, latest];
	const signal = AbortSignal.any(ends.filter((end) => end !== undefined));
	const options: IHttpRequestOptions = {
		method,
		url: `${api.baseUrl}${path}`,
		qs: query,
		...(receive ? AS_AUDIO : { json: true }),
		// Read whole by n8n, a body could take all memory.
		encoding: 'stream',
		timeout,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: signal,
	};
	api.run.requests++;
	let body: IncomingBody | undefined;
	try {
		const answer: Answer = await api.context.helpers.httpRequestWithAuthentication.call(
			endedBy(signal, api.context),
			'lifelogApi',
			options,
		);
		noteServiceTime(api, answer);
		body = incomingBody(answer.body as ByteStream, { stallMs: timeout, signal });
		if (!isSuccess(answer)) return { ...answer, body: await readWords(body) };
		if (receive) return { ...answer, body: await receive(body, answer) };
		const read = await readJson(body);
		if (read !== undefined) return { ...answer, body: read.json };
		const problem = `it is more than ${LONGEST_JSON_MIB} MiB`;
		throw unusableAnswerError(api, subject, { ...answer, body: undefined }, problem);
	} catch (error) {
		if (api.signal?.aborted) throw cancelledError(api.context);
		if (body && body.brokenBy === undefined) throw toNodeError(api.context, error);
		if (isBlocked(error)) throw blockedError(api);
		return { code: body?.brokenBy ?? connectionCode(error) };
	} finally {
		body?.close();
		ownEnd.abort();
	}
}

function timeoutMs(api: Api): number {
	return Math.min(api.timeoutMs ?? TIMEOUT_MS, leftMs(api));
}

function leftMs({ endsAt = Infinity }: Api): number {
	return Math.max(1, Math.floor(endsAt - performance.now()));
}

/**
 * How long, in ms, one request for JSON may take, and until when it may be repeated. Without it,
 * headers that come byte by byte would never end, and a body that trickles in would take hours, as
 * the HTTP client's time-out is one of silence.
 */
function patienceMs(api: Api): number {
	return Math.min(2 * timeoutMs(api), leftMs(api));
}

/** The context with another cancel signal: where it has one, n8n ends requests by that alone. */
function endedBy(signal: AbortSignal, context: ApiContext): ApiContext {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as ApiContext;
}

function isSuccess({ statusCode }: Answer): boolean {
	return statusCode >= 200 && statusCode < 300;
}

/**
 * The words in a body that came as a stream, as the body of an {@link Answer} holds them: of a
 * refusal, or of something that was not expected.
 */
export async function readWords(body: IncomingBody): Promise<unknown> {
	const text = (await body.peek(LONGEST_WORDS)).toString();
	return jsonParse<unknown>(text, { fallbackValue: text });
}

/** A body as JSON, or as the text it is if it is none; undefined where it is too long. */
async function readJson(body: IncomingBody): Promise<{ json: unknown } | undefined> {
	const bytes = await body.peek(LONGEST_JSON + 1);
	if (bytes.length > LONGEST_JSON) return undefined;
	const text = bytes.toString().replace(/^\ufeff/, '');
	return { json: jsonParse<unknown>(text, { fallbackValue: text }) };
}

function noteServiceTime({ run }: Api, { headers }: Answer): void {
	const now = Date.parse(String(headers.date));
	if (Number.isNaN(now)) return;
	run.serviceTime = now;
	run.firstServiceTime ??= now;
}

interface Cause {
	name?: unknown;
	code?: unknown;
	cause?: Cause;
}

/** An error and what caused it: n8n wraps the HTTP client's errors. */
function causesOf(error: unknown): Cause[] {
	const causes: Cause[] = [];
	for (let inner = error as Cause | undefined; inner; inner = inner.cause) causes.push(inner);
	return causes;
}

/** The code of the connection's error says what broke. */
function connectionCode(error: unknown): string {
	const codes = causesOf(error).map(({ code }) => code);
	const isText = (code: unknown): code is string => typeof code === 'string' && code !== '';
	return codes.find(isText) ?? 'UNKNOWN';
}

/** Whether it is n8n's own refusal, for the address or for the host name. */
function isBlocked(error: unknown): boolean {
	return causesOf(error).some(({ name }) => String(name).startsWith('SsrfBlocked'));
}

/** Waits before the nth retry: twice as long each time, and up to half as long again at random. */
async function backOff(api: Api, nth: number): Promise<void> {
	const ms = FIRST_RETRY_PAUSE_MS * 2 ** (nth - 1) * (1 + Math.random() / 2);
	try {
		await pause(ms, api.signal);
	} catch {
		throw cancelledError(api.context);
	}
}
