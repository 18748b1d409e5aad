import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import type { Api, ApiContext } from './connection';
import { type ByteStream, type IncomingBody, incomingBody } from './body';
import { pause } from './concurrency';
import type { Answer, Resource } from '../errors/errors';
import {
	blockedError,
	canceledError,
	connectionCode,
	connectionError,
	isBlockedByN8n,
	rateLimitError,
	statusError,
	tooLargeError,
	toNodeError,
	unreadableFileError,
	unusableAnswerError,
} from '../errors/errors';
import { isObject } from '../util/ids';
import { rateLimiterFor, Ticket, WaitTooLong } from './rateLimiter';
import { retryAfterMs } from './retryAfter';
import { outgoingBody, type Upload } from './upload';

/** The `timeoutMs` of an {@link Api} that names none. */
const TIMEOUT_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
/** Bytes read of an unexpected body. */
const MAX_ERROR_BYTES = 65_536;
/** Bytes of unpacked JSON: a few packed kB can become gigabytes. */
const MAX_JSON = 64 * 1024 * 1024;
/** Compressed, a body wouldn't have its declared length; cached, it may be old. */
const AS_AUDIO: Partial<IHttpRequestOptions> = {
	headers: {
		accept: 'audio/*, */*;q=0.5',
		'accept-encoding': 'identity',
		'cache-control': 'no-cache',
	},
};

/**
 * A delete is retried only once, if its connection broke; a 404 then means that it is done.
 * lifelog-server creates nothing twice.
 */
const POLICIES = {
	GET: { maxRetries: Infinity, afterServerFailure: true },
	POST: { maxRetries: Infinity, afterServerFailure: true },
	PATCH: { maxRetries: Infinity, afterServerFailure: true },
	DELETE: { maxRetries: 1, afterServerFailure: false },
};
const ONCE = { maxRetries: 0, afterServerFailure: false };

interface Request {
	method: keyof typeof POLICIES;
	/** Path below the Base URL, its IDs encoded. */
	path: string;
	query: IDataObject;
	body?: IDataObject;
	/** Sent in place of JSON, however long that takes. */
	upload?: Upload;
	/** Never retried, because a second time would change something else. */
	once?: boolean;
	resource: Resource;
	/** Takes the body of a success as it arrives, and a 404 is no error. Without it JSON is read. */
	receive?: (body: IncomingBody, answer: Answer) => Promise<unknown>;
}

type Outcome = Answer | { code: string };

/**
 * GETs a JSON object.
 *
 * @param path Path below the Base URL; build it with {@link pathOf} if it holds an ID.
 * @param query Query parameters; undefined ones are not sent.
 * @throws NodeApiError for every other outcome; see `errors.ts`.
 */
export async function getJson(
	api: Api,
	path: string,
	query: IDataObject,
	resource: Resource,
): Promise<IDataObject> {
	const answer = await request(api, { method: 'GET', path, query, resource });
	return jsonObject(api, resource, answer);
}

/**
 * Sends a JSON object or a file, as often as a read is repeated unless `once` is set: the service
 * must know the same file again.
 *
 * @returns The JSON object of the answer.
 * @throws NodeApiError as {@link getJson}; NodeOperationError if the file can't be read.
 */
export async function sendData(
	api: Api,
	sent: Omit<Request, 'query' | 'receive'> & { method: 'POST' | 'PATCH' },
): Promise<IDataObject> {
	const answer = await request(api, { ...sent, query: {} });
	return jsonObject(api, sent.resource, answer);
}

/**
 * GETs something that isn't JSON. If its body is interrupted or stalls, the request is retried, and
 * `receive` called again.
 *
 * @param receive Takes the body of a success. What it throws ends the request.
 * @returns What `receive` returned; undefined if there is nothing, which the service says by a 404
 *   with an `error` text in JSON (specification, section 4.5).
 * @throws NodeApiError for every other outcome, any other 404 included.
 */
export async function download<T>(
	api: Api,
	path: string,
	query: IDataObject,
	resource: Resource,
	receive: (body: IncomingBody, answer: Answer) => Promise<T>,
): Promise<T | undefined> {
	const answer = await request(api, { method: 'GET', path, query, resource, receive });
	if (answer.statusCode !== 404) return answer.body as T;
	const { error } = (answer.body as IDataObject | null | undefined) ?? {};
	if (typeof error === 'string' && error.trim() !== '') return undefined;
	throw statusError(api, resource, query, answer);
}

