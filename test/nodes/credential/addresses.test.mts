// Which hosts are this machine or a private network, compared with the ranges as RFC 1918, 3927, 4193
// and 4291 have them.
import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { checkedBaseUrl } from '../../../nodes/shared/auth/baseUrl.ts';
import { addressProblem, baseAddress, isLoopback, isPrivate } from '../../../lifelog/addresses.ts';
import { isOwnName } from '../../../server/http/auth/hosts.mts';
import { serviceAddress } from '../../../server/cli/readers.mts';
import { Endpoint } from '../../../server/util/modelEndpoint.mts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');
const privateNetworks = new BlockList();
for (const [network, bits] of [
	['10.0.0.0', 8],
	['172.16.0.0', 12],
	['192.168.0.0', 16],
	['169.254.0.0', 16],
] as const) {
	privateNetworks.addSubnet(network, bits);
}
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

const byte = fc.integer({ min: 0, max: 255 });
const ipv4 = fc
	.tuple(
		fc.oneof(byte, fc.constantFrom(10, 127, 169, 172, 192)),
		fc.oneof(byte, fc.constantFrom(15, 16, 31, 32, 168, 254)),
		...[byte, byte],
	)
	.map((bytes) => bytes.join('.'));
const ipv6 = fc
	.tuple(
		fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xfb00, max: 0xff00 })),
		fc.ipV6().filter((address) => /^([\da-f]+:){7}[\da-f]+$/i.test(address)),
	)
	.map(([first, rest]) => rest.replace(/^[\da-f]+/i, first.toString(16)));
const host = fc.oneof(
	ipv4,
	ipv6.map((address) => `[${address}]`),
	fc.constantFrom(
		'[::1]',
		'[::]',
		'localhost',
		'nas',
		'nas.lan',
		'a.home.arpa',
		'nas.lan.example.com',
	),
	fc.domain(),
);

/** What all parts of the package and the server say about a host. */
const answers = (name: string) => {
	const url = `http://${name}:8787`;
	const accepts = (check: () => unknown) => {
		try {
			check();
			return true;
		} catch {
			return false;
		}
	};
	return {
		forThisMachine: [
			accepts(() => checkedBaseUrl({ baseUrl: url })),
			accepts(() => serviceAddress(url)),
			isOwnName(name.replace(/^\[|\]$/g, ''), 'other', []),
			isLoopback(name),
			isLoopback(name.replace(/^\[|\]$/g, '')),
		],
		forPrivateNetworks: [
			accepts(() => checkedBaseUrl({ baseUrl: url, allowPrivateHttp: true })),
			accepts(() => new Endpoint({ url, key: undefined }, 'chat')),
			isPrivate(name),
			isPrivate(name.replace(/^\[|\]$/g, '')),
		],
	};
};

test('an address is private if its range is, and every part says the same', () => {
	fc.assert(
		fc.property(fc.oneof(ipv4, ipv6), (address) => {
			const family = isIPv6(address) ? 'ipv6' : 'ipv4';
			const { hostname } = new URL(`http://${isIPv6(address) ? `[${address}]` : address}`);
			const isOwn = loopback.check(address, family);
			const { forThisMachine, forPrivateNetworks } = answers(hostname);
			expect(new Set(forThisMachine)).toEqual(new Set([isOwn]));
			const isNear = isOwn || privateNetworks.check(address, family);
			expect(new Set(forPrivateNetworks)).toEqual(new Set([isNear]));
		}),
		{ numRuns: 1000 },
	);
});

test('every part says the same of any host', () => {
	fc.assert(
		fc.property(host, (given) => {
			const { hostname } = new URL(`http://${given}`);
			const { forThisMachine, forPrivateNetworks } = answers(hostname);
			expect(new Set(forThisMachine).size).toBe(1);
			expect(new Set(forPrivateNetworks).size).toBe(1);
		}),
		{ numRuns: 500 },
	);
});

test('what has more than a path is refused, wherever it leads', () => {
	const more = fc.constantFrom('u@', 'u:p@', ':p@', '', '?a=1', '#x');
	fc.assert(
		fc.property(fc.domain(), more, (name, extra) => {
			const isBefore = extra.endsWith('@');
			const url = `https://${isBefore ? extra : ''}${name}/api${isBefore ? '' : extra}`;
			expect(addressProblem(url)).toBe(extra === '' ? undefined : 'not plain');
		}),
	);
});

test('slashes and the version at the end of an address are removed', () => {
	const path = fc.array(fc.constantFrom('api', 'v10', 'a-b'), { maxLength: 3 });
	const end = fc.constantFrom('', '/', '//', '/v1', '/v1/', '//v1//');
	fc.assert(
		fc.property(path, end, (segments, rest) => {
			const base = ['https://example.com', ...segments].join('/');
			expect(baseAddress(`${base}${rest}`)).toBe(base);
		}),
	);
});
