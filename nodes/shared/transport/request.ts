import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import type { Api, ApiContext } from './connection';
import { type ByteStream, type IncomingBody, incomingBody } from './body';
import { pause } from './concurrency';
import type { Answer, Resource } from '../errors/errors';
import {
	blockedError,
	cancelledError,
	connectionCode,
	connectionError,
	isBlockedByN8n,
	rateLimitError,
	statusError,
	tooLargeError,
	toNodeError,
	unusableAnswerError,
} from '../errors/errors';
import { rateLimiterFor, WaitTooLong } from './rateLimiter';
import { retryAfterMs } from './retryAfter';

/** The `timeoutMs` of an {@link Api} that names none. */
const TIMEOUT_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
/** What is read, in bytes, of a body that isn't what was asked for. */
const MAX_ERROR_BYTES = 65_536;
/** What is read of JSON, once unpacked: what came packed in a few kB can be gigabytes. */
const MAX_JSON = 64 * 1024 * 1024;
/** Compressed, a body would not have the length that its answer declares; cached, it may be old. */
const AS_AUDIO: Partial<IHttpRequestOptions> = {
	headers: {
		accept: 'audio/*, */*;q=0.5',
		'accept-encoding': 'identity',
		'cache-control': 'no-cache',
	},
};

/** A delete is repeated only if its connection broke, once; a 404 then means that it is done. */
const POLICIES = {
	GET: { maxRetries: Infinity, afterServerFailure: true },
	DELETE: { maxRetries: 1, afterServerFailure: false },
};

interface Request {
	method: keyof typeof POLICIES;
	/** Path below the Base URL, its IDs encoded. */
	path: string;
	/** Parameters that are undefined are not sent. */
	query: IDataObject;
	resource: Resource;
	/**
	 * Takes the body of a success as it arrives, and a 404 is an answer like others. Without it the
	 * body is read whole, as JSON, and a 404 is an error.
	 */
	receive?: (body: IncomingBody, answer: Answer) => Promise<unknown>;
}

/** An answer, its body as `receive` made it; or the code of the connection's error. */
type Outcome = Answer | { code: string };

/**
 * GETs a JSON object.
 *
 * @param path Path below the Base URL; build it with {@link pathOf} if it holds an ID.
 * @param query Query parameters; undefined ones are not sent.
 * @returns The parsed body, known to be an object.
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
 * GETs something that isn't JSON and hands its body on as it arrives. A body that breaks off or
 * stalls is a broken connection: the request is repeated, and `receive` called anew.
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
 * DELETEs an entry for good.
 *
 * @throws NodeApiError when the entry does not exist, or the answer does not confirm the deletion
 *   in one of the two documented shapes (specification, section 4.4).
 */
export async function deleteEntry(api: Api, noun: 'lifelog' | 'chat', id: string): Promise<void> {
	const resource = { noun, id };
	const doubtful = { ...resource, doubt: `Whether the ${noun} was deleted is not known.` };
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
	if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as IDataObject;
	const problem = body === '' ? 'it is empty' : 'it is not a JSON object';
	throw unusableAnswerError(api, resource, answer, problem);
}

/** Sends a request until it succeeds or fails for good. */
async function request(api: Api, request: Request): Promise<Answer> {
	const { resource, query, method, receive } = request;
	// Time in all for JSON. Otherwise headers that come byte by byte would never end: the HTTP
	// client's time-out is one of silence.
	const time = { leftMs: receive ? Infinity : 2 * timeoutMs(api) };
	const limiter = () => rateLimiterFor(`${api.baseUrl} ${api.apiKey}`);
	const attempt = async (heldMs: number, hasPassed: () => void) => {
		api.run.waitedMs += heldMs;
		const { leftMs } = time;
		const outcome = await send(api, request, time, hasPassed);
		// Being refused often by a slow service doesn't count: the limiter bounds it.
		if (askedWaitMs(outcome) !== undefined) time.leftMs = leftMs;
		return outcome;
	};
	try {
		const { outcome, retries } = await withRetry(
			api,
			POLICIES[method],
			async () => await limiter().run(api, attempt, askedWaitMs),
			() => time.leftMs > 0,
		);
		if ('code' in outcome) throw connectionError(api, resource, outcome.code);
		const isDone = outcome.statusCode === 404 && (receive || (method === 'DELETE' && retries > 0));
		if (isDone || isSuccess(outcome)) return outcome;
		throw statusError(api, resource, query, outcome);
	} catch (error) {
		if (api.signal?.aborted) throw cancelledError(api.context);
		if (!(error instanceof WaitTooLong)) throw toNodeError(api.context, error);
		const { ms, waitedMs, refusal } = error.wait;
		throw rateLimitError(api, ms, waitedMs, resource, refusal as Answer | undefined);
	}
}

function askedWaitMs(outcome: Outcome): number | undefined {
	if ('code' in outcome || outcome.statusCode !== 429) return undefined;
	return retryAfterMs(outcome.body, outcome.headers);
}

/** Makes attempts until one succeeds, or fails in a way that a further one would not change. */
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
		// Twice as long each time, and up to half as long again at random.
		const backoffMs = FIRST_BACKOFF_MS * 2 ** retries * (1 + Math.random() / 2);
		await pause(backoffMs, signal);
	}
}

/** One request on the wire. */
async function send(
	api: Api,
	{ method, path, query, resource, receive }: Request,
	time: { leftMs: number },
	hasPassed: () => void,
): Promise<Outcome> {
	const sentAt = performance.now();
	const timeout = timeoutMs(api);
	const ownEnd = new AbortController();
	const leftMs = Math.max(1, Math.ceil(Math.min(time.leftMs, timeLeftMs(api))));
	const latest = receive ? undefined : AbortSignal.timeout(leftMs);
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
			withCancelSignal(api.context, signal),
			'lifelogApi',
			options,
		);
		if (answer.statusCode !== 429) hasPassed();
		noteServiceTime(api, answer);
		body = incomingBody(answer.body as ByteStream, timeout, signal);
		if (!isSuccess(answer)) return { ...answer, body: await readWords(body) };
		if (receive) return { ...answer, body: await receive(body, answer) };
		const bytes = await body.peek(MAX_JSON + 1);
		if (bytes.length > MAX_JSON) throw tooLargeError(api, resource);
		return { ...answer, body: parsed(bytes.toString().replace(/^\ufeff/, '')) };
	} catch (error) {
		if (api.signal?.aborted) throw cancelledError(api.context);
		if (body && body.brokenBy === undefined) throw toNodeError(api.context, error);
		if (isBlockedByN8n(error)) throw blockedError(api);
		return { code: body?.brokenBy ?? connectionCode(error) };
	} finally {
		body?.close();
		// With a reason, because making one up costs more than all else here.
		ownEnd.abort('done');
		time.leftMs -= performance.now() - sentAt;
	}
}

function timeoutMs(api: Api): number {
	return Math.min(api.timeoutMs ?? TIMEOUT_MS, timeLeftMs(api));
}

function timeLeftMs({ endsAt = Infinity }: Api): number {
	return Math.max(1, Math.floor(endsAt - performance.now()));
}

/** If a context has a cancel signal, n8n ends requests by that one only. */
function withCancelSignal(context: ApiContext, signal: AbortSignal): ApiContext {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as ApiContext;
}

function isSuccess({ statusCode }: Answer): boolean {
	return statusCode >= 200 && statusCode < 300;
}

/** The first words of a body that isn't what was asked for, as an {@link Answer} has them. */
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
	run.firstServiceTime ??= now;
}
