// Answers that can't be used: by their status, or by what is in them.
import type { IDataObject, NodeApiError } from 'n8n-workflow';

import { trimmedText } from '../../../lifelog/text.ts';
import type { Api } from '../auth/connection';
import { adviceOnEnd, redirectAdvice } from './connection';
import {
	afterColon,
	apiError,
	type Failure,
	inBrackets,
	nameOfResource,
	type Resource,
} from './nodeErrors';
import { type Answer, faultOf, saidBy } from './said';

/** An unsuccessful answer, and what was requested. */
interface Refusal {
	api: Api;
	resource: Resource;
	query: IDataObject;
	answer: Answer;
	/** The service's own words. */
	said?: string;
	/** `lifelog "abc"` */
	about: string;
	/** ` (503)`. The editor itself writes the status before the message of a list that can't be filled. */
	status: string;
}

interface Meaning {
	/** Such as 404, or 5xx; without, all others. */
	statuses?: string[];
	/** If only some requests with such a status mean this. */
	isFor?: (resource: Resource) => boolean;
	message: (refusal: Refusal) => string;
	/** How the message ends; without it, the advice names what was requested. */
	end?: typeof inBrackets;
	advice: (refusal: Refusal) => string;
	/** Whether the message has the service's words, so that the description needs no quote. */
	isQuoted?: boolean;
	cause: Failure['cause'];
}

const hasId = ({ id }: Resource) => id !== undefined;

/** What an unsuccessful answer means; the first that fits (specification, section 7). */
const MEANINGS: Meaning[] = [
	{
		statuses: ['401'],
		message: () => 'The API key was refused',
		advice: ({ about }) =>
			`Check the API key in the credential. You create a key for Limitless in the developer settings of its desktop or web app. For lifelog-server, make a key on its page, under Connect. Requested: ${about}.`,
		cause: 'credential-invalid',
	},
	{
		statuses: ['403'],
		isFor: ({ isChange }) => isChange === true,
		message: () => "The service doesn't allow changes",
		end: inBrackets,
		advice: () =>
			'Start lifelog-server with --allow-changes, and check that the API key in the credential is its own.',
		cause: 'configuration-invalid',
	},
	{
		statuses: ['403'],
		message: ({ about, resource }) =>
			hasId(resource)
				? `The API key is not allowed to do this with the ${about}`
				: 'The API key is not allowed to do this',
		advice: ({ about }) =>
			`Check that the API key in the credential belongs to the account that owns the data. Requested: ${about}.`,
		cause: 'credential-invalid',
	},
	{
		statuses: ['404', '410'],
		message: ({ status }) => `The service has no endpoint at the address of this request${status}`,
		advice: ({ api, about }) => `${checkBaseUrl(api)} Requested: ${about}.`,
		cause: 'configuration-invalid',
	},
	{
		statuses: ['400'],
		message: ({ said }) =>
			said
				? `The service refused a parameter: ${withoutStop(said)}`
				: 'The service refused a parameter',
		end: inBrackets,
		advice: ({ query }) => [sentQuery(query), 'Check the parameters of the node.'].join(' ').trim(),
		isQuoted: true,
		cause: 'configuration-invalid',
	},
	{
		statuses: ['407'],
		message: ({ status }) => `A proxy between n8n and the service asks for a login${status}`,
		advice: ({ about }) =>
			`n8n uses the proxy in HTTP_PROXY or HTTPS_PROXY. Put a user name and a password into its address, or exempt the service with NO_PROXY. Requested: ${about}.`,
		cause: 'configuration-invalid',
	},
	{
		statuses: ['3xx'],
		message: ({ status }) => `The service redirects to another address${status}`,
		advice: ({ api, answer, about }) =>
			`The redirect was not followed, because it would carry the API key there. ${redirectAdvice(api.baseUrl, answer) ?? checkBaseUrl(api)} Requested: ${about}.`,
		cause: 'configuration-invalid',
	},
	{
		statuses: ['5xx'],
		message: ({ status }) => `The service failed${status}`,
		end: afterColon,
		advice: ({ api, resource }) =>
			[resource.doubt ?? triedText(api), 'Try again later.'].join(' ').trim(),
		cause: 'temporarily-unavailable',
	},
	{
		message: ({ status }) => `The service refused the request${status}`,
		end: afterColon,
		advice: () => 'Check the parameters of the node.',
		cause: 'temporarily-unavailable',
	},
];

