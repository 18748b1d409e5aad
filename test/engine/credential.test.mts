import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { createEngine, type Engine, loadPackage } from '../support/engine.mts';
import { type SpawnedSandbox, startSandbox } from '../support/sandbox.mts';

let sandbox: SpawnedSandbox;
let engine: Engine;

beforeAll(async () => {
	sandbox = await startSandbox(['--days', '1']);
	engine = await createEngine(loadPackage());
});

afterAll(async () => {
	await engine.close();
	await sandbox.close();
});

const check = async (data: ICredentialDataDecryptedObject) => {
	await sandbox.control.clearRequests();
	const result = await engine.testCredential('lifelogApi', data);
	return { ...result, requests: await sandbox.control.requests() };
};

describe('the test of the credential', () => {
	test.each(['', '/', '///', ' '])(
		'says yes to a good key, with %p behind the Base URL',
		async (end) => {
			const { apiKey, url } = sandbox;
			const { ok, requests } = await check({ apiKey, baseUrl: `${url}${end}` });
			expect(ok).toBe(true);
			expect(requests).toMatchObject([{ method: 'GET', path: '/v1/chats', query: { limit: '1' } }]);
		},
	);

	test('says no to a bad key', async () => {
		const { ok, message } = await check({ apiKey: 'wrong', baseUrl: sandbox.url });
		expect(ok).toBe(false);
		expect(message).toContain('The API key was refused');
	});

	test.each(['http://example.com', 'http://10.0.0.1:8080', 'ftp://localhost', 'nonsense'])(
		'says no to the Base URL %s without sending anything',
		async (baseUrl) => {
			const { ok, message } = await check({ apiKey: 'k', baseUrl });
			expect(ok).toBe(false);
			expect(message).toContain('Base URL');
		},
	);

	/** The test's result at a service that answers everything the same. */
	const checkAt = async (status: number, headers: Record<string, string>, body = '') => {
		const server = createServer((_request, response) => {
			response.writeHead(status, headers).end(body);
		});
		await once(server.listen(0, '127.0.0.1'), 'listening');
		const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const result = await check({ apiKey: sandbox.apiKey, baseUrl });
		server.close();
		return result;
	};

	test.each([301, 302, 303, 307, 308])(
		'says no to a service that redirects with %p, and does not follow',
		async (status) => {
			const location = `${sandbox.url}/v1/chats`;
			const { ok, message, requests } = await checkAt(status, { location });
			expect(ok).toBe(false);
			expect(message).toContain('redirects to another address');
			expect(requests).toEqual([]);
		},
	);

	test.each([
		[404, 'There is no such service'],
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
	])('says no to %s that is not the service: %s', async (type, body) => {
		const { ok, message } = await checkAt(200, { 'content-type': type }, body);
		expect(ok).toBe(false);
		expect(message).toContain('is not the service');
	});
});

describe('authenticate', () => {
	const { authenticate } = loadPackage().credentialTypes.lifelogApi;
	const sign = authenticate as (
		credentials: ICredentialDataDecryptedObject,
		options: IHttpRequestOptions,
	) => Promise<IHttpRequestOptions>;
	const credentials = { apiKey: 'secret', baseUrl: 'https://api.example.com/' };

	test('puts the key into the header X-API-Key and nowhere else', async () => {
		const url = 'https://api.example.com/v1/chats';
		const options = { url, headers: { accept: 'application/json' } };
		expect(await sign(credentials, options)).toEqual({
			url,
			headers: { accept: 'application/json', 'X-API-Key': 'secret' },
		});
	});

	test.each([
		{ url: 'https://example.com/v1/chats' },
		{ url: '/v1/chats', baseURL: 'https://example.com' },
		{ url: 'http://api.example.com/v1/chats' },
		{ url: '//example.com/v1/chats' },
	])('refuses to send the key to another host: %j', async (options) => {
		await expect(sign(credentials, options)).rejects.toThrow('only sent to the Base URL');
	});
});