/**
 * Deletes an entry permanently.
 *
 * @throws NodeApiError if it doesn't exist, or the answer doesn't confirm the deletion in one of the
 *   two documented shapes (specification, section 4.4).
 */
export async function deleteEntry(api: Api, noun: 'lifelog' | 'chat', id: string): Promise<void> {
	const resource = { noun, id };
	const doubtful = { ...resource, doubt: `The ${noun} may or may not have been deleted.` };
	const path = pathOf(`/v1/${noun}s`, id);
	const answer = await request(api, { method: 'DELETE', path, query: {}, resource: doubtful });
	if (answer.statusCode === 404) return;
	const body = jsonObject(api, doubtful, answer);
	const success = body.success ?? (body.data as IDataObject | null | undefined)?.success;
	if (success === true) return;
	const problem =
		success === undefined
			? `it does not say whether the ${noun} was deleted`
			: `it says that the ${noun} was not deleted`;
	throw unusableAnswerError(api, resource, answer, problem);
}

/** A path with an ID as a single segment: `pathOf('/v1/lifelogs', id)`. */
export function pathOf(collection: string, id: string): string {
	return `${collection}/${encodeURIComponent(id)}`;
}

function jsonObject(api: Api, resource: Resource, answer: Answer): IDataObject {
	const { body } = answer;
	if (isObject(body)) return body as IDataObject;
	const problem = body === '' ? 'it is empty' : 'it is not a JSON object';
	throw unusableAnswerError(api, resource, answer, problem);
}

/** Sends a request until it succeeds or fails for good. */
async function request(api: Api, request: Request): Promise<Answer> {
	const { resource, query, method, receive, upload, once } = request;
	// The HTTP client's time-out is one of silence: headers that come byte by byte would never end.
	const time = { leftMs: receive || upload ? Infinity : 2 * timeoutMs(api) };
	const limiter = () => rateLimiterFor(`${api.baseUrl} ${api.apiKey}`);
	const ticket = new Ticket(api);
	const attempt = async (heldMs: number, hasPassed: () => void) => {
		api.run.waitedMs += heldMs;
		const { leftMs } = time;
		const outcome = await send(api, request, time, hasPassed);
		// Refusals of a slow service don't count: the limiter bounds them.
		if (askedWaitMs(outcome) !== undefined) time.leftMs = leftMs;
		return outcome;
	};
	try {
		const { outcome, retries } = await withRetry(
			api,
			once ? ONCE : POLICIES[method],
			async () => await limiter().run(ticket, attempt, askedWaitMs),
			() => time.leftMs > 0,
		);
		if ('code' in outcome) throw connectionError(api, resource, outcome.code);
		// A proxy also says 404, in HTML or as text, while the service is down.
		const isDeleted = method === 'DELETE' && retries > 0 && isObject(outcome.body);
		const isDone = outcome.statusCode === 404 && (receive || isDeleted);
		if (isDone || isSuccess(outcome)) return outcome;
		throw statusError(api, resource, query, outcome);
	} catch (error) {
		if (api.signal?.aborted) throw canceledError(api.context);
		if (!(error instanceof WaitTooLong)) throw toNodeError(api.context, error);
		const { ms, waitedMs, refusal } = error.wait;
		throw rateLimitError(api, ms, waitedMs, resource, refusal as Answer | undefined);
	}
}

function askedWaitMs(outcome: Outcome): number | undefined {
	if ('code' in outcome || outcome.statusCode !== 429) return undefined;
	return retryAfterMs(outcome.body, outcome.headers);
}

async function withRetry(
	{ retries: allowed, signal }: Api,
	{ maxRetries, afterServerFailure }: (typeof POLICIES)[Request['method']],
	attempt: () => Promise<Outcome>,
	hasTime: () => boolean,
): Promise<{ outcome: Outcome; retries: number }> {
	for (let retries = 0; ; retries++) {
		const outcome = await attempt();
		const mayPass = 'code' in outcome || (afterServerFailure && outcome.statusCode >= 500);
		const mayRetry = mayPass && retries < Math.min(maxRetries, allowed) && hasTime();
		if (!mayRetry) return { outcome, retries };
		const backoffMs = FIRST_BACKOFF_MS * 2 ** retries * (1 + Math.random() / 2);
		await pause(backoffMs, signal);
	}
}

