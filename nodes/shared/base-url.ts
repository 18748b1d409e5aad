const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks the address of a service before the API key is sent to it.
 *
 * @param baseUrl The credential's Base URL; white space around it and slashes behind it are tolerated.
 * @returns The Base URL without slashes at its end, so that `/v1/…` can be put behind it.
 * @throws Error when it is no URL, holds a user name, query or fragment, or is neither https nor
 *   http to a loopback host (only https is used by the service: specification, section 1).
 */
export function checkedBaseUrl(baseUrl: unknown): string {
	const text = String(baseUrl ?? '').trim();
	if (!URL.canParse(text)) {
		throw new Error(
			`The Base URL "${text}" is not a web address. Enter one such as https://api.example.com in the credential.`,
		);
	}
	const url = new URL(text);
	const isLocal = url.protocol === 'http:' && LOOPBACK.test(url.hostname);
	if (url.protocol !== 'https:' && !isLocal) {
		throw new Error(
			`The Base URL must start with https:// (http:// only for this machine), else the API key would cross the network unencrypted. It is "${url.origin}".`,
		);
	}
	if (url.username || url.password || url.search || url.hash) {
		throw new Error(
			'The Base URL must be a plain address, without a user name, a query or a fragment. The API key has its own field in the credential.',
		);
	}
	return withoutEndSlashes(`${url.origin}${url.pathname}`);
}

/** Not by `/\/+$/`, which takes quadratic time over slashes that are not at the end. */
function withoutEndSlashes(text: string): string {
	let end = text.length;
	while (text[end - 1] === '/') end--;
	return text.slice(0, end);
}
