import {
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAccessFile } from '../../../server/http/auth/accessFile.mts';
import { checkGivenKey } from '../../../server/http/auth/key.mts';
import { sessionSecret } from '../../../server/http/auth/session.mts';
import { writeArchive } from '../../support/archive.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { loopbackTest, posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';
import { buildPage } from '../../support/web.mts';

beforeAll(buildPage);

const lifelogs = ['a', 'b'].map((id, hour) => lifelogOf(id, `2026-03-01T0${hour}:00:00Z`));
const chats = [chatOf('q', '2026-03-01T20:00:00Z')];

describe('a server', () => {
	let folder: string;
	let server: SpawnedServer;
	beforeAll(async () => {
		folder = temporaryFolder();
		await writeArchive(folder, { lifelogs, chats });
		server = await startLifelogServer(folder, ['--rate-limit', '100']);
	});
	afterAll(() => server.close());

	const endpoints = [
		['GET', '/v1/lifelogs'],
		['GET', '/v1/lifelogs/a'],
		['DELETE', '/v1/lifelogs/a'],
		['GET', '/v1/chats'],
		['GET', '/v1/chats/q'],
		['DELETE', '/v1/chats/q'],
		['GET', '/v1/download-audio?startMs=0&endMs=1'],
		['POST', '/mcp'],
		['GET', '/mcp'],
	];

	test.each(endpoints)('%s %s needs the key', async (method, path) => {
		const keys = [
			undefined,
			'',
			'guess',
			serverKey.slice(1),
			`${serverKey}-`,
			serverKey.toUpperCase(),
		];
		for (const key of keys) {
			const headers = key === undefined ? undefined : { 'X-API-Key': key };
			const response = await fetch(server.url + path, { method, headers });
			expect(response.status).toBe(401);
			expect(await response.json()).toEqual({ error: expect.stringContaining('API key') });
			expect(response.headers.get('www-authenticate')).toContain('realm="lifelog-server"');
		}
	});

	test.each(endpoints)('%s %s refuses a script of a web page', async (method, path) => {
		const headers = { origin: 'https://elsewhere.example' };
		expect((await ask(server, path, { method, headers })).status).toBe(403);
	});

	test('the page and /health need no key', async () => {
		const root = await fetch(server.url, { redirect: 'manual' });
		expect(root.status).toBe(200);
		expect(await root.text()).toContain('<title>Lifelogs</title>');
		const health = await fetch(`${server.url}/health`);
		expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
	});

	test('a request may have a full address, as the nodes send by HTTP', async () => {
		const { port } = new URL(server.url);
		const status = await new Promise((resolve, reject) => {
			request({
				host: '127.0.0.1',
				port,
				path: `${server.url}/v1/lifelogs?limit=1`,
				headers: { 'X-API-Key': server.apiKey },
			})
				.on('response', (response) => resolve(response.resume().statusCode))
				.on('error', reject)
				.end();
		});
		expect(status).toBe(200);
	});

	test.each(['/v1/lifelogs/a', '/v1/chats/q', '/v1/lifelogs/none'])(
		'deletes nothing: DELETE %s is answered 403 and names the option',
		async (path) => {
			const response = await ask(server, path, { method: 'DELETE' });
			expect(response.status).toBe(403);
			expect(await response.json()).toEqual({ error: expect.stringContaining('--allow-delete') });
			if (!path.endsWith('none')) expect((await ask(server, path)).status).toBe(200);
		},
	);

	test('serves a new day without a restart', async () => {
		await writeArchive(folder, { lifelogs: [lifelogOf('new', '2026-03-02T08:00:00Z')] });
		// By its log, which the rate limit does not count.
		const path = '/v1/lifelogs/new';
		await until(async () => {
			await sleep(500);
			return (await ask(server, path)).status === 200;
		});
	});

	test('logs nothing about requests and responses', () => {
		expect(server.log).toEqual([]);
	});

	test('limits requests to --rate-limit', async () => {
		const statuses: number[] = [];
		for (let n = 0; n < 101; n += 1) statuses.push((await ask(server, '/v1/chats?limit=1')).status);
		expect(statuses.at(-1)).toBe(429);
		const { error, retryAfter } = await (await ask(server, '/v1/chats')).json();
		expect([error, retryAfter]).toEqual([
			expect.stringContaining('rate limited'),
			expect.stringMatching(/^\d+$/),
		]);
		expect((await fetch(`${server.url}/health`)).status).toBe(200);

		const asBearer = await fetch(`${server.url}/mcp`, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${server.apiKey}`,
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
		});
		expect(asBearer.status).toBe(429);
	});

	test("doesn't count requests with a wrong key", async () => {
		const headers = { 'x-api-key': 'a guess' };
		for (let n = 0; n < 101; n += 1) {
			expect((await fetch(`${server.url}/nowhere`, { headers })).status).toBe(404);
		}
	});
});

describe('the key', () => {
	test('is made at the first start from a program, shown once, and stored as a hash', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const first = await startLifelogServer(folder, [], {});
		expect(first.apiKey).toMatch(/^[\w-]{43}$/);
		expect((await ask(first, '/v1/lifelogs')).status).toBe(200);
		await first.close();
		const path = join(folder, '.lifelog-index.sqlite.key');
		const hash = createHash('sha256').update(first.apiKey).digest('hex');
		expect(readAccessFile(path).keys).toEqual([expect.objectContaining({ id: 'first', hash })]);
		expect(readFileSync(path, 'utf8')).not.toContain(first.apiKey);
		if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
		const second = await startLifelogServer(folder, ['--host', '127.0.0.1'], {});
		expect(second.apiKey).toBeUndefined();
		expect((await ask({ ...second, apiKey: first.apiKey }, '/v1/lifelogs')).status).toBe(200);
		await second.close();
		writeFileSync(path, first.apiKey);
		await expect(startLifelogServer(folder, [], {})).rejects.toThrow('contains no hash of a key');
		rmSync(path);
		const third = await startLifelogServer(folder, [], {});
		expect(third.apiKey).not.toBe(first.apiKey);
		await third.close();
	});

	test('of an earlier version, whose file has one hash, is accepted as before', async () => {
		const folder = temporaryFolder();
		const path = join(folder, '.lifelog-index.sqlite.key');
		const old = 'an-old-key';
		writeFileSync(path, `${createHash('sha256').update(old).digest('hex')}\n`);
		const ofFile = await startLifelogServer(folder, ['--allow-delete'], {});
		expect(ofFile.apiKey).toBeUndefined();
		const statusOf = async (server: SpawnedServer, method = 'GET') =>
			(await ask({ ...server, apiKey: old }, '/v1/lifelogs/none', { method })).status;
		expect([await statusOf(ofFile), await statusOf(ofFile, 'DELETE')]).toEqual([404, 404]);
		await ofFile.close();
		// A key that the owner gives takes its place.
		const given = await startLifelogServer(folder);
		expect(await statusOf(given)).toBe(401);
		await given.close();
		const again = await startLifelogServer(folder, [], {});
		expect(await statusOf(again)).toBe(404);
		await again.close();
	});

	test.each(['', 'short'])('a session secret that was cut to %j is replaced', (left) => {
		const path = join(temporaryFolder(), 'session');
		const secretOf = () => {
			writeFileSync(path, left);
			return sessionSecret(path);
		};
		expect(secretOf()).not.toBe(secretOf());
		expect(sessionSecret(path)).toBe(sessionSecret(path));
		expect(readdirSync(join(path, '..'))).toEqual(['session']);
	});

	test('is made again if its file is empty', async () => {
		const folder = temporaryFolder();
		writeFileSync(join(folder, '.lifelog-index.sqlite.key'), '');
		const server = await startLifelogServer(folder, [], {});
		expect((await ask(server, '/v1/lifelogs')).status).toBe(200);
		await server.close();
	});

	test('is made again if it was never shown, for example if the port was taken', async () => {
		const other = await startLifelogServer(temporaryFolder());
		const folder = temporaryFolder();
		const taken = ['--port', new URL(other.url).port];
		await expect(startLifelogServer(folder, taken, {})).rejects.toThrow('is taken');
		const server = await startLifelogServer(folder, [], {});
		expect(server.apiKey).toMatch(/^[\w-]{43}$/);
		expect((await ask(server, '/v1/lifelogs')).status).toBe(200);
		await Promise.all([server.close(), other.close()]);
	});

	test('is refused if it is empty', () => {
		expect(() => checkGivenKey('')).toThrow('The key in LIFELOG_SERVER_KEY is empty');
	});

	test.each(['with a blank', 'schlüssel', 'two\nlines'])('%j is refused', (given) => {
		expect(() => checkGivenKey(given)).toThrow('because it is sent in a header');
	});

	loopbackTest('of 31 characters serves only this machine', async () => {
		const folder = temporaryFolder();
		const env = { LIFELOG_SERVER_KEY: 'k'.repeat(31) };
		await expect(startLifelogServer(folder, ['--host', '0.0.0.0'], env)).rejects.toThrow(
			'the key in LIFELOG_SERVER_KEY needs 32 characters or more',
		);
		const near = await startLifelogServer(folder, [], env);
		await expect(fetch(near.url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow('fetch failed');
		await near.close();
		const far = await startLifelogServer(folder, ['--host', '0.0.0.0'], {
			LIFELOG_SERVER_KEY: 'k'.repeat(32),
		});
		const url = `http://127.0.0.2:${new URL(far.url).port}`;
		expect((await ask({ ...far, url }, '/v1/lifelogs')).status).toBe(200);
		await far.close();
	});
});

/** What the command prints of an archive until it serves it; it is stopped then. */
async function toldBy(folder: string, args: string[] = []): Promise<string> {
	const { child, exited } = spawnLifelogServer(folder, args, {}, []);
	let told = '';
	child.stdout!.on('data', (piece) => (told += String(piece)));
	await until(() => /Deleting/.test(told));
	child.kill();
	await exited;
	return told;
}

describe('the command', () => {
	test.each([
		[['--port', 'many'], '--port must be a whole number from 0 to 65535'],
		[['--rate-limit', '0'], '--rate-limit must be a whole number from 1'],
		[['--read-only', '--allow-delete'], "can't be used together"],
		[['another'], "Unknown argument 'another'"],
		[['--wings'], "Unknown option '--wings'"],
	])('%j is refused with a clear message', async (args, message) => {
		await expect(startLifelogServer(temporaryFolder(), args)).rejects.toThrow(message);
	});

	test("reports a folder that doesn't exist", async () => {
		const folder = join(temporaryFolder(), 'none');
		await expect(startLifelogServer(folder)).rejects.toThrow(`There is no folder ${folder}`);
	});

	posixTest("reports a folder that can't be opened", async () => {
		const folder = join(temporaryFolder(), 'circle');
		symlinkSync('circle', folder, 'dir');
		const started = startLifelogServer(folder);
		await expect(started).rejects.toThrow(`The folder ${folder} can't be opened (ELOOP)`);
	});

	test('reports a port that is taken', async () => {
		const folder = temporaryFolder();
		const first = await startLifelogServer(folder);
		const { port } = new URL(first.url);
		const index = join(temporaryFolder(), 'index');
		await expect(startLifelogServer(folder, ['--port', port, '--index', index])).rejects.toThrow(
			`Port ${port} is taken. Choose another one: --port ${Number(port) + 1}`,
		);
		await first.close();
	});

	test('reports while it runs that a day was removed from the folder', async () => {
		const folder = temporaryFolder();
		const [path] = await writeArchive(folder, { lifelogs });
		await writeArchive(folder, { lifelogs: [lifelogOf('other', '2026-03-02T08:00:00Z')] });
		const server = await startLifelogServer(folder);
		renameSync(join(folder, path), join(folder, 'elsewhere'));
		await until(() => server.log.length > 0);
		expect(server.log).toEqual(['Days that are no longer in the folder: 1 of 2']);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(404);
		renameSync(join(folder, 'elsewhere'), join(folder, path));
		await until(async () => (await ask(server, '/v1/lifelogs/a')).status === 200);
		expect(server.log).toHaveLength(1);
		await server.close();
	});

	test('reports while it runs that all days are missing, and keeps serving them', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const server = await startLifelogServer(folder);
		renameSync(join(folder, 'days'), join(folder, 'elsewhere'));
		await until(() => server.log.length > 0);
		expect(server.log).toEqual([
			"Cannot look for new days: The archive's folder is missing: connect its drive, then try again",
		]);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
		renameSync(join(folder, 'elsewhere'), join(folder, 'days'));
		await writeArchive(folder, { lifelogs: [lifelogOf('new', '2026-03-02T08:00:00Z')] });
		await until(async () => (await ask(server, '/v1/lifelogs/new')).status === 200);
		expect(server.log).toHaveLength(1);
		await server.close();
	});

	test('reports a removed day even if another day appears at the same time', async () => {
		const folder = temporaryFolder();
		const [path] = await writeArchive(folder, { lifelogs });
		const server = await startLifelogServer(folder);
		renameSync(join(folder, path), join(folder, path.replace('2026-03-01', '2026-03-02')));
		await until(() => server.log.length > 1);
		expect(server.log).toEqual([
			expect.stringMatching(/^Left out: days\/2026-03-02_.* isn't a day manifest$/),
			'Days that are no longer in the folder: 1 of 1',
		]);
		await server.close();
	});

	test('shows its address, its data and the missing days', async () => {
		const folder = temporaryFolder();
		const day = (date: string) => lifelogOf(date, `${date}T08:00:00Z`);
		await writeArchive(folder, {
			lifelogs: ['2026-03-01', '2026-03-02', '2026-03-05', '2026-03-07'].map(day),
			chats,
		});
		const told = await toldBy(folder);
		expect(told).toMatch(/Address {7}http:\/\/127\.0\.0\.1:\d+\n/);
		expect(told).toMatch(/API key +none yet \(make one on the page, under Connect\)\n/);
		expect(told).toMatch(/Data +4 lifelogs, 1 chat, 0 audio files/);
		expect(told).toMatch(/Days +2026-03-01 to 2026-03-07 \(UTC\)/);
		expect(told).toMatch(/Missing +3: 2026-03-03 to 2026-03-04, 2026-03-06\n/);
		expect(told).not.toContain('Left out');
		expect(told).toMatch(/Search +full text/);
	});

	test('shows at every start what is left out, and how to sign in, but no key and no link', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const day = readdirSync(join(folder, 'days'))[0].slice(0, 10);
		writeFileSync(join(folder, 'days', `${day}_0000000000000000.json`), '{"version": 1,');
		for (let start = 1; start <= 2; start += 1) {
			const told = await toldBy(folder);
			expect(told).toMatch(/Left out +1 file, missing or broken\n/);
			expect(told).toContain(`make a link: npm run server -- link "${folder}"\n`);
			expect(told).not.toMatch(/[\w-]{43}|#link/);
		}
	});

	test('says that a folder has no archive yet, how to make one, and that it serves other machines', async () => {
		const told = await toldBy(temporaryFolder(), ['--host', '0.0.0.0']);
		expect(told).toMatch(/:\d+, and every other address of this machine\n/);
		expect(told).toMatch(/Data +0 lifelogs, 0 chats, 0 audio files\n/);
		expect(told).toMatch(/Days +none yet \(to add some, open the address in a browser\)\n/);
	});
});

describe('the first index', () => {
	const many = Array.from({ length: 40 }, (_, day) =>
		Array.from({ length: 25 }, (__, n) =>
			lifelogOf(`${day}-${n}`, new Date(Date.UTC(2026, 0, 1 + day, 8, n)).toISOString()),
		),
	).flat();

	test('is rebuilt if it is damaged after its first page', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs, chats });
		const first = await startLifelogServer(folder);
		await first.close();
		const index = join(folder, '.lifelog-index.sqlite');
		writeFileSync(index, readFileSync(index).fill(7, 4096));
		const second = await startLifelogServer(folder);
		expect((await ask(second, '/v1/lifelogs/a')).status).toBe(200);
		expect(second.log[0]).toMatch(/^The index .* is damaged \(.*\), and is being rebuilt$/);
		await second.close();
	});

	test('serves 200 connections at the same time', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs: many });
		const server = await startLifelogServer(folder);
		const statuses = await Promise.all(
			Array.from({ length: 200 }, async (_, n) => {
				const response = await ask(server, `/v1/lifelogs?limit=25&search=title OR ${n}`);
				await response.text();
				return response.status;
			}),
		);
		expect(new Set(statuses)).toEqual(new Set([200]));
		await server.close();
	});
});

