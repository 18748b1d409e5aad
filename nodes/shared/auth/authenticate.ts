import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { checkedApiKey } from './apiKey';
import { checkedTarget } from './baseUrl';

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
	const target = checkedTarget(credential, given);
	const apiKey = checkedApiKey(credential.apiKey);
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

/** Refuses what would let somebody between n8n and the service read the key. */
function refuseDetours(given: GivenRequest, target: URL): void {
	const { proxy, agentOptions } = given;
	const isSecure = target.protocol === 'https:';
	const isStraight = !isSecure && JSON.stringify(proxy) === JSON.stringify(straightTo(target));
	if (proxy && !isStraight) {
		throw new Error(
			"The API key is not sent through a proxy that the request names. Remove 'Proxy' from the request; for https, n8n's own HTTPS_PROXY is used.",
		);
	}
	const settings = isObject(agentOptions) ? [given, agentOptions] : [given];
	const isUnchecked = settings.some(({ rejectUnauthorized }) => rejectUnauthorized === false);
	if (isSecure && (isUnchecked || given.skipSslCertificateValidation)) {
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

/** By https the certificate is checked, whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED). */
function agentOptionsOf({ agentOptions }: GivenRequest, { protocol }: URL): GivenRequest {
	const isChecked = protocol === 'https:' && { rejectUnauthorized: true };
	const options = isObject(agentOptions) && taken(agentOptions, AGENT_OPTIONS_TAKEN_OVER);
	return isChecked || options ? { agentOptions: { ...options, ...isChecked } } : {};
}

/**
 * The caller's headers, without a key of its own. A header that is an object is no header: the HTTP
 * client would take what is in `common` for headers.
 */
function headersOf({ headers }: GivenRequest, target: URL): GivenRequest {
	const entries = Object.entries(isObject(headers) ? headers : {}).filter(
		([name]) => name.toLowerCase() !== 'x-api-key',
	);
	for (const [name, value] of entries) {
		const isOtherHost = name.trim().toLowerCase() === 'host' && value !== target.host;
		if (isObject(value) || isOtherHost) {
			throw new Error(
				`The API key is not sent with the header '${name}' of the request. Remove that header.`,
			);
		}
	}
	return Object.fromEntries(entries);
}

function taken(given: GivenRequest, names: string[]): GivenRequest {
	const present = names.filter((name) => given[name] !== undefined);
	return Object.fromEntries(present.map((name) => [name, given[name]]));
}

function isObject(value: unknown): value is GivenRequest {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
