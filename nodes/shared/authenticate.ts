import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	IHttpRequestOptions,
} from 'n8n-workflow';

import { checkedApiKey } from './api-key';
import { checkedBaseUrl, originOf } from './base-url';

/** A request in n8n's options of today, or in the older ones of the HTTP Request node. */
type GivenRequest = Record<string, unknown>;

/**
 * What is taken over from a request: how to ask and how to take the answer. Whatever else it holds
 * may say where to go, now or in an n8n to come, and is left behind.
 */
const TAKEN_OVER = [
	...['method', 'qs', 'qsStringifyOptions', 'useQuerystring', 'arrayFormat', 'allowedDomains'],
	...['auth', 'body', 'form', 'formData', 'json', 'encoding', 'useStream', 'gzip'],
	...['timeout', 'abortSignal', 'rejectUnauthorized'],
	...['returnFullResponse', 'resolveWithFullResponse', 'ignoreHttpStatusErrors', 'simple'],
];

/** A certificate of the caller's, and the authority of a service's own. */
const AGENT_OPTIONS_TAKEN_OVER = ['ca', 'cert', 'key', 'passphrase'];

/** In the words of n8n's options of today, and in those of the older ones. */
const NO_REDIRECTS = {
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
	maxRedirects: 0,
};

/**
 * Puts the API key into the header `X-API-Key` (specification, section 5) of a request to the
 * Base URL's origin, that goes there and nowhere else: straight, without following redirects.
 * Given what it returned, it returns the same again, as n8n asks twice after a 401.
 *
 * @param credential The data of the credential.
 * @param request What any caller of n8n's sends; it is not changed.
 * @returns The request with its address in `url` alone, as it was checked.
 * @throws Error, before anything is sent, when the credential or the request is unsafe.
 */
export function authenticated(
	credential: ICredentialDataDecryptedObject,
	request: IHttpRequestOptions,
): IHttpRequestOptions {
	const given = request as unknown as GivenRequest;
	const baseUrl = checkedBaseUrl(credential);
	const apiKey = checkedApiKey(credential.apiKey);
	const target = targetOf(given, credential, baseUrl);
	refuseDetours(given, target);
	return {
		...taken(given, TAKEN_OVER),
		...agentOptionsOf(given, target),
		...NO_REDIRECTS,
		...(target.protocol === 'http:' && { proxy: straightTo(target) }),
		url: target.href,
		headers: { ...headersOf(given, target), 'X-API-Key': apiKey },
	};
}

/** The one address that a request names. */
function targetOf(
	given: GivenRequest,
	credential: ICredentialDataDecryptedObject,
	baseUrl: string,
): URL {
	const [text = '', another] = new Set([given.url, given.uri].filter(isNamed).map(addressText));
	const base = isNamed(given.baseURL) ? addressText(given.baseURL) : undefined;
	if (another !== undefined) {
		throw new Error('The request names two addresses, so the API key is not sent. Leave one.');
	}
	if (!URL.canParse(text, base)) throw noAddressError();
	checkOrigin(new URL(text, base), baseUrl);
	if (base === undefined) return new URL(text);
	checkOrigin(new URL(base), baseUrl);
	const isOfCredential = base === String(credential.baseUrl).trim();
	const target = URL.canParse(text) ? new URL(text) : joined(isOfCredential ? baseUrl : base, text);
	checkOrigin(target, baseUrl);
	return target;
}

function isNamed(value: unknown): boolean {
	return value !== undefined && value !== null && value !== '';
}

function addressText(value: unknown): string {
	if (value instanceof URL) return value.href;
	if (typeof value !== 'string') throw noAddressError();
	return value.trim();
}

function noAddressError(): Error {
	return new Error(
		'The request does not name a whole address, so the API key is not sent. Enter one such as https://api.example.com/v1/chats.',
	);
}

/** Puts a path behind an address as n8n's HTTP client does: behind its path, not in its place. */
function joined(base: string, path: string): URL {
	if (path === '') return new URL(base);
	const separator = base.endsWith('/') || path.startsWith('/') ? '' : '/';
	return new URL(`${base}${separator}${path}`);
}

/** The origin of `blob:https://host/…` is that of its inner address: protocols are compared too. */
function checkOrigin(target: URL, baseUrl: string): void {
	const { protocol, host } = new URL(baseUrl);
	if (target.protocol !== protocol || target.host !== host) {
		throw new Error(
			`The API key is only sent to the 'Base URL' of the credential, not to ${originOf(target)}.`,
		);
	}
	if (target.username || target.password) {
		throw new Error(
			'The address of the request holds a user name or a password, so the API key is not sent. Remove it.',
		);
	}
}

/** Refuses what would let somebody between n8n and the service read the key. */
function refuseDetours(given: GivenRequest, target: URL): void {
	const { proxy, agentOptions } = given;
	if (proxy && !isStraight(proxy, target)) {
		throw new Error(
			"The API key is not sent through a proxy that the request names. Remove 'Proxy' from the request; for https, n8n's own HTTPS_PROXY is used.",
		);
	}
	const isUnchecked =
		given.skipSslCertificateValidation ||
		given.rejectUnauthorized === false ||
		(isObject(agentOptions) && agentOptions.rejectUnauthorized === false);
	if (isUnchecked && target.protocol === 'https:') {
		throw new Error(
			"The API key is not sent where nobody checks the certificate. Switch 'Ignore SSL Issues' off; for a certificate of your own, name its authority in NODE_EXTRA_CA_CERTS.",
		);
	}
}

/**
 * The origin itself as the proxy: n8n takes a proxy of the environment (HTTP_PROXY) where a request
 * names none, for this machine too, and what goes to a proxy by http is not encrypted. The request
 * then names its address in full, which every server has to understand (RFC 9112, section 3.2.2).
 */
function straightTo({ hostname, port }: URL): NonNullable<IHttpRequestOptions['proxy']> {
	return { protocol: 'http', host: hostname, port: Number(port || 80) };
}

function isStraight(proxy: unknown, target: URL): boolean {
	return (
		target.protocol === 'http:' && JSON.stringify(proxy) === JSON.stringify(straightTo(target))
	);
}

/** By https the certificate is checked, whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED). */
function agentOptionsOf({ agentOptions }: GivenRequest, { protocol }: URL): GivenRequest {
	const isGiven = isObject(agentOptions);
	const isSecure = protocol === 'https:';
	if (!isGiven && !isSecure) return {};
	const options = isGiven ? taken(agentOptions, AGENT_OPTIONS_TAKEN_OVER) : {};
	return { agentOptions: { ...options, ...(isSecure && { rejectUnauthorized: true }) } };
}

/**
 * The caller's headers, without a key of its own. A header that is an object is no header: the HTTP
 * client would take what is in `common` for headers.
 */
function headersOf({ headers }: GivenRequest, target: URL): IDataObject {
	const entries = Object.entries(isObject(headers) ? headers : {}).filter(
		([name]) => name.toLowerCase() !== 'x-api-key',
	);
	for (const [name, value] of entries) {
		const isHost = name.trim().toLowerCase() === 'host';
		if (isObject(value) || (isHost && value !== target.host)) {
			throw new Error(
				`The API key is not sent with the header '${name}' of the request. Remove that header.`,
			);
		}
	}
	return Object.fromEntries(entries) as IDataObject;
}

function taken(given: GivenRequest, names: string[]): Record<string, unknown> {
	const present = names.filter((name) => given[name] !== undefined);
	return Object.fromEntries(present.map((name) => [name, given[name]]));
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
