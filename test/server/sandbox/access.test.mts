import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client } from './client.mts';
import { loopbackTest } from '../../support/platform.mts';

let sandbox: TestSandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox({ apiKey: 'open sesame', days: 1 });
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ lifelogs: 3, days: 1 });
});

// Every endpoint needs the key, as test/server/api/server.test.mts says: the routes are the same.
const endpoints = [
	['GET', '/v1/lifelogs'],
	['DELETE', '/v1/chats/x'],
	['POST', '/mcp'],
];

loopbackTest('it can be reached only at 127.0.0.1', async () => {
	// Also an address of this machine: what listens on all of them is reached there too.
	const elsewhere = sandbox.url.replace('127.0.0.1', '127.0.0.2');
	expect(elsewhere).not.toBe(sandbox.url);
	await expect(fetch(elsewhere)).rejects.toThrow('fetch failed');
});

describe('API key', () => {
	test('a given key is shown and accepted', async () => {
		expect(sandbox.apiKey).toBe('open sesame');
		expect(await client.get('/v1/lifelogs')).toMatchObject({ status: 200 });
	});

	test.each(endpoints)('%s %s needs the key', async (method, path) => {
		for (const headers of [undefined, { 'X-API-Key': 'guess' }]) {
			const response = await fetch(sandbox.url + path, { method, headers });
			expect(response.status).toBe(401);
			expect(await response.json()).toEqual({ error: expect.stringContaining('API key') });
			expect(response.headers.get('www-authenticate')).toMatch(/^[\w-]+ realm="lifelog sandbox"/);
		}
	});

	test.each(endpoints)('%s %s refuses a script of a web page', async (method, path) => {
		const headers = { 'X-API-Key': sandbox.apiKey, origin: 'https://elsewhere.example' };
		const response = await fetch(sandbox.url + path, { method, headers });
		expect(response.status).toBe(403);
	});

	test('the root redirects without the key', async () => {
		const response = await fetch(sandbox.url, { redirect: 'manual' });
		expect(response.status).toBe(302);
		expect(response.headers.get('location')).toMatch(/^https:/);
	});

	test('an unknown path is answered 404 in JSON', async () => {
		expect(await client.get('/v2/lifelogs')).toMatchObject({
			status: 404,
			body: { error: 'There is no endpoint GET /v2/lifelogs' },
		});
	});
});

describe('rate limit', () => {
	const limit = (max: number, windowMs: number) =>
		sandbox.control.dialect({ rateLimit: { max, windowMs } });

	test("is 180 a minute for all endpoints, and a rejected request isn't counted", async () => {
		const statuses = [];
		for (let n = 0; n < 190; n += 1) {
			const path = ['/v1/lifelogs', '/v1/chats', '/v1/chats/x', '/nowhere'][n % 4];
			statuses.push((await client.get(path)).status);
		}
		expect(statuses.slice(0, 180)).not.toContain(429);
		expect(new Set(statuses.slice(180))).toEqual(new Set([429]));
	});

	test('answers according to the contract, with the real time to wait', async () => {
		await limit(1, 60_000);
		await client.get('/v1/lifelogs');
		const { status, body, headers, checked } = await client.get('/v1/lifelogs');
		expect(status).toBe(429);
		expect(checked).toBe(true);
		expect(body).toEqual({ error: expect.stringContaining('rate limited'), retryAfter: '60' });
		expect(headers.get('retry-after')).toBeNull();
	});

	test('the window slides', async () => {
		await limit(2, 1_000);
		const get = async () => (await client.get('/v1/chats')).status;
		const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
		expect(await get()).toBe(200);
		await wait(600);
		expect([await get(), await get()]).toEqual([200, 429]);
		await wait(500);
		expect([await get(), await get()]).toEqual([200, 429]);
	});

	test("requests without a valid key aren't counted", async () => {
		await limit(1, 60_000);
		const stranger = clientOf(sandbox, 'guess');
		expect(await stranger.get('/v1/lifelogs')).toMatchObject({ status: 401 });
		expect(await stranger.get('/v1/lifelogs')).toMatchObject({ status: 401 });
		expect(await client.get('/v1/lifelogs')).toMatchObject({ status: 200 });
	});

	test.each([
		['headerSeconds', /^60$/],
		['headerDate', /^Fri, 20 Mar 2026 20:01:00 GMT$/],
		['none', undefined],
	] as const)('returns the wait by %s', async (retryAfter, pattern) => {
		await sandbox.control.reset({ now: '2026-03-20T20:00:00Z', days: 1 });
		await sandbox.control.dialect({ retryAfter, rateLimit: { max: 0 } });
		const response = await fetch(`${sandbox.url}/v1/chats`, {
			headers: { 'X-API-Key': sandbox.apiKey },
		});
		expect(response.status).toBe(429);
		expect(await response.json()).toEqual({ error: expect.any(String) });
		if (pattern) expect(response.headers.get('retry-after')).toMatch(pattern);
		else expect(response.headers.get('retry-after')).toBeNull();
	});
});
