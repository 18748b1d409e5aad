import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { listOperations, contract } from '../../../server/http/contract.mts';
import { writeArchive } from '../../support/archive.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { serverKey } from '../../support/lifelogServer.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { buildPage } from '../../support/web.mts';

beforeAll(buildPage);

const SEED = Number(process.env.SOAK_SEED ?? 20261121);
const secret = 'Saffron';

interface Sent {
	method: string;
	path: string;
	headers?: Record<string, string>;
	body?: string;
}
interface Answered {
	status: number;
	headers: IncomingHttpHeaders;
	body: string;
}

/** Sends what `fetch` would not. */
function send(url: string, { method, path, headers, body }: Sent): Promise<Answered> {
	return new Promise((resolve, reject) => {
		const { hostname, port } = new URL(url);
		// By itself Node.js does not say how long the body of a GET is.
		const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
		request({ hostname, port, method, path, headers: { ...headers, ...length }, agent: false })
			.on('response', async (response) => {
				const { statusCode = 0 } = response;
				const read = await text(response).catch(() => '');
				resolve({ status: statusCode, headers: response.headers, body: read });
			})
			.on('error', reject)
			.end(body);
	});
}

describe('a server', () => {
	let folder: string;
	let server: SpawnedServer;
	beforeAll(async () => {
		folder = temporaryFolder();
		await writeArchive(folder, {
			lifelogs: [lifelogOf('a', '2026-03-01T08:00:00Z', { title: secret })],
			chats: [{ ...chatOf('q', '2026-03-01T20:00:00Z'), summary: secret }],
		});
		server = await startLifelogServer(folder);
	});
	afterAll(() => server.close());

	const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND', 'TRACE'];

	test('without the key, serves only / and /health, by any method at any path', async () => {
		const ids = ['a', 'q', 'none'];
		const operations = listOperations(contract);
		const paths = new Set([
			...operations.flatMap(({ path }) => ids.map((id) => path.replace(/\{\w+\}/, id))),
			...['/v1', '/v1/', '/v1/lifelogs/', '/v1/lifelogs?search=saffron', '/mcp/', '//', '/%00'],
			...['/days', '/.lifelog-index.sqlite', '/../.lifelog-index.sqlite', '/health/', '/metrics'],
			...['/v1/lifelogs/a?x-api-key=', '/v1/download-audio?startMs=0&endMs=1', '/openapi.yaml'],
		]);
		const withoutKey: Record<string, string>[] = [
			{},
			{ 'x-api-key': 'guess' },
			{ authorization: 'Bearer guess' },
		];
		for (const path of paths) {
			for (const method of methods) {
				for (const headers of withoutKey) {
					const { status, body } = await send(server.url, { method, path, headers });
					if (['GET', 'HEAD'].includes(method) && path === '/') expect(status).toBe(200);
					else expect([400, 401, 404, 405]).toContain(status);
					expect(body.toLowerCase()).not.toMatch(/saffron(?!")/);
					expect(body).not.toContain(folder);
				}
			}
		}
		for (const { method, path, operation } of operations) {
			if (operation.security?.length === 0) continue;
			const { status } = await send(server.url, { method, path: path.replace(/\{\w+\}/, 'a') });
			expect([method, path, status]).toEqual([method, path, 401]);
		}
	});

	test('answers any method, path, header and body without a 500, and logs none of it', async () => {
		const odd = fc.oneof(
			fc.string({ unit: 'binary', maxLength: 60 }),
			fc.constantFrom('', '%', '%ff', '../../../etc/passwd', '{"a":', '[]', 'null', '\u0000'),
		);
		const path = fc
			.tuple(
				fc.constantFrom(
					'/v1/lifelogs',
					'/v1/lifelogs/',
					'/v1/chats/',
					'/v1/download-audio',
					'/mcp',
				),
				fc.oneof({ weight: 2, arbitrary: fc.constant('') }, odd.map(encodeURIComponent)),
				fc.dictionary(
					fc.constantFrom(
						'search',
						'cursor',
						'limit',
						'date',
						'timezone',
						'startMs',
						'endMs',
						'a[]',
					),
					odd,
				),
			)
			.map(([start, id, query]) => `${start}${id}?${new URLSearchParams(query)}`);
		const value = fc.oneof(
			fc.string({ maxLength: 40 }).map((string) => string.replaceAll(/[^\x20-\x7e]/g, '?')),
			fc.constantFrom(
				'application/json',
				'text/plain',
				'multipart/form-data',
				'bytes=0-1',
				'*',
				'9',
			),
		);
		const headers = fc.dictionary(
			fc.constantFrom(
				...['accept', 'content-type', 'range', 'if-none-match', 'accept-encoding', 'x-api-key'],
				...['authorization', 'mcp-session-id', 'mcp-protocol-version', 'x-forwarded-for', 'origin'],
				...['last-event-id', 'cookie', 'content-encoding', 'x-http-method-override'],
			),
			value,
		);
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...methods),
				path,
				headers,
				fc.option(odd, { nil: undefined }),
				async (method, target, more, body) => {
					const sent = { method, path: target, headers: { 'x-api-key': serverKey, ...more } };
					const answer = await send(server.url, { ...sent, ...(body !== undefined && { body }) });
					expect(answer.status).toBeLessThan(500);
					expect(answer.body).not.toMatch(/\n {4}at |node_modules/);
				},
			),
			{ seed: SEED, numRuns: 400 },
		);
		expect(server.log).toEqual([]);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
	});

	test('a query as long as a transcript is refused with a clear message, by REST and MCP', async () => {
		const transcript = `"${'bada '.repeat(2_200)}"`;
		const refusal = 'search has 2,200 words, more than 32: search for the words that matter most';
		const rest = await ask(server, `/v1/lifelogs?search=${encodeURIComponent(transcript)}`);
		expect([rest.status, await rest.json()]).toEqual([400, { error: refusal }]);
		const params = { name: 'search_lifelogs', arguments: { query: transcript } };
		const mcp = await ask(server, '/mcp', {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
		});
		const { result } = await mcp.json();
		expect(result).toEqual({ content: [{ type: 'text', text: refusal }], isError: true });
	});

	test('an invalid or endless request does not affect other requests', async () => {
		const port = Number(new URL(server.url).port);
		const sockets: Socket[] = [];
		for (const said of ['GET', '\0\0\0', 'GET / HTTP/9.9\r\n\r\n', 'POST /mcp HTTP/1.1\r\n']) {
			const socket = connect(port, '127.0.0.1').on('error', () => {});
			await once(socket, 'connect');
			socket.write(said);
			sockets.push(socket);
		}
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
		for (const socket of sockets) socket.destroy();
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
		expect(server.log).toEqual([]);
	});

	test('closes the connection of a request that never ends, with the key or without', async () => {
		const port = Number(new URL(server.url).port);
		const drip = async (path: string, type: string, key: object, timeBudgetMs = 100_000) => {
			const socket = connect(port, '127.0.0.1').on('error', () => {});
			const lines = { host: 'x', 'content-type': type, ...key };
			const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
			socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}content-length: 1000\r\n\r\n`);
			const drops = setInterval(() => socket.write(' '), 1000);
			const isOver = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
			const isClosed = await Promise.race([isOver, sleep(timeBudgetMs, false, { ref: false })]);
			clearInterval(drops);
			socket.destroy();
			return isClosed;
		};
		const key = { 'x-api-key': serverKey };
		const form = 'multipart/form-data; boundary=x';
		const closed = await Promise.all([
			...[{}, key].map((one) => drip('/mcp', 'application/json', one)),
			...[{}, key].map((one) => drip('/mcp', form, one)),
			drip('/v1/recordings', form, {}),
			// Only an upload may take long.
			drip('/v1/recordings', form, key, 30_000),
		]);
		expect(closed).toEqual([true, true, true, true, true, false]);
	});

	test.each(['a b', 'x:99999', '[', 'x?#@'])('MCP accepts the Host %j', async (host) => {
		const { status } = await send(server.url, {
			method: 'POST',
			path: '/mcp',
			headers: {
				host,
				'x-api-key': serverKey,
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
		});
		expect(status).toBe(200);
	});
});

test('if the disk is too full for the index, says so, and the next start continues', async () => {
	const folder = temporaryFolder();
	const lifelogs = Array.from({ length: 60 }, (_, n) =>
		lifelogOf(`n${n}`, new Date(Date.UTC(2026, 0, 1 + n)).toISOString(), {
			markdown: `word${n} `.repeat(8_000),
		}),
	);
	await writeArchive(folder, { lifelogs });
	const index = join(folder, '.lifelog-index.sqlite');
	const main = join(process.cwd(), 'server', 'lifelog-server.cjs');
	// No file may get larger than that, in blocks of 512 or 1,024 bytes.
	const limit = 'trap "" XFSZ; ulimit -f 1000; exec "$@"';
	const args = [process.execPath, main, folder, '--json', '--port', '0'];
	const child = spawn('sh', ['-c', limit, 'sh', ...args], {
		env: { ...process.env, LIFELOG_SERVER_KEY: serverKey },
	});
	const told: string[] = [];
	createInterface(child.stderr).on('line', (line) => told.push(line));
	const [code] = await once(child, 'close');
	expect(code).toBe(2);
	expect(told.join('\n')).toMatch(/full|disk I\/O/);
	expect(told.join('\n')).not.toMatch(/\n {4}at |word1/);
	expect(statSync(index).size).toBeLessThanOrEqual(1_024_000);
	const server = await startLifelogServer(folder);
	const { data } = await (await ask(server, '/v1/lifelogs?limit=100')).json();
	expect(data.lifelogs).toHaveLength(60);
	expect(server.log).toEqual([]);
	await server.close();
});
