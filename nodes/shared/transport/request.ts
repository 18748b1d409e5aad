import type { IDataObject } from 'n8n-workflow';

import { connectionError } from '../errors/connection';
import { canceledError, type Resource, toNodeError } from '../errors/nodeErrors';
import { type Answer, isSuccess } from '../errors/said';
import { rateLimitError, statusError, unusableAnswerError } from '../errors/status';
import { isObject } from '../../../lifelog/names.ts';
import type { IncomingBody } from './body';
import { pause } from './concurrency';
import type { Api } from '../auth/connection';
import { rateLimiterFor, Ticket, WaitTooLong } from './rateLimiter';
import { retryAfterMs } from '../../../lifelog/retryAfter.ts';
import { type SendResult, type Request, send, timeoutMs } from './send';

const FIRST_BACKOFF_MS = 500;
/** lifelog-server creates nothing twice. */
const RETRIED = { maxRetries: Infinity, mayPass: () => true };
/** A delete is retried only once, if its connection broke. A 404 then means that it is done. */
const DELETED = { maxRetries: 1, mayPass: wasSent };
const ONCE = { ...RETRIED, maxRetries: 0 };
/** Codes of a connection over which nothing was sent. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * GETs a JSON object.
 *
 * @param path Path below the Base URL; build it with {@link pathOf} if it holds an ID.
 * @param query Query parameters; undefined ones are not sent.
 * @throws NodeApiError for every other outcome; see `errors/`.
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
 * Sends a JSON object or a file. It is retried like a read unless `once` is set, because the service
 * recognizes the same file.
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
export async function deleteEntry(
	api: Api,
	noun: 'lifelog' | 'chat' | 'webhook',
	id: string,
): Promise<void> {
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
	const { resource, query, method, receive, upload } = request;
	// The HTTP client's time-out is one of silence: headers that come byte by byte would never end.
	const time = { leftMs: receive || upload ? Infinity : 2 * timeoutMs(api) };
	const limiter = () => rateLimiterFor(`${api.baseUrl} ${api.apiKey}`);
	const ticket = new Ticket(api);
	const attempt = async (heldMs: number, onPassed: () => void) => {
		api.run.waitedMs += heldMs;
		const { leftMs } = time;
		const outcome = await send(api, request, time, onPassed);
		// Refusals of a slow service don't count: the limiter bounds them.
		if (askedWaitMs(outcome) !== undefined) time.leftMs = leftMs;
		return outcome;
	};
	try {
		const { outcome, retries } = await withRetry(
			api,
			retryRuleOf(request),
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

function askedWaitMs(outcome: SendResult): number | undefined {
	if ('code' in outcome || outcome.statusCode !== 429) return undefined;
	return retryAfterMs(outcome.body, outcome.headers);
}

async function withRetry(
	{ retries: allowed, signal }: Api,
	{ maxRetries, mayPass }: typeof DELETED,
	attempt: () => Promise<SendResult>,
	hasTime: () => boolean,
): Promise<{ outcome: SendResult; retries: number }> {
	for (let retries = 0; ; retries++) {
		const outcome = await attempt();
		const hasFailed = 'code' in outcome || outcome.statusCode >= 500;
		const isLast = retries >= Math.min(maxRetries, allowed) || !hasTime();
		const mayRetry = hasFailed && mayPass(outcome) && !isLast;
		if (!mayRetry) return { outcome, retries };
		const backoffMs = FIRST_BACKOFF_MS * 2 ** retries * (1 + Math.random() / 2);
		await pause(backoffMs, signal);
	}
}

function retryRuleOf({ once, method }: Request): typeof DELETED {
	if (once) return ONCE;
	return method === 'DELETE' ? DELETED : RETRIED;
}

/** Whether a request without an answer may have reached the service. */
function wasSent(outcome: SendResult): boolean {
	return 'code' in outcome && !NEVER_SENT.includes(outcome.code);
}
