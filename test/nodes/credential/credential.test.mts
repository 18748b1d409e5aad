import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { loadPackage } from '../../support/engine.mts';
import { serve } from '../../support/serve.mts';
import { useNode } from '../../support/useNode.mts';
import { REFUSED } from '../../support/messages.mts';

const { sandbox, engine } = useNode('lifelog');

const check = async (data: ICredentialDataDecryptedObject) => {
	await sandbox.control.clearRequests();
	const result = await engine.testCredential('lifelogApi', data);
	return { ...result, requests: await sandbox.control.requests() };
};

describe('the test of the credential', () => {
	test.each(['', '/', '///', ' ', '/v1', '/v1/'])(
		'accepts a valid key, with %p after the Base URL',
		async (end) => {
			const { apiKey, url } = sandbox;
			const { ok, message, requests } = await check({ apiKey, baseUrl: `${url}${end}` });
			expect([ok, message]).toEqual([true, 'Connection successful!']);
			expect(requests).toMatchObject([{ method: 'GET', path: '/v1/chats', query: { limit: '1' } }]);
		},
	);

	test('refuses a wrong key', async () => {
		const { ok, message } = await check({ apiKey: 'wrong', baseUrl: sandbox.url });
		expect(ok).toBe(false);
		expect(message).toContain('The API key was refused');
	});

	test.each(['http://example.com', 'http://10.0.0.1:8080', 'ftp://localhost', 'nonsense'])(
		'refuses the Base URL %s without sending anything',
		async (baseUrl) => {
			const { ok, message } = await check({ apiKey: 'k', baseUrl });
			expect(ok).toBe(false);
			expect(message).toContain('Base URL');
		},
	);

	/** The test's result at a service that answers everything the same. */
	const checkAt = async (status: number, headers: Record<string, string>, body = '') => {
		const { url: baseUrl, close } = await serve((_request, response) => {
			response.writeHead(status, headers).end(body);
		});
		const result = await check({ apiKey: sandbox.apiKey, baseUrl });
		await close();
		return result;
	};

	test.each([301, 302, 303, 307, 308])(
		"refuses a service that redirects with %p, and doesn't follow",
		async (status) => {
			const location = `${sandbox.url}/v1/chats`;
			const { ok, message, requests } = await checkAt(status, { location });
			expect(ok).toBe(false);
			expect(message).toContain('redirects to another address');
			expect(requests).toEqual([]);
		},
	);

	test.each([
		[404, "doesn't point to a Lifelog API"],
		[429, 'The rate limit'],
		[503, 'The service failed'],
	])('says what a status of %p means', async (status, said) => {
		const { ok, message } = await checkAt(status, {});
		expect(ok).toBe(false);
		expect(message).toContain(said);
	});

	test.each([
		['text/html', '<!doctype html><title>Welcome</title>'],
		['application/json', '{"data":{"users":[]}}'],
	])("refuses %s that isn't from the service: %s", async (type, body) => {
		const { ok, message } = await checkAt(200, { 'content-type': type }, body);
		expect(ok).toBe(false);
		expect(message).toMatch(
			/^The 'Base URL' doesn't point to a Lifelog API: http:\/\/127\.0\.0\.1:\d+\. Enter https:\/\/api\.limitless\.ai for Limitless, or the address of your lifelog-server/,
		);
	});

	test('names the address without its path if that points to no Lifelog API', async () => {
		const { apiKey, url } = sandbox;
		const { message } = await check({ apiKey, baseUrl: `${url}/mcp/v1` });
		expect(message).toBe(
			`The 'Base URL' doesn't point to a Lifelog API: ${url}/mcp. Enter ${url}, without a path.`,
		);
	});

	test('names the host that a redirect leads to, and nothing else of its address', async () => {
		const location = 'https://other.example.com/sign-in?token=secret';
		const { message } = await checkAt(302, { location });
		expect(message).toContain('to https://other.example.com: if that is your service');
		expect(message).not.toContain('secret');
	});
});

