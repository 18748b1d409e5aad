import { isIP } from 'node:net';
import { isLoopback } from '../../../lifelog/addresses.ts';

/** Hosts by which a server listens on all addresses. */
export const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** The name in a Host header, without port and brackets. */
export function hostName(host: string): string {
	return host
		.replace(/:\d+$/, '')
		.replace(/^\[(.*)\]$/, '$1')
		.toLowerCase();
}

/**
 * Whether a browser may have asked for this server by a name: another website could let its own
 * name lead here (DNS rebinding). An address can't be rebound, so any is fine for a server that
 * listens on all.
 *
 * @param name What `hostName` returns.
 * @param served The `--host` of the server.
 * @param allowed The names of `--allowed-hosts`.
 */
export function isOwnName(name: string, served: string, allowed: string[]): boolean {
	return (
		isLoopback(name) ||
		name === served.toLowerCase() ||
		allowed.includes(name) ||
		(EVERY_ADDRESS.includes(served) && isIP(name) !== 0)
	);
}
