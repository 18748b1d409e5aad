import type { IDataObject, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';

import type { Api } from './api';
import type { Answer, Subject } from './errors';
import {
	cancelledError,
	connectionError,
	rateLimitError,
	statusError,
	unusableAnswerError,
} from './errors';
import { pause, retryAfterMs, shutGate, waitForGate, WaitTooLong } from './rate-limit';

/** How long, in ms, a connection may stand still before it counts as broken. */
const TIMEOUT_MS = 60_000;
const FIRST_RETRY_PAUSE_MS = 500;

interface Request {
	method: IHttpRequestMethods;
	/** Path below the Base URL, its ids encoded. */
	path: string;
	/** Parameters that are undefined are not sent. */
	query: IDataObject;
	subject: Subject;
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
 * DELETEs an entry for good. Repeated only where the first request cannot have been answered:
 * once after a broken connection (a 404 then means that the first one took effect), and after
 * a 429.
 *
 * @throws NodeApiError when the entry does not exist, or the answer does not confirm the deletion
 *   in one of the two documented shapes (specification, section 4.4).
 */
export async function deleteEntry(api: Api, path: string, subject: Subject): Promise<void> {
	const answer = await request(api, { method: 'DELETE', path, query: {}, subject });
	if (answer.statusCode === 404) return;
	const body = jsonObject(api, subject, answer);
	const success = body.success ?? (body.data as IDataObject | null | undefined)?.success;
	if (success !== true) {
		const problem =
			success === undefined
				? `it does not say whether the ${subject.noun} was deleted`
				: `it says that the ${subject.noun} was not deleted`;
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

/** Sends a request until it succeeds or fails for good: rules for 429, 5xx and broken connections. */
async function request(api: Api, request: Request): Promise<Answer> {
	const { method, subject, query } = request;
	const isDelete = method === 'DELETE';
	const gateKey = `${api.baseUrl} ${api.apiKey}`;
	let waitedMs = 0;
	let broken = 0;
	let failed = 0;

	const passGate = async () => {
		try {
			const gateMs = await waitForGate(gateKey, api.maxWaitMs - waitedMs, api.signal);
			waitedMs += gateMs;
			api.run.waitedMs += gateMs;
		} catch (error) {
			throw error instanceof WaitTooLong
				? rateLimitError(api, error.waitMs, waitedMs)
				: cancelledError(api.context);
		}
	};

	for (;;) {
		await passGate();
		const outcome = await send(api, request);

		if ('code' in outcome) {
			const mayRepeat = isDelete
				? broken < Math.min(1, api.retries)
				: broken + failed < api.retries;
			if (!mayRepeat) {
				const note = isDelete ? `Whether the ${subject.noun} was deleted is not known.` : undefined;
				throw connectionError(api, outcome.code, note);
			}
			broken++;
			await backOff(api, broken + failed);
		} else if (outcome.statusCode === 429) {
			const askedMs = retryAfterMs(outcome.body, outcome.headers);
			shutGate(gateKey, askedMs);
			if (waitedMs + askedMs > api.maxWaitMs) {
				throw rateLimitError(api, askedMs, waitedMs, outcome);
			}
		} else if (outcome.statusCode >= 500 && !isDelete && broken + failed < api.retries) {
			failed++;
			await backOff(api, broken + failed);
		} else if (outcome.statusCode === 404 && isDelete && broken > 0) {
			return outcome;
		} else if (outcome.statusCode < 200 || outcome.statusCode >= 300) {
			throw statusError(api, subject, query, outcome);
		} else {
			return outcome;
		}
	}
}

/** One request on the wire: the answer, or the code of the connection's error. */
async function send(
	api: Api,
	{ method, path, query }: Request,
): Promise<Answer | { code: string }> {
	const options: IHttpRequestOptions = {
		method,
		url: `${api.baseUrl}${path}`,
		qs: query,
		json: true,
		timeout: TIMEOUT_MS,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		abortSignal: api.signal,
	};
	api.run.requests++;
	try {
		return await api.context.helpers.httpRequestWithAuthentication.call(
			api.context,
			'lifelogApi',
			options,
		);
	} catch (error) {
		if (api.signal?.aborted) throw cancelledError(api.context);
		return { code: connectionCode(error) };
	}
}

/** n8n wraps the HTTP client's error; its code says what broke. */
function connectionCode(error: unknown): string {
	for (let inner = error as { code?: unknown; cause?: unknown } | undefined; inner;) {
		if (typeof inner.code === 'string' && inner.code !== '') return inner.code;
		inner = inner.cause as typeof inner;
	}
	return 'UNKNOWN';
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