describe('the test of the credential says what a failed connection means', () => {
	test.each(['127.0.0.1', 'localhost', '[::1]'])('nothing listens at %s', async (host) => {
		const { ok, message } = await check({ apiKey: 'k', baseUrl: `http://${host}:1` });
		expect(ok).toBe(false);
		expect(message).toBe(
			`No answer from ${host}:1: ${REFUSED}. Check that the service runs and listens on this port. If n8n runs in Docker, ${host} is the container itself: enter http://host.docker.internal:1 as the 'Base URL' of the credential, and turn on 'Allow HTTP in a Private Network'.`,
		);
	});

	test('http where https is asked for', async () => {
		const { host } = new URL(sandbox.url);
		const { message } = await check({ apiKey: 'k', baseUrl: `https://${host}` });
		expect(message).toBe(
			`No answer from ${host}: there is no https at this address. Enter http://${host} as the 'Base URL' of the credential.`,
		);
	});

	test('no port', async () => {
		const { message } = await check({ apiKey: 'k', baseUrl: 'http://127.255.255.254' });
		expect(message).toContain("add its port: lifelog-server's is 8787");
	});

	test('an unknown host', async () => {
		const { message } = await check({ apiKey: 'k', baseUrl: 'https://nowhere.invalid' });
		expect(message).toMatch(
			/^No answer from nowhere\.invalid: (there is no host with this name|the host name could not be looked up)\. Check the 'Base URL'/,
		);
	});
});

test.each([undefined, '', ' \t'])('says that the key is missing: %p', async (apiKey) => {
	const { ok, message, requests } = await check({ apiKey, baseUrl: sandbox.url } as never);
	expect(ok).toBe(false);
	expect(message).toBe('The API key is missing. Enter it in the credential.');
	expect(requests).toEqual([]);
});

test('http to a private network is refused, and the error names the option that allows it', async () => {
	const { message } = await check({ apiKey: 'k', baseUrl: 'http://10.255.255.1' });
	expect(message).toContain("'Allow HTTP in a Private Network'");
});

describe('authenticate', () => {
	const { authenticate } = loadPackage().credentialTypes.lifelogApi;
	const sign = authenticate as (
		credentials: ICredentialDataDecryptedObject,
		options: IHttpRequestOptions,
	) => Promise<IHttpRequestOptions>;
	const credentials = { apiKey: ' secret ', baseUrl: 'https://api.example.com/' };
	const noRedirects = {
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		maxRedirects: 0,
	};

	test('puts the key into the header X-API-Key and nowhere else', async () => {
		const url = 'https://api.example.com/v1/chats';
		const options = { url, qs: { limit: 1 }, headers: { accept: 'application/json' } };
		const given = structuredClone(options);
		expect(await sign(credentials, options)).toEqual({
			...noRedirects,
			agentOptions: { rejectUnauthorized: true },
			url,
			qs: { limit: 1 },
			headers: { accept: 'application/json', 'X-API-Key': 'secret' },
		});
		expect(options).toEqual(given);
	});

	test('sends directly to a Base URL with http, and can sign a signed request again', async () => {
		const local = { ...credentials, baseUrl: 'http://[::1]:8787/base/' };
		const options = { url: '/v1/chats', baseURL: 'http://[::1]:8787/base/' };
		const signed = await sign(local, options);
		expect(signed).toEqual({
			...noRedirects,
			url: 'http://[::1]:8787/base/v1/chats',
			proxy: { protocol: 'http', host: '[::1]', port: 8787 },
			headers: { 'X-API-Key': 'secret' },
		});
		expect(await sign(local, signed)).toEqual(signed);
	});

	test.each([
		{ rejectUnauthorized: false },
		{ skipSslCertificateValidation: true },
		{ agentOptions: { rejectUnauthorized: false } },
	])('refuses options that turn off the check of certificates: %j', async (more) => {
		const options = { url: 'https://api.example.com/v1/chats', ...more };
		await expect(sign(credentials, options as never)).rejects.toThrow('is not sent');
	});

	test('keeps a client certificate, and no other option of the agent', async () => {
		const options = {
			url: 'https://api.example.com/v1/chats',
			agentOptions: { ca: 'a', cert: 'b', key: 'c', passphrase: 'd', host: 'e', servername: 'f' },
			...{ socketPath: '/tmp/a.sock', hostname: 'example.com', beforeRedirect: () => {} },
			sendCredentialsOnCrossOriginRedirect: true,
		};
		expect(await sign(credentials, options)).toEqual({
			...noRedirects,
			url: options.url,
			agentOptions: { ca: 'a', cert: 'b', key: 'c', passphrase: 'd', rejectUnauthorized: true },
			headers: { 'X-API-Key': 'secret' },
		});
	});
});