describe('with --allow-delete', () => {
	const title = 'Saffron';

	test('a delete removes the files after it has rewritten the day manifest', async () => {
		const folder = temporaryFolder();
		const more = { title, updatedAt: '2026-03-08T00:00:00.000Z' };
		const moved = lifelogOf('b', '2026-02-28T10:00:00Z', more);
		const [day] = await writeArchive(folder, { lifelogs, chats });
		await writeArchive(folder, { lifelogs: [moved] });
		const server = await startLifelogServer(folder, ['--allow-delete']);
		const before = JSON.parse(readFileSync(join(folder, day), 'utf8'));
		const remove = async (path: string) => (await ask(server, path, { method: 'DELETE' })).json();

		expect(await remove('/v1/lifelogs/b')).toEqual({ success: true });
		expect((await ask(server, '/v1/lifelogs/b')).status).toBe(404);
		expect(await remove('/v1/lifelogs/b')).toEqual({ error: 'Lifelog not found' });
		expect(await remove('/v1/chats/q')).toEqual({ data: { success: true } });
		expect((await ask(server, '/v1/chats/q')).status).toBe(404);
		const { data } = await (await ask(server, '/v1/lifelogs')).json();
		expect(data.lifelogs.map(({ id }: { id: string }) => id)).toEqual(['a']);
		await server.close();

		const gone = [...before.lifelogs.b.files, ...before.chats.q.files];
		for (const { path } of gone) expect(() => statSync(join(folder, path))).toThrow('ENOENT');
		for (const { path } of before.lifelogs.a.files) statSync(join(folder, path));
		// The service still has both, so the day keeps its version, and thus its name.
		const left = JSON.parse(readFileSync(join(folder, day), 'utf8'));
		const tombstone = { files: [], deletedAt: expect.any(String) };
		expect(left).toMatchObject({
			day: '2026-03-01',
			lifelogs: { a: before.lifelogs.a, b: tombstone },
			chats: { q: tombstone },
			isComplete: true,
		});
		expect(Date.parse(left.archivedAt)).toBeGreaterThan(Date.parse(before.archivedAt));

		const again = await startLifelogServer(folder, ['--index', join(temporaryFolder(), 'index')]);
		expect((await ask(again, '/v1/lifelogs/b')).status).toBe(404);
		expect((await ask(again, '/v1/lifelogs/a')).status).toBe(200);
		expect(again.log).toEqual([]);
		await again.close();
	});
});
