import { checkedBaseUrl } from '../../nodes/shared/base-url.ts';

test.each([
	['https://api.example.com', 'https://api.example.com'],
	[' https://api.example.com// ', 'https://api.example.com'],
	['https://api.example.com/lifelog/', 'https://api.example.com/lifelog'],
	['http://localhost:8787', 'http://localhost:8787'],
	['http://127.0.0.1:8787/', 'http://127.0.0.1:8787'],
	['http://[::1]:8787', 'http://[::1]:8787'],
])('%p is used as %s', (given, used) => {
	expect(checkedBaseUrl(given)).toBe(used);
});

test.each([
	'http://api.example.com',
	'http://127.0.0.1.example.com',
	'http://localhost.example.com',
	'http://10.0.0.1',
	'ftp://localhost',
	'https://user:secret@api.example.com',
	'https://api.example.com?key=1',
	'https://api.example.com#x',
	'api.example.com',
	'',
	undefined,
	null,
	{},
])('%p is refused', (given) => {
	expect(() => checkedBaseUrl(given)).toThrow('Base URL');
});

test('a user name in the address does not reach the message', () => {
	expect(() => checkedBaseUrl('http://user:secret@example.com')).toThrow(
		expect.not.objectContaining({ message: expect.stringContaining('secret') }),
	);
});
