import fc from 'fast-check';
import { authenticated } from '../../../nodes/shared/auth/authenticate.ts';

// Whatever a request names, and in whatever fields, it goes to the Base URL's origin or nowhere.

const credential = { apiKey: 'secret', baseUrl: 'http://127.0.0.1:8787/base/' };
const SEED = 20261121;

const part = fc.constantFrom(
	...['http:', 'https:', 'HTTP:', 'blob:', '//', '/', '\\', '@', ':', '?', '#', '..', '%2f', '%40'],
	...['127.0.0.1', '127.0.0.1:8787', 'evil.example', 'user', 'v1/chats', '[::1]', '0x7f.1'],
	...['\t', '\n', '\0', ' ', '。', 'http://127.0.0.1:8787/base/', 'http://evil.example/'],
);
const address = fc.oneof(
	fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
	fc.constantFrom(undefined, null, 0, {}, [], new URL('http://evil.example/')),
	fc.constantFrom('http://127.0.0.1:8787/base/v1/chats', '/v1/chats', credential.baseUrl),
);

test(`no address sends a request away from the Base URL (seed ${SEED})`, () => {
	let signed = 0;
	const property = fc.property(address, address, address, (url, uri, baseURL) => {
		let options;
		try {
			options = authenticated(credential, { url, uri, baseURL } as never);
		} catch (error) {
			expect(String(error)).toMatch(/is not sent|is only sent/);
			return;
		}
		signed++;
		expect(Object.keys(options)).not.toEqual(expect.arrayContaining(['uri']));
		expect(Object.keys(options)).not.toEqual(expect.arrayContaining(['baseURL']));
		expect(new URL(options.url)).toMatchObject({
			...{ protocol: 'http:', host: '127.0.0.1:8787', username: '', password: '' },
		});
		expect(authenticated(credential, options)).toEqual(options);
	});
	fc.assert(property, { seed: SEED, numRuns: 5_000 });
	expect(signed).toBeGreaterThan(20);
});
