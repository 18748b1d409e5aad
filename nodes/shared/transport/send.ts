import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import { blockedError, connectionCode, isBlockedByN8n } from '../errors/connection';
import {
	canceledError,
	type Resource,
	toNodeError,
	unreadableFileError,
} from '../errors/nodeErrors';
import { type Answer, isSuccess } from '../errors/said';
import { tooLargeError } from '../errors/status';
import { type ByteStream, type IncomingBody, incomingBody } from './body';
import type { Api, ApiContext } from '../auth/connection';
import { outgoingBody, type Upload } from './upload';

/** The `timeoutMs` of an {@link Api} that names none. */
const TIMEOUT_MS = 60_000;
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

export interface Request {
	method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
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

export type SendResult = Answer | { code: string };

/** One request on the wire. */
export async function send(
	api: Api,
	request: Request,
	time: { leftMs: number },
	onPassed: () => void,
): Promise<SendResult> {
	const { upload, receive } = request;
	const file = await upload?.open().catch((error: unknown) => {
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
			requestOptionsOf(api, request, { outgoing: outgoing?.content, timeout, signal }),
		);
		if (answer.statusCode !== 429) onPassed();
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
		// An upload that stalled isn't retried.
		if (outgoing?.stalled.aborted) time.leftMs = 0;
		// Without a reason it is slow: an error would be created.
		ownEnd.abort('done');
		time.leftMs -= performance.now() - sentAt;
	}
}

function requestOptionsOf(
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

export function timeoutMs(api: Api): number {
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
