const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/i;
const PRIVATE_ADDRESS =
	/^(10(\.\d{1,3}){3}|192\.168(\.\d{1,3}){2}|172\.(1[6-9]|2\d|3[01])(\.\d{1,3}){2}|169\.254(\.\d{1,3}){2}|f[cd][\da-f]{2}:[\da-f:]*|fe[89ab][\da-f]:[\da-f:]*)$/i;
const PRIVATE_NAME = /(^[^.:]+|\.(local|localhost|internal|lan|home\.arpa))$/i;

/** Why a key or words aren't sent to an address. */
export type AddressProblem = 'not an address' | 'not encrypted' | 'not plain';

/** Whether a host is this machine. @param host As a URL has it, or without the brackets of IPv6. */
export function isLoopback(host: string): boolean {
	return LOOPBACK.test(withoutBrackets(host));
}

/** Whether a host is this machine, or an address or a name that only a private network has. */
export function isPrivate(host: string): boolean {
	const name = withoutBrackets(host);
	return LOOPBACK.test(name) || PRIVATE_ADDRESS.test(name) || PRIVATE_NAME.test(name);
}

function withoutBrackets(host: string): string {
	return host.replace(/^\[(.*)\]$/, '$1');
}

/**
 * What is wrong with the address of a service (specification, section 1): it isn't one of
 * the web, it isn't https, or it has a user name, a query or a fragment.
 *
 * @param mayBeHttp Whether a host may have http.
 */
export function addressProblem(
	address: string,
	mayBeHttp: (host: string) => boolean = isLoopback,
): AddressProblem | undefined {
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) return 'not an address';
	const { protocol, hostname, username, password, search, hash } = url;
	if (protocol === 'http:' && !mayBeHttp(hostname)) return 'not encrypted';
	return username || password || search || hash ? 'not plain' : undefined;
}

/** An address without slashes and `/v1` at its end, so that `/v1/…` can be appended. */
export function baseAddress(address: string): string {
	const plain = plainAddress(address);
	return plain.endsWith('/v1') ? plainAddress(plain.slice(0, -'/v1'.length)) : plain;
}

/** The origin and the path of an address, without slashes at its end. */
export function plainAddress(address: string): string {
	const { origin, pathname } = new URL(address);
	return `${origin}${withoutEmptyEnd(pathname.split('/')).join('/')}`;
}

function withoutEmptyEnd(segments: string[]): string[] {
	return segments.slice(0, segments.findLastIndex((segment) => segment !== '') + 1);
}
