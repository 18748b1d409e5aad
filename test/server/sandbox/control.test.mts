import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { faultsSchema } from '../../../server/sandbox/faults.mts';
import { controlOf, startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client } from './client.mts';
import { posixTest } from '../../support/platform.mts';

let sandbox: TestSandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 2 });
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ now: '2026-03-20T20:00:00Z', lifelogs: 5, days: 1 });
});

const now = '2026-03-20T20:00:00.000Z';

describe('data', () => {
	test('a lifelog is added with its missing fields filled in', async () => {
		const added = await sandbox.control.addLifelog();
		expect(added).toMatchObject({ startTime: '2026-03-20T19:55:00.000Z', endTime: now });
		expect(added).toMatchObject({ isStarred: false, updatedAt: now });
		const { body, checked } = await client.get(`/v1/lifelogs/${added.id}`);
		expect(checked).toBe(true);
		expect(body.data.lifelog).toEqual(added);
		expect(added.markdown).toContain(`# ${added.title}`);
	});

	test('a given lifelog keeps its fields, also unknown fields and node types', async () => {
		const contents = [{ type: 'photo', content: 'a hill', children: [], mood: 'calm' }];
		const given = { id: 'x', startTime: '2026-03-01T10:00:00+02:00', contents, weather: 'fine' };
		await sandbox.control.addLifelog(given);
		const { body } = await client.get('/v1/lifelogs/x');
		expect(body.data.lifelog).toMatchObject({
			...given,
			startTime: '2026-03-01T08:00:00.000Z',
			endTime: '2026-03-01T08:05:00.000Z',
		});
	});

	test('a change moves updatedAt to now, unless you set it', async () => {
		const [{ id }] = await sandbox.control.lifelogs();
		await sandbox.control.clock('2026-03-21T08:00:00Z');
		expect(await sandbox.control.updateLifelog(id, { title: 'Renamed' })).toMatchObject({
			title: 'Renamed',
			markdown: expect.stringMatching(/^# Renamed\n/),
			updatedAt: '2026-03-21T08:00:00.000Z',
		});
		const updatedAt = '2026-03-20T21:00:00.000Z';
		const starred = await sandbox.control.updateLifelog(id, { isStarred: true, updatedAt });
		expect(starred).toMatchObject({ title: 'Renamed', isStarred: true, updatedAt });
	});

	test('a lifelog is deleted', async () => {
		const [first, ...rest] = await sandbox.control.lifelogs();
		await sandbox.control.deleteLifelog(first.id);
		expect(await sandbox.control.lifelogs()).toEqual(rest);
		await expect(sandbox.control.deleteLifelog(first.id)).rejects.toThrow('404');
		await expect(sandbox.control.updateLifelog(first.id, {})).rejects.toThrow('404');
	});

	test('chats are added, changed and deleted', async () => {
		const added = await sandbox.control.addChat({ globalPromptId: 'p1' });
		const listed = await client.get('/v1/chats', { globalPromptId: 'p1' });
		expect(listed.checked).toBe(true);
		expect(listed.body.data.chats).toMatchObject([{ id: added.id, createdAt: now }]);
		await sandbox.control.updateChat(added.id, { summary: null, messages: [] });
		const { body } = await client.get(`/v1/chats/${added.id}`);
		expect(body.data.chat).toMatchObject({ summary: null, messages: [] });
		await sandbox.control.deleteChat(added.id);
		expect(await client.get(`/v1/chats/${added.id}`)).toMatchObject({ status: 404 });
		await expect(sandbox.control.deleteChat(added.id)).rejects.toThrow('404');
	});

	test('lifelogs can all have the same length', async () => {
		await sandbox.control.reset({ lifelogs: 30, days: 1, markdownBytes: 4096 });
		const lifelogs = await sandbox.control.lifelogs();
		expect(lifelogs).toHaveLength(30);
		for (const { markdown, title } of lifelogs) {
			expect(Buffer.byteLength(markdown!)).toBe(4096);
			expect(markdown!.slice(0, 8)).toBe(`# ${title}`.slice(0, 8));
		}
	});

	test('invalid values are refused', async () => {
		await expect(sandbox.control.addLifelog({ startTime: 'noon' })).rejects.toThrow('400');
		await expect(sandbox.control.reset({ day: 1 } as object)).rejects.toThrow('400');
		await expect(sandbox.control.clock('noon')).rejects.toThrow('400');
	});
});

describe('clock', () => {
	test('is the real clock until it is set', async () => {
		await sandbox.control.reset({ empty: true });
		const real = Date.parse((await sandbox.control.status()).now);
		expect(Math.abs(real - Date.now())).toBeLessThan(60_000);
		await sandbox.control.clock('2030-01-01T00:00:00Z');
		const { headers } = await client.get('/v1/lifelogs');
		expect(headers.get('date')).toBe('Tue, 01 Jan 2030 00:00:00 GMT');
		await sandbox.control.clock(null);
		expect((await sandbox.control.status()).now).not.toMatch(/^2030/);
	});
});

describe('requests', () => {
	test('are logged unchanged, without the key', async () => {
		await client.get('/v1/lifelogs/a%2Fb', { timezone: 'Asia/Tokyo' });
		await fetch(`${sandbox.url}/v1/chats`);
		const requests = await sandbox.control.requests();
		const [first, second] = requests;
		expect(requests).toHaveLength(2);
		expect(first).toEqual({
			at: expect.any(Number),
			method: 'GET',
			path: '/v1/lifelogs/a%2Fb',
			query: { timezone: 'Asia/Tokyo' },
			status: 404,
			keyed: true,
		});
		expect(Math.abs(first.at - Date.now())).toBeLessThan(60_000);
		expect(second).toMatchObject({ status: 401, keyed: false });
		expect(JSON.stringify(requests)).not.toContain(sandbox.apiKey);
		await sandbox.control.clearRequests();
		expect(await sandbox.control.requests()).toEqual([]);
	});

	test('rejected requests and MCP requests are logged with their status', async () => {
		await sandbox.control.dialect({ rateLimit: { max: 0 } });
		await client.get('/v1/lifelogs');
		await fetch(`${sandbox.url}/mcp`);
		const statuses = (await sandbox.control.requests()).map(({ status }) => status);
		expect(statuses).toEqual([429, 401]);
	});
});

describe('a browser', () => {
	/** The status of a request with these headers, which `fetch` would not send. */
	const statusOf = async (headers: Record<string, string>, method = 'POST', path = '/reset') => {
		const sent = request(sandbox.controlUrl + path, { method, headers }).end();
		const [response] = (await once(sent, 'response')) as [IncomingMessage];
		response.resume();
		return response.statusCode;
	};
	const own = (name: string) => `${name}:${new URL(sandbox.controlUrl).port}`;

	test.each([
		['a page of another host', { origin: 'https://elsewhere.example' }],
		['a page of a file', { origin: 'null' }],
		['a page of this machine', { origin: 'http://localhost:3000' }],
		['a page that leaves its origin out', { 'sec-fetch-site': 'cross-site' }],
		['a page of the same site', { 'sec-fetch-site': 'same-site' }],
		['a page whose name was pointed to this machine', { host: 'rebound.example' }],
		['the same with the port', { host: 'rebound.example:8787' }],
		['a name that only begins as one of this machine', { host: '127.0.0.1.rebound.example' }],
		['a name that only ends as one', { host: 'not-localhost' }],
	])("can't control the sandbox: %s", async (_name, headers: Record<string, string>) => {
		const before = await sandbox.control.lifelogs();
		expect(await statusOf(headers)).toBe(403);
		expect(await statusOf(headers, 'GET', '/lifelogs')).toBe(403);
		expect(await statusOf(headers, 'DELETE', `/lifelogs/${before[0].id}`)).toBe(403);
		expect(await sandbox.control.lifelogs()).toEqual(before);
	});

	test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])(
		'can read the status at %s',
		async (name) => {
			const headers = { host: own(name), 'sec-fetch-site': 'none' };
			expect(await statusOf(headers, 'GET', '/status')).toBe(200);
		},
	);
});

