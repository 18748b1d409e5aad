import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { addressProblem, baseAddress, isLoopback, isPrivate } from '../../../lifelog/addresses.ts';
import { LIMITLESS_URL } from '../../../lifelog/limitless.ts';
import { trimmedText } from '../../../lifelog/text.ts';

/** Paths of requests, which people paste. */
const REQUEST_PATH = /\/v1\/+(lifelogs|chats|download-audio|recordings)(\/[^]*)?$/;

export const USUAL_ADDRESSES = `Enter ${LIMITLESS_URL} for Limitless, or the address of your lifelog-server, such as http://127.0.0.1:8787.`;

/**
 * Checks the address of a service before the API key is sent to it (specification, section 1).
 *
 * @param credential The data of the credential. Blanks around the Base URL, and slashes and `/v1` at
 *   its end, are accepted.
 * @returns The Base URL without these, so that `/v1/…` can be appended.
 * @throws Error, with the nearest address that may be meant, if it isn't a URL, has a user name, query
 *   or fragment, or isn't https. http is for loopback hosts and, if the credential allows it, for a
 *   private network.
 */
export function checkedBaseUrl({
	baseUrl,
	allowPrivateHttp,
}: ICredentialDataDecryptedObject): string {
	const text = trimmedText(baseUrl);
	const nearest = nearestAddress(text);
	const mayBeHttp = (host: string) =>
		isLoopback(host) || (allowPrivateHttp === true && isPrivate(host));
	const problem = addressProblem(text, mayBeHttp);
	if (problem === 'not an address') {
		throw new Error(
			nearest === undefined
				? `The 'Base URL' is not a web address. ${USUAL_ADDRESSES}`
				: `The 'Base URL' is not a web address: ${baseAddress(nearest.href).slice(`${nearest.protocol}//`.length)}. ${enter(nearest)}`,
		);
	}
	if (problem === 'not encrypted') {
		throw new Error(
			`The 'Base URL' must start with https://, or the API key would be sent unencrypted. The address is ${originOf(new URL(text))}. http:// is only for this machine and your own network. ${enter(nearest)}`,
		);
	}
	if (problem === 'not plain') {
		throw new Error(
			`The 'Base URL' must be a plain address, without a user name, a query or a fragment. The API key has its own field in the credential. ${enter(nearest)}`,
		);
	}
	const { origin, pathname } = new URL(text);
	if (REQUEST_PATH.test(pathname)) {
		throw new Error(
			`The 'Base URL' is the address of a request: ${origin}${pathname}. ${enter(nearest)}`,
		);
	}
	return baseAddress(text);
}

/** The usable address that a text is nearest to, without secrets; undefined if it names no host. */
function nearestAddress(text: string): URL | undefined {
	const [protocol] = /^(https?:\/*|\w+:\/\/)/i.exec(text) ?? [''];
	const address = `https://${text.slice(protocol.length)}`;
	if (!URL.canParse(address)) return undefined;
	const { hostname, host, pathname } = new URL(address);
	const isHost = protocol !== '' || isLoopback(hostname) || /[.:]/.test(host);
	if (!isHost) return undefined;
	const isHttps = /^https:/i.test(protocol) || !(isLoopback(hostname) || isPrivate(hostname));
	return new URL(`${isHttps ? 'https' : 'http'}://${host}${pathname.replace(REQUEST_PATH, '')}`);
}

function enter(address: URL | undefined): string {
	if (address === undefined) return USUAL_ADDRESSES;
	const { protocol, hostname, href } = address;
	const isPrivateHttp = protocol === 'http:' && !isLoopback(hostname);
	const option = isPrivateHttp ? ", and turn on 'Allow HTTP in a Private Network'" : '';
	return `Enter ${baseAddress(href)}${option}.`;
}

/**
 * The address of a request, in n8n's current options (`url`, `baseURL`) or in the older ones (`uri`).
 *
 * @throws Error if it has none or two, or another origin than the Base URL.
 */
export function checkedTarget(
	credential: ICredentialDataDecryptedObject,
	{ url, uri, baseURL }: { url?: unknown; uri?: unknown; baseURL?: unknown },
): URL {
	const baseUrl = checkedBaseUrl(credential);
	const [text = '', another] = new Set([url, uri].filter(isNamed).map(addressText));
	const base = isNamed(baseURL) ? addressText(baseURL) : undefined;
	if (another !== undefined) {
		throw new Error('The request names two addresses, so the API key is not sent. Remove one.');
	}
	if (!URL.canParse(text, base)) throw noAddressError();
	checkOrigin(new URL(text, base), baseUrl);
	if (base === undefined) return new URL(text);
	checkOrigin(new URL(base), baseUrl);
	const isOfCredential = base === trimmedText(credential.baseUrl);
	const target = URL.canParse(text)
		? new URL(text)
		: appendPath(isOfCredential ? baseUrl : base, text);
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
		'The request has no complete address, so the API key is not sent. Enter one such as https://api.example.com/v1/chats.',
	);
}

/** Appends a path as n8n's HTTP client does: after the path of the address, not instead of it. */
function appendPath(base: string, path: string): URL {
	if (path === '') return new URL(base);
	const separator = base.endsWith('/') || path.startsWith('/') ? '' : '/';
	return new URL(`${base}${separator}${path}`);
}

/** Compares protocols, too: the origin of `blob:https://host/…` is that of its inner address. */
function checkOrigin(target: URL, baseUrl: string): void {
	const { protocol, host } = new URL(baseUrl);
	if (target.protocol !== protocol || target.host !== host) {
		throw new Error(
			`The API key is only sent to the 'Base URL' of the credential, not to ${originOf(target)}.`,
		);
	}
	if (target.username || target.password) {
		throw new Error(
			'The address of the request contains a user name or a password, so the API key is not sent. Remove it.',
		);
	}
}

/** Protocol and host; `origin` is "null" for most protocols. */
function originOf({ protocol, host }: URL): string {
	return `${protocol}//${host}`;
}
