// Requests without an answer.
import type { NodeApiError } from 'n8n-workflow';

import { isLoopback, isPrivate } from '../../../lifelog/addresses.ts';
import { type Fault, isLikeEndOfLimitless, LIMITLESS_END } from '../../../lifelog/limitless.ts';
import { trimmedText } from '../../../lifelog/text.ts';
import type { Api } from '../auth/connection';
import { apiError, inBrackets, type Resource } from './nodeErrors';
import type { Answer } from './said';

/** What the codes of connections mean, as half a sentence. */
const PROBLEMS: Record<string, string> = {
	ECONNREFUSED: 'the connection was refused',
	ECONNRESET: 'the connection was interrupted',
	EPIPE: 'the connection was interrupted',
	ERR_BAD_RESPONSE: 'the response was interrupted',
	ECONNABORTED: 'the service took too long',
	ERR_CANCELED: 'the service took too long',
	ETIMEDOUT: 'the service took too long',
	ENOTFOUND: 'there is no host with this name',
	EAI_AGAIN: 'the host name could not be looked up',
	EHOSTUNREACH: 'the host cannot be reached',
	ENETUNREACH: 'the network cannot be reached',
	EPROTO: 'there is no https at this address',
};
const TOO_SLOW = ['ECONNABORTED', 'ERR_CANCELED', 'ETIMEDOUT'];

export const BLOCKED_ADVICE =
	"n8n's protection against requests into its own network (SSRF) is on, and this address is on this machine, in a private network or on a list of refused hosts. The administrator of n8n can allow it with N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.";

/** The error of a request without an answer. @param code Of the connection, e.g. ECONNREFUSED. */
export function connectionError(api: Api, resource: Resource, code: string): NodeApiError {
	const { host } = new URL(api.baseUrl);
	return apiError(
		api,
		`No answer from ${host}: ${connectionProblem(code)}`,
		[resource.doubt, connectionAdvice(host, code), adviceOnEnd(api.baseUrl, { code })],
		{
			...inBrackets(resource),
			kind: TOO_SLOW.includes(code) ? 'tooSlow' : undefined,
			failure: { cause: 'temporarily-unavailable' },
			details: { connectionCode: code },
		},
	);
}

/** The error of a request that n8n itself refused (`N8N_SSRF_PROTECTION_ENABLED`). */
export function blockedError(api: Api): NodeApiError {
	const { host } = new URL(api.baseUrl);
	return apiError(api, `n8n refuses requests to ${host}`, [BLOCKED_ADVICE], {
		failure: { cause: 'configuration-invalid' },
	});
}

/** What a failed connection means, as half a sentence. */
export function connectionProblem(code: string): string {
	if (code in PROBLEMS) return PROBLEMS[code];
	const name = code.toLowerCase().replaceAll('_', ' ');
	if (code.startsWith('HPE_')) return `the response is not HTTP (${name})`;
	if (code.startsWith('Z_')) return `the response could not be unpacked (${name})`;
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

/** What to do if the fault may be the end of Limitless. */
export function adviceOnEnd(baseUrl: string, fault: Fault): string | undefined {
	return isLikeEndOfLimitless(baseUrl, fault)
		? `${LIMITLESS_END} If you archived your lifelogs, set the Base URL to your lifelog-server.`
		: undefined;
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
