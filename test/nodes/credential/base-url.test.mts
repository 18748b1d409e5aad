import { checkedBaseUrl } from '../../../nodes/shared/auth/baseUrl.ts';

test.each([
	['https://api.example.com', 'https://api.example.com'],
	[' https://api.example.com// ', 'https://api.example.com'],
	['https://api.example.com/lifelog/', 'https://api.example.com/lifelog'],
	['https://api.example.com/v1', 'https://api.example.com'],
	['https://api.example.com//v1//', 'https://api.example.com'],
	['https://api.example.com/lifelog/v1/', 'https://api.example.com/lifelog'],
	['https://api.example.com/lifelog/v10', 'https://api.example.com/lifelog/v10'],
	['http://localhost:8787', 'http://localhost:8787'],
	['http://127.0.0.1:8787/v1', 'http://127.0.0.1:8787'],
	['http://127.1:8787/', 'http://127.0.0.1:8787'],
	['http://[::1]:8787', 'http://[::1]:8787'],
])('%p is used as %s', (given, used) => {
	expect(checkedBaseUrl({ baseUrl: given })).toBe(used);
});

const UNSAFE = [
	'http://api.example.com',
	'http://127.0.0.1.example.com',
	'http://localhost.example.com',
	'http://8.8.8.8',
	'http://172.15.0.1',
	'http://172.32.0.1',
	'http://192.169.0.1',
	'http://11.0.0.1',
	'http://100.64.0.1',
	'http://0.0.0.0',
	'http://[2001:db8::1]',
	'http://[fe00::1]',
	'http://[::ffff:8.8.8.8]',
	'http://10.0.0.1.example.com',
	'http://nas.local.example.com',
	'http://notlocal.lan.',
	'http://nas.locally',
	'http://example.lan@example.com',
	'ftp://localhost',
	'ftp://nas.local',
	'https://user:secret@api.example.com',
	'https://api.example.com?key=1',
	'https://api.example.com#x',
	'api.example.com',
	'',
	undefined,
	null,
	{},
];

test.each(UNSAFE)('%p is refused, whatever http is allowed', (baseUrl) => {
	for (const allowPrivateHttp of [undefined, false, true]) {
		expect(() => checkedBaseUrl({ baseUrl, allowPrivateHttp } as never)).toThrow('Base URL');
	}
});

const PRIVATE = [
	'http://10.0.0.1:8080',
	'http://172.16.0.1',
	'http://172.31.255.254',
	'http://192.168.1.20/lifelog',
	'http://169.254.3.4',
	'http://[fd12:3456:789a::1]:8787',
	'http://[fc00::1]',
	'http://[fe80::1]',
	'http://nas',
	'http://nas.local:8787',
	'http://lifelog.internal',
	'http://NAS.LAN',
	'http://nas.home.arpa',
];

describe.each(PRIVATE)('%s', (baseUrl) => {
	test('is refused, and the error names the option', () => {
		for (const allowPrivateHttp of [undefined, false, 'true', 1]) {
			expect(() => checkedBaseUrl({ baseUrl, allowPrivateHttp } as never)).toThrow(
				"'Allow HTTP in a Private Network'",
			);
		}
	});

	test('is used if the credential allows it', () => {
		const used = checkedBaseUrl({ baseUrl, allowPrivateHttp: true });
		expect(used).toBe(new URL(baseUrl).href.replace(/\/$/, ''));
	});
});

test("a user name in the address isn't quoted in the message", () => {
	for (const baseUrl of ['http://user:secret@example.com', 'user:secret@example.com', 'secret']) {
		expect(() => checkedBaseUrl({ baseUrl })).toThrow(
			expect.not.objectContaining({ message: expect.stringContaining('secret') }),
		);
	}
});

describe('the message names the nearest usable address', () => {
	test.each([
		['127.0.0.1:8917', 'http://127.0.0.1:8917'],
		['127.0.0.1', 'http://127.0.0.1'],
		['localhost:8917/', 'http://localhost:8917'],
		['[::1]:8787', 'http://[::1]:8787'],
		['api.example.com/v1', 'https://api.example.com'],
		['http://api.example.com', 'https://api.example.com'],
		['http:api.example.com', 'https://api.example.com'],
		['htps://api.example.com', 'https://api.example.com'],
		['ftp://localhost', 'http://localhost'],
		['http://127.0.0.1:8917/v1/lifelogs', 'http://127.0.0.1:8917'],
		['http://127.0.0.1:8917/v1/lifelogs?limit=3', 'http://127.0.0.1:8917'],
		['http://127.0.0.1:8917/base/v1/chats/abc/', 'http://127.0.0.1:8917/base'],
		['http://127.0.0.1:8917/#/days', 'http://127.0.0.1:8917'],
		['https://user:secret@api.example.com/v1', 'https://api.example.com'],
	])('for %s it is %s', (baseUrl, nearest) => {
		expect(() => checkedBaseUrl({ baseUrl })).toThrow(new RegExp(` Enter ${escape(nearest)}\\.$`));
		expect(checkedBaseUrl({ baseUrl: nearest })).toBe(nearest);
	});

	test.each([
		['nas:8787', 'http://nas:8787'],
		['192.168.1.20:8787/v1/', 'http://192.168.1.20:8787'],
		['http://nas.local', 'http://nas.local'],
	])('for %s it is %s, with the option for private networks', (baseUrl, nearest) => {
		const advice = `Enter ${nearest}, and turn on 'Allow HTTP in a Private Network'.`;
		expect(() => checkedBaseUrl({ baseUrl })).toThrow(advice);
		expect(checkedBaseUrl({ baseUrl: nearest, allowPrivateHttp: true })).toBe(nearest);
	});

	test.each(['', 'nonsense', 'secret key'])('for %p it is a usual one', (baseUrl) => {
		expect(() => checkedBaseUrl({ baseUrl })).toThrow(
			"The 'Base URL' is not a web address. Enter https://api.limitless.ai for Limitless, or the address of your lifelog-server, such as http://127.0.0.1:8787.",
		);
	});

	const escape = (text: string) => text.replace(/[.[\]]/g, '\\$&');
});

test('the message quotes the address', () => {
	expect(() => checkedBaseUrl({ baseUrl: '127.0.0.1:8917' })).toThrow(
		"The 'Base URL' is not a web address: 127.0.0.1:8917. Enter http://127.0.0.1:8917.",
	);
	expect(() => checkedBaseUrl({ baseUrl: 'http://127.0.0.1:8917/v1/lifelogs' })).toThrow(
		"The 'Base URL' is the address of a request: http://127.0.0.1:8917/v1/lifelogs. Enter http://127.0.0.1:8917.",
	);
});