describe('faults', () => {
	const path = '/v1/lifelogs';
	// Not the client, which accepts only what the contract knows.
	const ask = async (at = path) =>
		await fetch(sandbox.url + at, { headers: { 'X-API-Key': sandbox.apiKey } });
	const status = async (at = path) => (await ask(at)).status;

	test('answer instead of the service, the given number of times', async () => {
		await sandbox.control.faults([
			{ path, status: 503, body: { error: 'busy' }, times: 2, skip: 1 },
		]);
		expect([await status(), await status('/v1/chats')]).toEqual([200, 200]);
		const failed = await ask();
		expect([failed.status, await failed.json()]).toEqual([503, { error: 'busy' }]);
		expect([await status(), await status()]).toEqual([503, 200]);
	});

	test('have a method, headers and any body', async () => {
		await sandbox.control.faults([
			{ method: 'delete', status: 500 },
			{ status: 429, headers: { 'retry-after': '7' }, body: '<h1>no</h1>' },
		]);
		const response = await ask();
		expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
		expect(await response.text()).toBe('<h1>no</h1>');
		expect(await status()).toBe(200);
	});

	test('can only add headers or only add a delay', async () => {
		await sandbox.control.faults([{ headers: { 'x-odd': '1' }, delayMs: 150 }]);
		const start = performance.now();
		const { headers, status: answered } = await client.get(path);
		expect(performance.now() - start).toBeGreaterThan(140);
		expect([answered, headers.get('x-odd')]).toEqual([200, '1']);
	});

	test('break the connection before or after the request took effect', async () => {
		const [{ id }] = await sandbox.control.lifelogs();
		await sandbox.control.faults([{ reset: 'before' }, { reset: 'after' }]);
		await expect(client.delete(`${path}/${id}`)).rejects.toThrow();
		expect(await sandbox.control.lifelogs()).toHaveLength(5);
		await expect(client.delete(`${path}/${id}`)).rejects.toThrow();
		expect(await sandbox.control.lifelogs()).toHaveLength(4);
		const statuses = (await sandbox.control.requests()).map((request) => request.status);
		expect(statuses).toEqual([null, 200]);
	});

	test('cut a response in half', async () => {
		const [lifelog] = await sandbox.control.lifelogs();
		const range = `startMs=${Date.parse(lifelog.startTime)}&endMs=${Date.parse(lifelog.endTime)}`;
		for (const target of [`${path}/${lifelog.id}`, `/v1/download-audio?${range}`]) {
			const whole = Buffer.from(await (await ask(target)).arrayBuffer());
			await sandbox.control.faults([{ cutBody: true }]);
			const cut = await ask(target);
			expect(cut.headers.get('content-length')).toBe(String(whole.length));
			const received: Uint8Array[] = [];
			const sink = new WritableStream<Uint8Array>({ write: (chunk) => void received.push(chunk) });
			await expect(cut.body?.pipeTo(sink)).rejects.toThrow();
			const half = whole.subarray(0, Math.floor(whole.length / 2));
			expect(half.equals(Buffer.concat(received))).toBe(true);
		}
	});

	test('are validated', async () => {
		await expect(sandbox.control.faults([{ state: 500 } as object])).rejects.toThrow('400');
	});

	test.each(Object.keys(faultsSchema.items.properties))('%s is in the README', (field) => {
		expect(/^A fault: .*$/m.exec(readFileSync('server/sandbox/README.md', 'utf8'))![0]).toContain(
			`\`${field}\``,
		);
	});
});

