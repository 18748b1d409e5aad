import { isIP } from 'node:net';
import { isLoopback } from '../../../lifelog/addresses.ts';

/** Hosts that listen on all addresses. */
export const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** The name in a Host header, without port and brackets. */
export function hostName(host: string): string {
	return host
		.replace(/:\d+$/, '')
		.replace(/^\[(.*)\]$/, '$1')
		.toLowerCase();
}

/**
 * Whether a host name belongs to this server. Another website could let its own name resolve to
 * this machine (DNS rebinding). IP addresses can't be rebound, so any is accepted by a server that
 * listens on all.
 *
 * @param name Result of `hostName`.
 * @param served The server's `--host`.
 * @param allowed Names of `--allowed-hosts`.
 */
export function isOwnName(name: string, served: string, allowed: string[]): boolean {
	return (
		isLoopback(name) ||
		name === served.toLowerCase() ||
		allowed.includes(name) ||
		(EVERY_ADDRESS.includes(served) && isIP(name) !== 0)
	);
}