/** One request on the wire. */
async function send(
	api: Api,
	request: Request,
	time: { leftMs: number },
	hasPassed: () => void,
): Promise<Outcome> {
	const { upload, receive } = request;
	const file = await upload?.open().catch((error: Error) => {
		throw unreadableFileError(api.context, error);
	});
	const sentAt = performance.now();
	const timeout = timeoutMs(api);
	const outgoing = file && outgoingBody(file, upload!, timeout);
	const ownEnd = new AbortController();
	const leftMs = Math.max(1, Math.ceil(Math.min(time.leftMs, timeLeftMs(api))));
	const latest = receive ? undefined : (outgoing?.stalled ?? AbortSignal.timeout(leftMs));
	const ends = [api.signal, ownEnd.signal, latest];
	const signal = AbortSignal.any(ends.filter((end) => end !== undefined));
	api.run.requests++;
	let body: IncomingBody | undefined;
	try {
		const answer: Answer = await api.context.helpers.httpRequestWithAuthentication.call(
			withCancelSignal(api.context, signal),
			'lifelogApi',
			optionsOf(api, request, { outgoing: outgoing?.content, timeout, signal }),
		);
		if (answer.statusCode !== 429) hasPassed();
		noteServiceTime(api, answer);
		body = incomingBody(answer.body as ByteStream, timeout, signal);
		return { ...answer, body: await readBody(api, request, answer, body) };
	} catch (error) {
		if (api.signal?.aborted) throw canceledError(api.context);
		if (outgoing?.brokenBy) throw unreadableFileError(api.context, outgoing.brokenBy);
		if (body && body.brokenBy === undefined) throw toNodeError(api.context, error);
		if (isBlockedByN8n(error)) throw blockedError(api);
		return { code: body?.brokenBy ?? connectionCode(error) };
	} finally {
		body?.close();
		outgoing?.close();
		// What stalled isn't sent as a whole again.
		if (outgoing?.stalled.aborted) time.leftMs = 0;
		// Without a reason it is slow: an error would be created.
		ownEnd.abort('done');
		time.leftMs -= performance.now() - sentAt;
	}
}

function optionsOf(
	{ baseUrl }: Api,
	{ method, path, query, body, upload, receive }: Request,
	own: { outgoing?: Buffer | ByteStream; timeout: number; signal: AbortSignal },
): IHttpRequestOptions {
	return {
		method,
		url: `${baseUrl}${path}`,
		qs: query,
		...(body && { body }),
		...(receive ? AS_AUDIO : { json: true }),
		...(own.outgoing && { body: own.outgoing, headers: upload!.headers }),
		// Read whole by n8n, a body could take all memory.
		encoding: 'stream',
		// n8n's client counts it from the start to the answer.
		timeout: own.outgoing ? 0 : own.timeout,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: own.signal,
	};
}

async function readBody(
	api: Api,
	{ resource, receive }: Request,
	answer: Answer,
	body: IncomingBody,
): Promise<unknown> {
	if (!isSuccess(answer)) return await readWords(body);
	if (receive) return await receive(body, answer);
	const bytes = await body.peek(MAX_JSON + 1);
	if (bytes.length > MAX_JSON) throw tooLargeError(api, resource);
	return parsed(bytes.toString().replace(/^\ufeff/, ''));
}

function timeoutMs(api: Api): number {
	return Math.min(api.timeoutMs ?? TIMEOUT_MS, timeLeftMs(api));
}

function timeLeftMs({ endsAt = Infinity }: Api): number {
	return Math.max(1, Math.floor(endsAt - performance.now()));
}

/** n8n ends requests only by the cancel signal of a context that has one. */
function withCancelSignal(context: ApiContext, signal: AbortSignal): ApiContext {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as ApiContext;
}

function isSuccess({ statusCode }: Answer): boolean {
	return statusCode >= 200 && statusCode < 300;
}

/** The beginning of an unexpected body, as {@link Answer} has it. */
export async function readWords(body: IncomingBody): Promise<unknown> {
	return parsed((await body.peek(MAX_ERROR_BYTES)).toString());
}

/** JSON, or the text itself. */
function parsed(text: string): unknown {
	return jsonParse<unknown>(text, { fallbackValue: text });
}

function noteServiceTime({ run }: Api, { headers }: Answer): void {
	const now = Date.parse(String(headers.date));
	if (Number.isNaN(now)) return;
	run.serviceTime = now;
	run.serviceTimeAt = performance.now();
}
