import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

/** Hosts as a URL has them once it is parsed: `127.1` is `127.0.0.1` there, `[0::1]` is `[::1]`. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PRIVATE_ADDRESS =
	/^(10(\.\d{1,3}){3}|192\.168(\.\d{1,3}){2}|172\.(1[6-9]|2\d|3[01])(\.\d{1,3}){2}|169\.254(\.\d{1,3}){2}|\[f[cd][\da-f]{2}:[\da-f:]*\]|\[fe[89ab][\da-f]:[\da-f:]*\])$/;
const PRIVATE_NAME = /(^[^.[]+|\.(local|internal|lan|home\.arpa))$/;

/**
 * Checks the address of a service before the API key is sent to it.
 *
 * @param credential The data of the credential. White space around the Base URL is tolerated, as
 *   are slashes and the version of the interface (`/v1`) at its end.
 * @returns The Base URL without these, so that `/v1/…` can be put behind it.
 * @throws Error when it is no URL, holds a user name, query or fragment, or is neither https nor
 *   http to a loopback host or, where the credential allows it, into a private network (only https
 *   is used by the service: specification, section 1).
 */
export function checkedBaseUrl({
	baseUrl,
	allowPrivateHttp,
}: ICredentialDataDecryptedObject): string {
	const text = String(baseUrl ?? '').trim();
	if (!URL.canParse(text)) {
		throw new Error(
			"The 'Base URL' is not a web address. Enter one such as https://api.example.com in the credential.",
		);
	}
	const url = new URL(text);
	const mayBeHttp =
		isLoopback(url.hostname) || (allowPrivateHttp === true && isPrivate(url.hostname));
	if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBeHttp)) {
		throw new Error(
			`The 'Base URL' must start with https://, else the API key would cross the network unencrypted. It is http:// for this machine only, and with the option 'Allow HTTP in a Private Network' for private addresses and names. The address is ${originOf(url)}.`,
		);
	}
	if (url.username || url.password || url.search || url.hash) {
		throw new Error(
			"The 'Base URL' must be a plain address, without a user name, a query or a fragment. The API key has its own field in the credential.",
		);
	}
	return `${url.origin}${withoutVersion(url.pathname)}`;
}

/** Protocol and host; `origin` is "null" for most protocols. */
export function originOf({ protocol, host }: URL): string {
	return `${protocol}//${host}`;
}

/** Whether a host is this machine; in a container it is the container. */
export function isLoopback(hostname: string): boolean {
	return LOOPBACK.test(hostname);
}

function isPrivate(hostname: string): boolean {
	return PRIVATE_ADDRESS.test(hostname) || PRIVATE_NAME.test(hostname);
}

function withoutVersion(path: string): string {
	const segments = withoutEmptyEnd(path.split('/'));
	return withoutEmptyEnd(segments.at(-1) === 'v1' ? segments.slice(0, -1) : segments).join('/');
}

function withoutEmptyEnd(segments: string[]): string[] {
	return segments.slice(0, segments.findLastIndex((segment) => segment !== '') + 1);
}
