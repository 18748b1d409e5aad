import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import type { Fault } from '../../../lifelog/limitless.ts';
import { authenticated } from '../auth/authenticate';
import { checkedBaseUrl, USUAL_ADDRESSES } from '../auth/baseUrl';
import {
	adviceOnEnd,
	BLOCKED_ADVICE,
	connectionAdvice,
	connectionCode,
	connectionProblem,
	isBlockedByN8n,
	redirectAdvice,
} from '../errors/connection';
import { type Answer, faultOf, isSuccess } from '../errors/said';

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
	const failed = (message: string, fault: Fault): INodeCredentialTestResult => {
		const advice = adviceOnEnd(baseUrl, fault);
		return { status: 'Error', message: [message, advice].filter(Boolean).join(' ') };
	};
	try {
		// The context of a credential test has no other helper for requests.
		const { request: send } = this.helpers;
		const answer = (await send(request)) as Answer;
		const message = whyRefused(baseUrl, answer);
		if (message === undefined) return { status: 'OK', message: 'Connection successful!' };
		return failed(message, faultOf(answer, {}));
	} catch (error) {
		if (isBlockedByN8n(error)) {
			return { status: 'Error', message: `n8n refuses requests to ${host}. ${BLOCKED_ADVICE}` };
		}
		const code = connectionCode(error);
		const problem = `No answer from ${host}: ${connectionProblem(code)}.`;
		return failed(`${problem} ${connectionAdvice(host, code)}`, { code });
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

/** By the first and the last status. */
const REFUSALS = [
	{
		first: 401,
		last: 401,
		message: 'The API key was refused. Check that you copied all of it and that it is still valid.',
	},
	{ first: 403, last: 403, message: 'The API key is not allowed to read chats.' },
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
function whyRefused(baseUrl: string, answer: Answer): string | undefined {
	const { statusCode, body } = answer;
	const { data } = (body ?? {}) as { data?: { chats?: unknown } | null };
	if (isSuccess(answer) && Array.isArray(data?.chats)) return undefined;
	const refusal = REFUSALS.find(({ first, last }) => statusCode >= first && statusCode <= last);
	if (refusal) return refusal.message;
	if (statusCode >= 300 && statusCode < 400) {
		return `The 'Base URL' redirects to another address. ${redirectAdvice(baseUrl, answer) ?? `Enter the address of the service itself, not ${baseUrl}.`}`;
	}
	const { origin, pathname } = new URL(baseUrl);
	const nearest = pathname === '/' ? USUAL_ADDRESSES : `Enter ${origin}, without a path.`;
	return `The 'Base URL' doesn't point to a Lifelog API: ${baseUrl}. ${nearest}`;
}
