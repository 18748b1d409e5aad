import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { isObject } from '../../../lifelog/names.ts';
import { checkedApiKey } from './apiKey';
import { checkedTarget } from './baseUrl';

/** In n8n's current options, or in the older ones of the HTTP Request node. */
type GivenRequest = Record<string, unknown>;

/** Options that don't say where a request goes. Any other may do so, in this or a later n8n. */
const TAKEN_OVER = [
	'method',
	'qs',
	'qsStringifyOptions',
	'useQuerystring',
	'arrayFormat',
	'allowedDomains',
	'auth',
	'body',
	'form',
	'formData',
	'json',
	'encoding',
	'useStream',
	'gzip',
	'timeout',
	'abortSignal',
	'rejectUnauthorized',
	'returnFullResponse',
	'resolveWithFullResponse',
	'ignoreHttpStatusErrors',
	'simple',
];

const AGENT_OPTIONS_TAKEN_OVER = ['ca', 'cert', 'key', 'passphrase'];

/** In n8n's current options, and in the older ones. */
const NO_REDIRECTS = {
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
	maxRedirects: 0,
};

/**
 * Adds the header `X-API-Key` (specification, section 5) to a request that goes only to the Base
 * URL's origin: directly, without following redirects. Its own output is valid input, because n8n
 * asks twice after a 401.
 *
 * @param credential The data of the credential.
 * @param request From any caller of n8n; not changed.
 * @returns The request, with its checked address only in `url`.
 * @throws Error, before anything is sent, if the credential or the request is unsafe.
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
			"The API key is not sent without checking the certificate. Turn off 'Ignore SSL Issues'. For your own certificate, set NODE_EXTRA_CA_CERTS.",
		);
	}
}

/**
 * The origin itself as the proxy. Otherwise n8n uses the environment's (HTTP_PROXY), even for this
 * machine, and http to a proxy isn't encrypted. The request then names its full address, which every
 * server must understand (RFC 9112, section 3.2.2).
 */
function straightTo({ hostname, port }: URL): NonNullable<IHttpRequestOptions['proxy']> {
	return { protocol: 'http', host: hostname, port: Number(port || 80) };
}

/** https checks the certificate, whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED). */
function agentOptionsOf({ agentOptions }: GivenRequest, { protocol }: URL): GivenRequest {
	const isChecked = protocol === 'https:' && { rejectUnauthorized: true };
	const options = isObject(agentOptions) && taken(agentOptions, AGENT_OPTIONS_TAKEN_OVER);
	return isChecked || options ? { agentOptions: { ...options, ...isChecked } } : {};
}

/** The caller's headers without its key. Objects are refused: the HTTP client merges `common`. */
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