/** The error of an unsuccessful answer, except 429. */
export function statusError(
	api: Api,
	resource: Resource,
	query: IDataObject,
	answer: Answer,
): NodeApiError {
	const { statusCode } = answer;
	const said = saidBy(api, answer);
	const onEnd = adviceOnEnd(api.baseUrl, faultOf(answer, resource));
	if (statusCode === 404 && hasId(resource)) return notFoundError(api, resource, said, onEnd);
	const { message, advice, end, isQuoted, cause } = meaningOf(statusCode, resource);
	const about = nameOfResource(resource);
	const status = isEditorList(api) ? '' : ` (${statusCode})`;
	const refusal = { api, resource, query, answer, said, about, status };
	const quote = said && `The service says: ${said}`;
	const description = isQuoted ? [advice(refusal)] : [quote, advice(refusal), onEnd];
	return apiError(api, message(refusal), description, {
		about: resource,
		...end?.(resource),
		httpCode: String(statusCode),
		failure: { cause },
	});
}

function meaningOf(statusCode: number, resource: Resource): Meaning {
	const group = `${Math.min(5, Math.floor(statusCode / 100))}xx`;
	const names = [String(statusCode), group];
	return MEANINGS.find(
		({ statuses = names, isFor }) =>
			names.some((name) => statuses.includes(name)) && (isFor?.(resource) ?? true),
	)!;
}

export const TITLES_ARE_NO_IDS =
	"A title isn't an ID. Choose 'From List' to find a title, or use the field id that a list or a search returns.";

/** The error of an entry that doesn't exist, by a 404 or by null. */
export function notFoundError(
	api: Api,
	resource: Resource,
	said?: string,
	advice?: string,
): NodeApiError {
	const { noun, id = '' } = resource;
	return apiError(
		api,
		`No ${noun} with the ID "${id}" was found`,
		[
			said && `The service says: ${said}`,
			isLikeTitle(id) && TITLES_ARE_NO_IDS,
			`Check the ID. The ${noun} may have been deleted, or may belong to another account.`,
			advice,
		],
		{
			kind: 'notFound',
			about: resource,
			httpCode: '404',
			failure: { cause: 'configuration-invalid' },
		},
	);
}

/** IDs have digits; titles seldom have. */
function isLikeTitle(id: string): boolean {
	return !/\d/.test(id);
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
	return apiError(
		api,
		`The rate limit asks for a wait of ${inSeconds(askedMs)}${after}${bound}`,
		[
			said && `The service says: ${said}`,
			"The service allows 180 requests per minute for each API key, in all workflows together. Try again later, run fewer workflows at a time, or raise the option 'Max Rate Limit Wait' if the operation has it.",
		],
		{
			...inBrackets(resource),
			httpCode: '429',
			failure: { cause: 'rate-limited', retryAfterMs: askedMs },
			details: { retryAfterSeconds: Math.ceil(askedMs / 1000) },
		},
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
		`The service returned an unexpected response: ${problem}`,
		[
			said && `It says: ${said}`,
			resource.doubt,
			`${checkBaseUrl(api)} If it is right, the service may have a problem: try again later.`,
			adviceOnEnd(api.baseUrl, faultOf(answer, resource)),
		],
		{
			...inBrackets(resource),
			httpCode: String(statusCode),
			failure: { cause: 'temporarily-unavailable' },
		},
	);
}

export function tooLargeError(api: Api, resource: Resource): NodeApiError {
	return apiError(
		api,
		'The service returned an unexpected response: it is more than 64 MiB',
		["Request less at a time: a lower 'Limit', a shorter range, or fewer fields."],
		{
			...inBrackets(resource),
			kind: 'tooLarge',
			httpCode: '200',
			failure: { cause: 'configuration-invalid' },
		},
	);
}

function checkBaseUrl({ baseUrl }: Api): string {
	return `Check the 'Base URL' in the credential: ${baseUrl}.`;
}

function triedText({ retries }: Api): string {
	return retries > 0 ? `The node tried ${retries + 1} times.` : '';
}

function sentQuery(query: IDataObject): string {
	const sent = Object.entries(query).filter(([, value]) => value !== undefined);
	const fields = sent.map(([name, value]) => `${name}=${trimmedText(value)}`);
	return fields.length > 0 ? `Sent: ${fields.join(', ')}.` : '';
}

function isEditorList({ context }: Api): boolean {
	return 'getCurrentNodeParameter' in context;
}

function withoutStop(text: string): string {
	return text.endsWith('.') ? text.slice(0, -1) : text;
}

function inSeconds(ms: number): string {
	return `${Math.ceil(ms / 1000)} s`;
}
