// Where events may be sent: over https, and in the private network also over http. Never to a
// cloud's metadata service, under any name, even if the name resolves to another address later.
import { lookup as resolve, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { ApiError } from '../util/errors.mts';

/** Why nothing is sent to an address. The message completes a sentence. */
export class RefusedAddressError extends Error {}

const REFUSED = listOf([
	// Link-local, with the metadata of AWS, Azure, Google Cloud and others. Also as IPv6.
	...['169.254.0.0/16', 'fe80::/10', '64:ff9b::a9fe:0/112', '::a9fe:0/112', '2002:a9fe::/32'],
	...['::ffff:0:a9fe:0/112', '64:ff9b:1::/48'],
	// Metadata of AWS and Google over IPv6, of Alibaba and Oracle, and Azure's own services.
	...['fd00:ec2::254/128', 'fd20:ce::254/128', '100.100.100.200/32', '64:ff9b::6464:64c8/128'],
	...['192.0.0.192/32', '168.63.129.16/32'],
]);
const PRIVATE = listOf([
	...['127.0.0.0/8', '::1/128', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
	// Overlay networks, such as Tailscale.
	'100.64.0.0/10',
]);

function listOf(networks: string[]): BlockList {
	const list = new BlockList();
	for (const network of networks) {
		const [address, bits] = network.split('/');
		list.addSubnet(address, Number(bits), familyOf(address));
	}
	return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
	return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/**
 * The problem of an IP address; undefined if events may be sent to it.
 *
 * @param isPlain Whether the protocol is http.
 */
function problemOf(address: string, isPlain: boolean): string | undefined {
	if (REFUSED.check(address, familyOf(address))) {
		return 'the address is link-local or that of a metadata service, to which nothing is sent';
	}
	if (isPlain && !PRIVATE.check(address, familyOf(address))) {
		return "HTTP is only for a private network, and the address isn't in one";
	}
}

/** A host without IPv6 brackets. */
const plainHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Parses the address of a webhook.
 *
 * @returns The normalized URL.
 * @throws ApiError (400) that says what to do.
 */
export async function webhookAddress(text: string): Promise<string> {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw new ApiError(400, "url isn't an address that begins with https:// or http://");
	}
	if (url.username || url.password) {
		throw new ApiError(400, 'url has a user name or a password. Leave them out');
	}
	url.hash = '';
	const host = plainHost(url.hostname);
	const isPlain = url.protocol === 'http:';
	const addresses = isIP(host)
		? [host]
		: // A name that is unknown now may be known later.
			(await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);
	for (const address of addresses) {
		const problem = problemOf(address, isPlain);
		if (problem) throw new ApiError(400, `url can't be used: ${problem}`);
	}
	return url.href;
}

/** Connects only to allowed addresses. It checks the resolved address of each connection. */
export function safeAgent(): Agent {
	const connectPlain = buildConnector({ lookup: lookupFor(true) });
	const connect = buildConnector({ lookup: lookupFor(false) });
	return new Agent({
		connect: (options, callback) => {
			const isPlain = options.protocol === 'http:';
			const host = plainHost(options.hostname);
			// IP addresses aren't looked up.
			const problem = isIP(host) ? problemOf(host, isPlain) : undefined;
			if (problem) return callback(new RefusedAddressError(problem), null);
			(isPlain ? connectPlain : connect)(options, callback);
		},
		maxHeaderSize: 16_384,
	});
}

const lookupFor =
	(isPlain: boolean): LookupFunction =>
	(hostname, options, callback) => {
		resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
			if (error) return callback(error, '');
			const problems = found.map(({ address }) => problemOf(address, isPlain));
			const allowed = found.filter((_, nth) => problems[nth] === undefined);
			const [first] = allowed;
			if (!first) return callback(new RefusedAddressError(problems[0]), '');
			if (options.all) callback(null, allowed);
			else callback(null, first.address, first.family);
		});
	};
