import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { authenticated } from '../auth/authenticate';
import { checkedBaseUrl } from '../auth/baseUrl';
import {
	BLOCKED_ADVICE,
	connectionAdvice,
	connectionCode,
	connectionProblem,
	isBlockedByN8n,
	isSuccess,
} from '../errors/errors';

const TIMEOUT_MS = 30_000;

/**
 * Reads one chat, because the list of lifelogs documents no 401 (specification, sections 4.6 and 5).
 * A test in the credential type would show only the code of a failed connection.
 */
export async function testLifelogApi(
	this: ICredentialTestFunctions,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	let request: IHttpRequestOptions;
	let baseUrl: string;
	try {
		baseUrl = checkedBaseUrl(data);
		request = authenticated(data, { url: `${baseUrl}/v1/chats`, ...OPTIONS });
	} catch (error) {
		return { status: 'Error', message: (error as Error).message };
	}
	const { host } = new URL(baseUrl);
	try {
		// The context of a credential test has no other helper for requests.
		const { request: send } = this.helpers;
		const answer = (await send(request)) as { statusCode: number; body: unknown };
		const message = whyRefused(answer.statusCode, answer.body);
		if (message === undefined) return { status: 'OK', message: 'Connection successful!' };
		return { status: 'Error', message };
	} catch (error) {
		if (isBlockedByN8n(error)) {
			return { status: 'Error', message: `n8n refuses requests to ${host}. ${BLOCKED_ADVICE}` };
		}
		const code = connectionCode(error);
		return {
			status: 'Error',
			message: `No answer from ${host}: ${connectionProblem(code)}. ${connectionAdvice(host, code)}`,
		};
	}
}

/** In n8n's older options, which the helper of these tests takes. */
const OPTIONS = {
	method: 'GET',
	qs: { limit: 1 },
	json: true,
	timeout: TIMEOUT_MS,
	resolveWithFullResponse: true,
	simple: false,
} as Partial<IHttpRequestOptions>;

const NOT_A_LIFELOG_API = "The 'Base URL' doesn't point to a Lifelog API. Check the address.";

/** By the first and the last status. */
const REFUSALS = [
	{
		first: 300,
		last: 399,
		message:
			"The 'Base URL' redirects to another address. Enter the address of the service itself.",
	},
	{
		first: 401,
		last: 401,
		message: 'The API key was refused. Check that you copied all of it and that it is still valid.',
	},
	{ first: 403, last: 403, message: 'The API key is not allowed to read chats.' },
	{ first: 404, last: 404, message: NOT_A_LIFELOG_API },
	{
		first: 429,
		last: 429,
		message: 'The rate limit of this API key is reached. Try again in a minute.',
	},
	{
		first: 500,
		last: 599,
		message: 'The service failed, so the API key was not tested. Try again later.',
	},
];

/** Why an answer doesn't confirm the credential; undefined if it does. */
function whyRefused(statusCode: number, body: unknown): string | undefined {
	const refusal = REFUSALS.find(({ first, last }) => statusCode >= first && statusCode <= last);
	const { data } = (body ?? {}) as { data?: { chats?: unknown } | null };
	if (isSuccess({ statusCode }) && Array.isArray(data?.chats)) return undefined;
	return refusal?.message ?? NOT_A_LIFELOG_API;
}
