import type { IDataObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { type Fault, isLikeEndOfLimitless, LIMITLESS_END } from '../../../lifelog/limitless.ts';
import type { Api, ApiContext } from '../auth/connection';
import { isLoopback, isPrivate } from '../../../lifelog/addresses.ts';
import { sanitizeForDisplay } from './sanitize';
import { trimmedText } from '../../../lifelog/text.ts';

/** What a request is about, in the words of an error message: `{ noun: 'lifelog', id: 'abc' }`. */
export interface Resource {
	noun: string;
	id?: string;
	/** What isn't known when a request fails: "The chat may or may not have been deleted." */
	doubt?: string;
	/** Whether the request creates or changes it. lifelog-server refuses that without --allow-changes. */
	isChange?: boolean;
}

/** A list by its query, so that errors and hints name the day, the range or the words. */
export function listResource(name: string, query: IDataObject): Resource {
	const { isStarred } = query;
	const { search, date, start, end, timezone } = query as Record<string, string | undefined>;
	const words = [
		isStarred !== undefined && (isStarred ? 'starred' : 'unstarred'),
		name,
		search && `found for "${search}"`,
		date && `on ${date}`,
		start && `from ${start}`,
		end && `to ${end}`,
		(date || start || end) && `in ${timezone}`,
	];
	return { noun: words.filter(Boolean).join(' ') };
}

/** An answer of the service, its body read. */
export interface Answer {
	statusCode: number;
	headers: Record<string, unknown>;
	/** Parsed JSON, or text. */
	body: unknown;
}

export function isSuccess({ statusCode }: Pick<Answer, 'statusCode'>): boolean {
	return statusCode >= 200 && statusCode < 300;
}

type ErrorOptions = NonNullable<ConstructorParameters<typeof NodeApiError>[2]>;
type Failure = ErrorOptions['failure'];

/** In UTF-16 units. */
const MAX_QUOTE_LENGTH = 300;
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_DESCRIPTION_LENGTH = 4_000;

/** The error of a bad parameter: what is wrong, naming the parameter, and what to do. */
export function inputError(
	context: ApiContext,
	message: string,
	description?: string,
): NodeOperationError {
	const text = sanitizeForDisplay('', message, MAX_MESSAGE_LENGTH);
	const error = new NodeOperationError(context.getNode(), text, { description });
	return asWritten(error, text);
}

/** An error with the advice in its message: n8n's agent sees nothing else of a tool that fails. */
export function forModel<T extends NodeApiError | NodeOperationError>(failure: T): T {
	const { message, description } = failure;
	if (!description || message.includes(description)) return failure;
	return asWritten(failure, `${message}${message.endsWith('.') ? '' : '.'} ${description}`);
}

/** Any error as one of n8n's, naming its input item if there is one. */
export function toNodeError(
	context: ApiContext,
	error: unknown,
	itemIndex?: number,
): NodeApiError | NodeOperationError {
	const known = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = known ? error : new NodeOperationError(context.getNode(), error as Error);
	if (itemIndex !== undefined) failure.context.itemIndex = itemIndex;
	return failure;
}

/**
 * What is known of an error beside its message.
 *
 * @returns `code` is the HTTP status of the answer, or the code of the connection's error.
 */
export function detailsOf(error: NodeApiError | NodeOperationError): IDataObject {
	const { connectionCode, retryAfterSeconds } = error.context;
	const code = 'httpCode' in error && error.httpCode ? error.httpCode : connectionCode;
	return {
		...(typeof code === 'string' && { code }),
		...(error.description && { description: error.description }),
		...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
	};
}

/** The same error, which now says what was requested. */
export function withResource<T extends NodeApiError | NodeOperationError>(
	error: T,
	{ noun }: Resource,
): T {
	const description = error.description ?? '';
	if (!`${error.message} ${description}`.includes(noun)) {
		error.description = joinSentences([description, `Requested: ${noun}`]);
	}
	return error;
}

/** The message of an error without its resource, for a place that names it already. */
export function messageWithout({ message }: Error, resource: Resource): string {
	const about = nameOfResource(resource);
	return message.replace(` (${about})`, '').replace(`: ${about}`, '');
}

/** The error of a canceled run. n8n knows it by the word "canceled". */
export function canceledError(context: ApiContext): NodeOperationError {
	return new NodeOperationError(context.getNode(), 'The execution was canceled');
}

/** The error of an unsuccessful answer, except 429 (specification, section 7). */
export function statusError(
	api: Api,
	resource: Resource,
	query: IDataObject,
	answer: Answer,
): NodeApiError {
	const { statusCode } = answer;
	const said = saidBy(api, answer);
	// The editor itself writes the status before the message of a list that can't be filled.
	const status = isEditorList(api) ? '' : ` (${statusCode})`;
	const about = nameOfResource(resource);
	const onEnd = adviceOnEnd(api.baseUrl, faultOf(answer, resource));
	const make = (message: string, advice: string, failure: Failure) =>
		apiError(api, message, [said && `The service says: ${said}`, advice, onEnd], {
			httpCode: String(statusCode),
			failure,
		});

	if (statusCode === 401) {
		return make(
			'The API key was refused',
			`Check the API key in the credential. You create a key for Limitless in the developer settings of its desktop or web app. lifelog-server prints its key at its first start. Requested: ${about}.`,
			{ cause: 'credential-invalid' },
		);
	}
	if (statusCode === 403 && resource.isChange) {
		return make(
			`The service doesn't allow changes (${about})`,
			'Start lifelog-server with --allow-changes, and check that the API key in the credential is its own.',
			{ cause: 'configuration-invalid' },
		);
	}
	if (statusCode === 403) {
		return make(
			resource.id === undefined
				? 'The API key is not allowed to do this'
				: `The API key is not allowed to do this with the ${about}`,
			`Check that the API key in the credential belongs to the account that owns the data. Requested: ${about}.`,
			{ cause: 'credential-invalid' },
		);
	}
	if (statusCode === 404 && resource.id !== undefined) {
		return notFoundError(api, resource, said, onEnd);
	}
	if (statusCode === 404 || statusCode === 410) {
		return make(
			`The service has no endpoint at the address of this request${status}`,
			`${checkBaseUrl(api)} Requested: ${about}.`,
			{ cause: 'configuration-invalid' },
		);
	}
	if (statusCode === 400) {
		const sent = Object.entries(query)
			.filter(([, value]) => value !== undefined)
			.map(([name, value]) => `${name}=${trimmedText(value)}`);
		return apiError(
			api,
			said
				? `The service refused a parameter: ${withoutStop(said)} (${about})`
				: `The service refused a parameter (${about})`,
			[sent.length > 0 && `Sent: ${sent.join(', ')}.`, 'Check the parameters of the node.'],
			{ httpCode: '400', failure: { cause: 'configuration-invalid' } },
		);
	}
	if (statusCode === 407) {
		return make(
			`A proxy between n8n and the service asks for a login${status}`,
			`n8n uses the proxy in HTTP_PROXY or HTTPS_PROXY. Put a user name and a password into its address, or exempt the service with NO_PROXY. Requested: ${about}.`,
			{ cause: 'configuration-invalid' },
		);
	}
	if (statusCode >= 300 && statusCode < 400) {
		return make(
			`The service redirects to another address${status}`,
			`The redirect was not followed, because it would carry the API key there. ${redirectAdvice(api.baseUrl, answer) ?? checkBaseUrl(api)} Requested: ${about}.`,
			{ cause: 'configuration-invalid' },
		);
	}
	return make(
		statusCode >= 500
			? `The service failed${status}: ${about}`
			: `The service refused the request${status}: ${about}`,
		statusCode >= 500
			? `${resource.doubt ?? triedText(api)} Try again later.`.trim()
			: 'Check the parameters of the node.',
		{ cause: 'temporarily-unavailable' },
	);
}

function triedText({ retries }: Api): string {
	return retries > 0 ? `The node tried ${retries + 1} times.` : '';
}

/** The error of an entry that doesn't exist, by a 404 or by null. */
export function notFoundError(
	api: Api,
	{ noun, id }: Resource,
	said?: string,
	advice?: string,
): NodeApiError {
	return apiError(
		api,
		`No ${noun} with the ID "${id}" was found`,
		[
			said && `The service says: ${said}`,
			isLikeTitle(id) && TITLES_ARE_NO_IDS,
			`Check the ID. The ${noun} may have been deleted, or may belong to another account.`,
			advice,
		],
		{ httpCode: '404', failure: { cause: 'configuration-invalid' } },
	);
}

export const TITLES_ARE_NO_IDS =
	"A title isn't an ID. Choose 'From List' to find a title, or use the field id that a list or a search returns.";

/** IDs have digits; titles seldom have. */
function isLikeTitle(id: string | undefined): boolean {
	return id !== undefined && !/\d/.test(id);
}

/**
 * The error of a rate limit that asks for a longer wait than allowed.
 *
 * @param askedMs The wait it asks for, in ms.
 * @param waitedMs The wait the request already had, in ms.
 */
export function rateLimitError(
	api: Api,
	askedMs: number,
	waitedMs: number,
	resource: Resource,
	answer?: Answer,
): NodeApiError {
	const said = answer && saidBy(api, answer);
	const before = Math.round(waitedMs / 1000);
	const after = before > 0 ? ` after one of ${before} s` : '';
	// Polls and the editor's lists don't have the option.
	const isBounded = api.maxWaitMs > 0 && !api.hasPriority;
	const bound = isBounded
		? `, more than the ${inSeconds(api.maxWaitMs)} that a request may wait`
		: '';
	const message = `The rate limit asks for a wait of ${inSeconds(askedMs)}${after}${bound} (${nameOfResource(resource)})`;
	return apiError(
		api,
		message,
		[
			said && `The service says: ${said}`,
			"The service allows 180 requests per minute for each API key, in all workflows together. Try again later, run fewer workflows at a time, or raise the option 'Max Rate Limit Wait' if the operation has it.",
		],
		{ httpCode: '429', failure: { cause: 'rate-limited', retryAfterMs: askedMs } },
		{ retryAfterSeconds: Math.ceil(askedMs / 1000) },
	);
}

/**
 * The error of an answer that can't be used: no JSON, or not the documented shape.
 *
 * @param problem What is wrong with it, as half a sentence.
 */
export function unusableAnswerError(
	api: Api,
	resource: Resource,
	{ statusCode = 200, headers = {}, body }: Partial<Answer>,
	problem: string,
): NodeApiError {
	const answer = { statusCode, headers, body };
	const said = saidBy(api, answer);
	return apiError(
		api,
		`The service returned an unexpected response: ${problem} (${nameOfResource(resource)})`,
		[
			said && `It says: ${said}`,
			resource.doubt,
			`${checkBaseUrl(api)} If it is right, the service may have a problem: try again later.`,
			adviceOnEnd(api.baseUrl, faultOf(answer, resource)),
		],
		{ httpCode: String(statusCode), failure: { cause: 'temporarily-unavailable' } },
	);
}

/** The error of a file to send that n8n can't read. */
export function unreadableFileError(context: ApiContext, error: unknown): NodeOperationError {
	const message = error instanceof Error ? error.message : trimmedText(error);
	return inputError(
		context,
		`The file can't be read from n8n's storage: ${message}`,
		'Run the node that the file comes from again, because n8n deletes the files of old executions.',
	);
}

export function tooLargeError(api: Api, resource: Resource): NodeApiError {
	return apiError(
		api,
		`The service returned an unexpected response: it is more than 64 MiB (${nameOfResource(resource)})`,
		["Request less at a time: a lower 'Limit', a shorter range, or fewer fields."],
		{ httpCode: '200', failure: { cause: 'configuration-invalid' } },
		{ isTooLarge: true },
	);
}

export function isTooLarge(error: unknown): boolean {
	return error instanceof NodeApiError && error.context.isTooLarge === true;
}

/** The error of a request without an answer. @param code Of the connection, e.g. ECONNREFUSED. */
export function connectionError(api: Api, resource: Resource, code: string): NodeApiError {
	const { host } = new URL(api.baseUrl);
	return apiError(
		api,
		`No answer from ${host}: ${connectionProblem(code)} (${nameOfResource(resource)})`,
		[resource.doubt, connectionAdvice(host, code), adviceOnEnd(api.baseUrl, { code })],
		{ failure: { cause: 'temporarily-unavailable' } },
		{ connectionCode: code },
	);
}

export const BLOCKED_ADVICE =
	"n8n's protection against requests into its own network (SSRF) is on, and this address is on this machine, in a private network or on a list of refused hosts. The administrator of n8n can allow it with N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.";

/** The error of a request that n8n itself refused (`N8N_SSRF_PROTECTION_ENABLED`). */
export function blockedError(api: Api): NodeApiError {
	const { host } = new URL(api.baseUrl);
	return apiError(api, `n8n refuses requests to ${host}`, [BLOCKED_ADVICE], {
		failure: { cause: 'configuration-invalid' },
	});
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

export function connectionCode(error: unknown): string {
	const codes = causesOf(error).map(({ code }) => code);
	const isText = (code: unknown): code is string => typeof code === 'string' && code !== '';
	return codes.find(isText) ?? 'UNKNOWN';
}

/** The code of a body that broke. Unpacking has codes of zlib or brotli. */
export function brokenBodyCode(error: unknown): string {
	const code = String((error as Cause).code);
	if (code.startsWith('ERR__ERROR_FORMAT')) return 'Z_DATA_ERROR';
	return code.startsWith('Z_') ? code : 'ERR_BAD_RESPONSE';
}

export function isBlockedByN8n(error: unknown): boolean {
	return causesOf(error).some(({ name }) => String(name).startsWith('SsrfBlocked'));
}

const TOO_SLOW = 'the service took too long';

export function isTooSlow(error: unknown): boolean {
	if (!(error instanceof NodeApiError)) return false;
	return CONNECTION_PROBLEMS[trimmedText(error.context.connectionCode)] === TOO_SLOW;
}

const CONNECTION_PROBLEMS: Record<string, string> = {
	ECONNREFUSED: 'the connection was refused',
	ECONNRESET: 'the connection was interrupted',
	EPIPE: 'the connection was interrupted',
	ERR_BAD_RESPONSE: 'the response was interrupted',
	ECONNABORTED: TOO_SLOW,
	ERR_CANCELED: TOO_SLOW,
	ETIMEDOUT: TOO_SLOW,
	ENOTFOUND: 'there is no host with this name',
	EAI_AGAIN: 'the host name could not be looked up',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	EPROTO: 'there is no https at this address',
};

/** What a failed connection means, as half a sentence. */
export function connectionProblem(code: string): string {
	if (code in CONNECTION_PROBLEMS) return CONNECTION_PROBLEMS[code];
	const name = code.toLowerCase().replaceAll('_', ' ');
	if (/^HPE_/.test(code)) return `the response is not HTTP (${name})`;
	if (/^Z_/.test(code)) return `the response could not be unpacked (${name})`;
	return /CERT|SSL|TLS|SIGNATURE/.test(code)
		? `its certificate is not trusted (${name})`
		: `the connection failed (${name})`;
}

/** What to do about a failed connection. @param host With its port, if it has one. */
export function connectionAdvice(host: string, code: string): string {
	const { hostname, port } = new URL(`http://${host}`);
	if (code === 'EPROTO') {
		if (isLoopback(hostname)) return `Enter http://${host} as the 'Base URL' of the credential.`;
		return isPrivate(hostname)
			? `Enter http://${host} as the 'Base URL' of the credential, and turn on 'Allow HTTP in a Private Network'.`
			: `Check the 'Base URL' in the credential. lifelog-server itself has no https: outside of your network, put a proxy with https before it.`;
	}
	if (code === 'ECONNREFUSED' && isLoopback(hostname)) {
		return `Check that the service runs${port ? ' and listens on this port' : ", and add its port: lifelog-server's is 8787"}. If n8n runs in Docker, ${hostname} is the container itself: enter http://host.docker.internal${port && `:${port}`} as the 'Base URL' of the credential, and turn on 'Allow HTTP in a Private Network'.`;
	}
	return "Check the 'Base URL' in the credential and the network; then try again.";
}

/** What to do if the fault may be the end of Limitless. */
export function adviceOnEnd(baseUrl: string, fault: Fault): string | undefined {
	return isLikeEndOfLimitless(baseUrl, fault)
		? `${LIMITLESS_END} If you archived your lifelogs, set the Base URL to your lifelog-server.`
		: undefined;
}

/** See {@link adviceOnEnd}. */
export function faultOf(answer: Answer, { id }: Pick<Resource, 'id'>): Fault {
	const { statusCode } = answer;
	return { statusCode, isHtml: isHtml(answer), isOfEntry: id !== undefined };
}

/** Names the other host that a redirect leads to; undefined if it stays at the Base URL's. */
export function redirectAdvice(
	baseUrl: string,
	{ headers }: Pick<Answer, 'headers'>,
): string | undefined {
	const location = trimmedText(headers.location);
	if (location === '' || !URL.canParse(location, baseUrl)) return undefined;
	const { origin } = new URL(location, baseUrl);
	if (origin === new URL(baseUrl).origin || !origin.startsWith('http')) return undefined;
	return `It leads from ${baseUrl} to ${origin}: if that is your service, enter it as the 'Base URL' of the credential.`;
}

function checkBaseUrl({ baseUrl }: Api): string {
	return `Check the 'Base URL' in the credential: ${baseUrl}.`;
}

/**
 * An error of the service, the API key redacted.
 *
 * @param description Sentences: what the service says, and what to do.
 * @param context Further fields of the error's `context`.
 */
export function apiError(
	api: Api,
	message: string,
	description: Array<string | false | undefined>,
	options: ErrorOptions,
	context: IDataObject = {},
): NodeApiError {
	const text = sanitizeForDisplay(api.apiKey, message, MAX_MESSAGE_LENGTH);
	const sentences = [...description, isScheduledPoll(api) && NOTHING_LOST];
	const error = new NodeApiError(
		api.context.getNode(),
		{},
		{
			...options,
			message: text,
			description: sanitizeForDisplay(api.apiKey, joinSentences(sentences), MAX_DESCRIPTION_LENGTH),
		},
	);
	Object.assign(error.context, context);
	return asWritten(error, text);
}

const NOTHING_LOST = 'Nothing is lost: the next successful poll reports what this one missed.';

function isScheduledPoll({ context }: Api): boolean {
	return 'getActivationMode' in context && context.getMode?.() !== 'manual';
}

function isEditorList({ context }: Api): boolean {
	return 'getCurrentNodeParameter' in context;
}

/** `lifelog "abc"`, or only the noun. */
export function nameOfResource({ noun, id }: Resource): string {
	return id === undefined ? noun : `${noun} "${id}"`;
}

function joinSentences(sentences: Array<string | false | undefined>): string {
	return sentences
		.filter((sentence) => typeof sentence === 'string' && sentence !== '')
		.map((sentence) => (/[.!?…]$/.test(String(sentence)) ? sentence : `${sentence}.`))
		.join(' ');
}

function withoutStop(text: string): string {
	return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** n8n replaces messages in which it finds the name of a system error: EEXIST in "preexisting". */
function asWritten<T extends NodeApiError | NodeOperationError>(error: T, message: string): T {
	error.message = message;
	error.messages = [];
	return error;
}

/** The service's own words in an answer, without the query of an address. */
function saidBy(api: Api, answer: Answer): string | undefined {
	const words = messageIn(answer);
	if (typeof words !== 'string') return undefined;
	const quote = sanitizeForDisplay(api.apiKey, words, MAX_QUOTE_LENGTH);
	return quote.replace(/\?[^\s=?]+=\S*/g, '') || undefined;
}

/**
 * The `error` or `message` of a JSON object, the title of a page, or a text. Of a success only the
 * first, because the rest may be private; nothing of interrupted JSON or of bytes.
 */
function messageIn(answer: Answer): unknown {
	const { body } = answer;
	if (typeof body === 'object' && body !== null) {
		const { error, message } = body as { error?: unknown; message?: unknown };
		return (error as { message?: unknown } | null)?.message ?? error ?? message;
	}
	const text = String(body);
	if (isHtml(answer)) {
		const title = isSuccess(answer) ? '' : pageTitle(text);
		return title ? `a page titled "${title}"` : 'a page of HTML';
	}
	return isSuccess(answer) || /^\s*[{[]|^OggS|\0/.test(text.slice(0, MAX_QUOTE_LENGTH))
		? undefined
		: text;
}

/** The title of a page; empty if its end was not read, because half a key can't be redacted. */
function pageTitle(html: string): string {
	const tag = html.search(/<title[\s>]/i);
	const start = tag < 0 ? -1 : html.indexOf('>', tag);
	const end = start < 0 ? -1 : html.indexOf('<', start);
	return html.slice(start + 1, Math.max(end, start + 1)).trim();
}

function isHtml({ body, headers }: Answer): boolean {
	return (
		/html/i.test(String(headers['content-type'])) || /^\s*<(!doctype|html)/i.test(String(body))
	);
}

function inSeconds(ms: number): string {
	return `${Math.ceil(ms / 1000)} s`;
}