describe('the command', () => {
	const run = (...args: string[]) =>
		spawn(process.execPath, [join(process.cwd(), 'server', 'sandbox', 'main.mts'), ...args]);

	posixTest('shows what the sandbox has, and stops on SIGTERM', async () => {
		const child = run('--port', '0', '--days', '2', '--now', '2026-03-20T20:00:00Z');
		let output = '';
		for await (const chunk of child.stdout) {
			output += chunk;
			if (output.includes('curl')) break;
		}
		expect(output).toContain('2026-03-19 to 2026-03-20');
		expect(output).toContain('/mcp');
		const control = /Control +(http:\S+)/.exec(output)?.[1] ?? '';
		expect(await controlOf(control).status()).toMatchObject({ now });
		child.kill('SIGTERM');
		expect(await once(child, 'exit')).toEqual([0, null]);
	});

	test.each([
		['--port', []],
		['--control-port', ['--port', '0']],
	])('says so when the port of %s is taken', async (option, others) => {
		const port = Number(new URL(sandbox.url).port);
		const child = run(...others, option, String(port));
		expect(await text(child.stderr)).toBe(
			`Port ${port} is taken. Choose another one: npm run sandbox -- ${option} ${port + 1}\n`,
		);
		expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(2);
	});

	test.each([
		[['--port', 'many'], '--port must be a whole number'],
		[['--now', 'noon'], '--now must be an ISO date-time'],
		[['--colour'], '--colour'],
	])('refuses %j', async (args, message) => {
		const child = run(...args);
		expect(await text(child.stderr)).toContain(message);
	});
});
