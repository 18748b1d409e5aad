// What whoever runs a server for years needs of it: its log, its probes, its keys, its files.
import { spawnSync } from 'node:child_process';
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '../../../server/cli/commands.mts';
import { listenProblem } from '../../../server/util/commandLine.mts';
import { freePorts } from '../../support/ports.mts';
import { writeArchive, writeDay } from '../../support/archive.mts';
import { startEmbeddings } from '../../support/embeddings.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { mayMount } from '../../support/mount.mts';
import { posixTest } from '../../support/platform.mts';
import { until } from '../../support/soon.mts';
import { buildPage, send } from '../../support/web.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

const secret = 'Saffron';
const lifelogs = ['a', 'b'].map((id, hour) =>
	lifelogOf(id, `2026-03-01T0${hour}:00:00Z`, { title: secret }),
);
const chats = [chatOf('q', '2026-03-01T20:00:00Z')];
/** What a server that has answered with a 500 is closed with. */
const asFailed = 'the contract has no answer of a server that failed';

/** Has a server load one of the files of test/support before its own program. */
const loading = (name: string, env: Record<string, string>) => ({
	...{ LIFELOG_SERVER_KEY: serverKey, ...env },
	NODE_OPTIONS: `--import=${pathToFileURL(join(process.cwd(), 'test', 'support', name)).href}`,
});

/** Starts a server that has indexed the first of two days, and is not to read the other before `free`. */
async function startHeld(args: string[] = []) {
	const folder = join(temporaryFolder(), 'archive');
	const days = ['2026-03-01', '2026-03-02'];
	await writeArchive(folder, { lifelogs: days.map((day) => lifelogOf(day, `${day}T08:00:00Z`)) });
	const index = join(temporaryFolder(), 'index');
	const [free, reached] = ['free', 'reached'].map((name) => join(temporaryFolder(), name));
	const env = {
		...{ TEST_HELD: '/2026/03/02/', TEST_FREE: free },
		TEST_REACHED: reached,
	};
	const [port] = (await freePorts(1)).map(String);
	const started = spawnLifelogServer(
		folder,
		['--port', port, '--index', index, ...args],
		loading('heldDisk.mts', env),
	);
	const url = `http://127.0.0.1:${port}`;
	await until(async () => {
		const ready = await fetch(`${url}/ready`).catch(() => undefined);
		const { done = 0 } = (await ready?.json()) ?? {};
		return done === 1 && existsSync(reached);
	});
	return { ...started, folder, url, free: () => writeFileSync(free, '') };
}

/** Everything a server has said of itself as JSON. */
const jsonOf = (server: SpawnedServer) =>
	server.log.map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a request that fails', () => {
	test('is answered with a clear message and a request number', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs, chats });
		const code = join(temporaryFolder(), 'code');
		writeFileSync(code, '');
		const env = loading('failingDisk.mts', { TEST_DISK: code });
		const server = await startLifelogServer(folder, ['--allow-delete'], env);
		for (const [disk, status, sentence] of [
			['ENOSPC', 507, 'The disk of the server is full. Free some space, then try again'],
			['EROFS', 500, 'The server can only read from its disk. Make the archive and the index'],
			['EACCES', 500, "The server isn't allowed to use one of its files. Check the owner"],
			['EIO', 500, 'The lifelog-server failed (EIO). Its log says where'],
		] as const) {
			writeFileSync(code, disk);
			const before = server.log.length;
			const answer = await ask(server, '/v1/lifelogs/a?timezone=UTC', { method: 'DELETE' });
			const { error } = await answer.json();
			expect([answer.status, error]).toEqual([status, expect.stringContaining(sentence)]);
			expect(error).not.toContain(folder);
			const [, number] = / \(request ([0-9a-f]{8})\)$/.exec(error)!;
			const isOfRequest = (line: string) => line.startsWith('Request ');
			const added = () => server.log.slice(before).filter(isOfRequest);
			await until(() => added().length > 0);
			expect(added()).toEqual([
				expect.stringContaining(
					`Request ${number}: DELETE /v1/lifelogs/:id ${status} failed: ${disk} at `,
				),
			]);
			expect(added().join()).not.toMatch(/something of the disk|timezone/);
		}
		await expect(server.close()).rejects.toThrow(asFailed);
	});

	test('before the index is built has a line in the log, too', async () => {
		const { url, ready, free } = await startHeld();
		const path = `/v1/lifelogs?search=${secret}`;
		const answer = await ask({ url, apiKey: serverKey }, path);
		const { error } = await answer.json();
		const sentence = 'The index of the server is being built: try again in 10 seconds';
		expect([answer.status, error]).toEqual([503, expect.stringContaining(`${sentence} (request `)]);
		expect(answer.headers.get('retry-after')).toBe('10');
		const [, number] = / \(request ([0-9a-f]{8})\)$/.exec(error)!;
		free();
		const server = await ready;
		expect(server.log).toEqual([`Request ${number}: GET /v1/lifelogs 503 failed: ${sentence}`]);
		expect((await ask(server, path)).status).toBe(200);
		await server.close();
	});
});

test('an address that is malformed or too long is refused without repeating it', async () => {
	const server = await startLifelogServer(temporaryFolder(), ['--log-level', 'debug']);
	for (const [path, status, error] of [
		['/v1/lifelogs/%ZZquince', 400, 'The address has a % that encodes nothing. Write it as %25'],
		[`/v1/lifelogs/${'quince'.repeat(200)}`, 414, 'The address has a part of over 1000 characters'],
	] as const) {
		const answer = await ask(server, path);
		expect([answer.status, await answer.json()]).toEqual([status, { error }]);
		expect(answer.headers.get('cache-control')).toBe('private, no-store');
	}
	expect(server.log).toEqual([
		expect.stringMatching(/^Request [0-9a-f]{8}: GET no route 400, \d+ ms, 127.0.0.1$/),
		expect.stringMatching(/^Request [0-9a-f]{8}: GET no route 414, \d+ ms, 127.0.0.1$/),
	]);
	await server.close();
});

describe('the log', () => {
	const words = ['/v1/lifelogs?search=quince', '/v1/lifelogs/quince', '/quince?quince=1'];
	const askAll = async (server: SpawnedServer) => {
		for (const path of words) await (await ask(server, path)).text();
		await fetch(`${server.url}/v1/chats`, { headers: { 'x-api-key': 'quince' } });
	};

	test('has a line for each request at the level debug, without IDs or queries', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs, chats });
		const server = await startLifelogServer(folder, ['--log-level', 'debug']);
		await askAll(server);
		await until(async () => server.log.filter((line) => / ms, /.test(line)).length >= 4);
		for (const [route, status] of [
			['/v1/lifelogs', 200],
			['/v1/lifelogs/:id', 404],
			['no route', 404],
			['/v1/chats', 401],
		]) {
			const line = new RegExp(`^Request [0-9a-f]{8}: GET ${route} ${status}, \\d+ ms, 127.0.0.1$`);
			expect(server.log).toContainEqual(expect.stringMatching(line));
		}
		for (const said of [secret, 'quince', serverKey]) {
			expect(server.log.join('\n')).not.toContain(said);
		}
		await server.close();
	});

	test('has a line of JSON for each event with --log-format json', async () => {
		const folder = temporaryFolder();
		const day = { day: '2026-03-01', lifelogs, over: { isComplete: 'no' } };
		const path = await writeDay(folder, day);
		const args = ['--log-format', 'json', '--log-level', 'debug'];
		const server = await startLifelogServer(folder, args);
		await askAll(server);
		await until(async () => jsonOf(server).filter(({ reqId }) => reqId).length >= 4);
		const told = jsonOf(server);
		expect(told).toContainEqual({
			level: 'warn',
			time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
			msg: `Left out: ${path} isn't a day manifest`,
		});
		expect(told).toContainEqual({
			...{ level: 'debug', time: expect.any(String), msg: expect.any(String) },
			...{ reqId: expect.any(String), ms: expect.any(Number), client: '127.0.0.1' },
			...{ method: 'GET', route: '/v1/lifelogs', status: 200 },
		});
		expect(server.log.join('\n')).not.toContain('quince');
		await server.close();
	});

	test('has only lines of the chosen level and above', async () => {
		const leftOut = expect.stringMatching(/^Left out: /);
		for (const [level, lines] of [
			['warn', [leftOut]],
			['error', []],
		] as const) {
			const folder = temporaryFolder();
			await writeDay(folder, { day: '2026-03-01', lifelogs, over: { isComplete: 'no' } });
			const server = await startLifelogServer(folder, ['--log-level', level]);
			expect(server.log).toEqual(lines);
			await server.close();
		}
	});

	test.each([
		[['--log-level', 'loud'], '--log-level must be one of error, warn, info, debug'],
		[['--log-format', 'xml'], '--log-format must be one of text, json'],
		[['--trust-proxy', 'wings'], '--trust-proxy must be addresses or networks of proxies'],
	])('%j is refused with a clear message', async (args, message) => {
		await expect(startLifelogServer(temporaryFolder(), args)).rejects.toThrow(message);
	});

	test("has the client's address from a trusted proxy, and the sender's own address otherwise", async () => {
		const headers = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' };
		for (const [trusted, client] of [
			[['--trust-proxy', '10.0.0.0/8, 127.0.0.1'], '203.0.113.9'],
			[['--trust-proxy', '10.0.0.0/8'], '127.0.0.1'],
			[[], '127.0.0.1'],
		] as const) {
			const args = [...trusted, '--log-level', 'debug'];
			const server = await startLifelogServer(temporaryFolder(), args);
			await ask(server, '/v1/chats', { headers });
			await until(async () => server.log.some((line) => line.includes('/v1/chats')));
			expect(server.log.find((line) => line.includes('/v1/chats'))).toMatch(
				new RegExp(` ms, ${client}$`),
			);
			await server.close();
		}
	});

	test('names a day with an archivedAt in the future', async () => {
		const folder = temporaryFolder();
		const dated = async (day: string, ms: number) =>
			await writeDay(folder, {
				...{ day, lifelogs: [lifelogOf(day, `${day}T08:00:00Z`)] },
				over: { archivedAt: new Date(Date.now() + ms).toISOString() },
			});
		await dated('2026-03-01', -60_000);
		await dated('2026-03-02', 60_000);
		const path = await dated('2026-03-03', 30 * 86_400_000);
		const server = await startLifelogServer(folder);
		expect(server.log).toEqual([
			expect.stringMatching(
				new RegExp(`^${path} is dated in the future \\(archivedAt \\d{4}-.*Z\\).*check the clock`),
			),
		]);
		expect((await ask(server, '/v1/lifelogs/2026-03-03')).status).toBe(200);
		await server.close();
		// At later starts, too, at which the day isn't read anew.
		const { child, exited } = spawnLifelogServer(folder, [], {}, []);
		let told = '';
		child.stdout!.on('data', (piece) => (told += String(piece)));
		await until(async () => told.includes('Deleting'));
		expect(told).toMatch(/In the future +1: 2026-03-03\n/);
		child.kill();
		await exited;
	});
});

describe('/health and /ready', () => {
	test('say from the start that the server runs, and when it is ready', async () => {
		const { url, ready, free } = await startHeld();
		const indexing = await fetch(`${url}/ready`);
		expect([indexing.status, await indexing.json()]).toEqual([
			503,
			{ status: 'indexing', done: 1, total: 2 },
		]);
		expect(indexing.headers.get('retry-after')).toBe('10');
		const health = await fetch(`${url}/health`);
		expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
		free();
		const server = await ready;
		const answer = await fetch(`${url}/ready`);
		expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready' }]);
		expect(server.log).toEqual([]);
		await server.close();
	});

	test('answer HEAD like GET', async () => {
		const server = await startLifelogServer(temporaryFolder());
		for (const path of ['/health', '/ready']) {
			const [head, get] = await Promise.all(
				['HEAD', 'GET'].map((method) => fetch(server.url + path, { method })),
			);
			expect([head.status, await head.text()]).toEqual([200, '']);
			expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
		}
		await server.close();
	});

	test('report a missing folder, while lifelogs are served from the index', async () => {
		const folder = join(temporaryFolder(), 'archive');
		const index = join(temporaryFolder(), 'index');
		await writeArchive(folder, { lifelogs });
		const server = await startLifelogServer(folder, ['--index', index]);
		const elsewhere = `${folder}-elsewhere`;
		cpSync(folder, elsewhere, { recursive: true });
		rmSync(folder, { recursive: true });
		const answer = await fetch(`${server.url}/ready`);
		expect([answer.status, await answer.json()]).toEqual([
			503,
			{ status: 'folder missing', done: 1, total: 1 },
		]);
		expect((await fetch(`${server.url}/health`)).status).toBe(200);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
		renameSync(elsewhere, folder);
		expect((await fetch(`${server.url}/ready`)).status).toBe(200);
		await server.close();
	});
});

describe('without its drive', () => {
	/** An archive on a drive, with its index elsewhere, and the empty folder that is left without it. */
	const archiveOnDrive = async () => {
		const folder = join(temporaryFolder(), 'archive');
		await writeArchive(folder, { lifelogs, chats });
		const index = join(temporaryFolder(), 'index');
		const unplug = () => {
			renameSync(folder, `${folder}-drive`);
			mkdirSync(folder);
		};
		const plugIn = () => {
			rmSync(folder, { recursive: true });
			renameSync(`${folder}-drive`, folder);
		};
		return { folder, index, unplug, plugIn };
	};
	const readyOf = async (server: SpawnedServer) => {
		const answer = await fetch(`${server.url}/ready`);
		return [answer.status, (await answer.json()).status];
	};

	test("a start serves lifelogs from the index, and doesn't request their embeddings again", async () => {
		const embeddings = await startEmbeddings();
		const { folder, index, unplug, plugIn } = await archiveOnDrive();
		const model = ['--embeddings-url', embeddings.url, '--embeddings-model', 'words'];
		const args = ['--index', index, ...model];
		const sent = () => embeddings.asked.flatMap(({ input }) => input).filter(isPassage).length;
		const isPassage = (text: string) => text.includes(secret);
		const first = await startLifelogServer(folder, args);
		// Stored too, not only sent.
		await until(() => first.log.some((line) => line.includes('2 of 2 lifelogs read')));
		expect(sent()).toBe(lifelogs.length);
		await first.close();

		unplug();
		const server = await startLifelogServer(folder, args);
		expect(await readyOf(server)).toEqual([503, 'folder missing']);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(200);
		await until(() => server.log.length > 0);
		expect(server.log).toEqual([
			expect.stringContaining("Cannot look for new days: The archive's folder is missing"),
		]);
		plugIn();
		expect(await readyOf(server)).toEqual([200, 'ready']);
		await server.close();

		// The same with an index that is to be built anew, such as after an upgrade.
		unplug();
		rmSync(index);
		await (await startLifelogServer(folder, args)).close();
		plugIn();
		const last = await startLifelogServer(folder, args);
		expect((await ask(last, '/v1/lifelogs/a')).status).toBe(200);
		await ask(last, '/v1/lifelogs?search=flour');
		await last.close();
		expect(sent()).toBe(lifelogs.length);
		await embeddings.close();
	});

	test.each(['is empty', 'is gone'])('changes are refused with 503 while it %s', async (how) => {
		const { folder, index, unplug, plugIn } = await archiveOnDrive();
		const args = ['--index', index, '--allow-delete', '--allow-changes'];
		const server = await startLifelogServer(folder, args);
		unplug();
		if (how === 'is gone') rmSync(folder, { recursive: true });
		const transcript = [{ text: 'It is dry.', speaker: 'A', start: 0, end: 2.4 }];
		const made = { startTime: '2026-03-05T08:00:00Z', transcript };
		const json = { 'content-type': 'application/json' };
		for (const [method, path, body] of [
			['DELETE', '/v1/lifelogs/a', undefined],
			['DELETE', '/v1/chats/q', undefined],
			['PATCH', '/v1/lifelogs/a', { isStarred: true }],
			['POST', '/v1/lifelogs', made],
		] as const) {
			const init = body && { headers: json, body: JSON.stringify(body) };
			const answer = await ask(server, path, { method, ...init });
			const { error } = await answer.json();
			expect([method, answer.status, error]).toEqual([
				...[method, 503],
				expect.stringContaining("The archive's folder is missing: connect its drive"),
			]);
			expect(answer.headers.get('retry-after')).toBe('30');
		}
		if (how === 'is gone') mkdirSync(folder);
		expect(readdirSync(folder)).toEqual([]);
		plugIn();
		expect((await ask(server, '/v1/lifelogs/a', { method: 'DELETE' })).status).toBe(200);
		await server.close();
	});
});

(mayMount ? test : test.skip)(
	'on a full disk, reads are answered, and a delete works when there is room',
	async () => {
		const disk = temporaryFolder();
		spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
		try {
			const folder = join(disk, 'archive');
			await writeArchive(folder, { lifelogs, chats });
			const server = await startLifelogServer(folder, ['--allow-delete']);
			const ballast = join(disk, 'ballast');
			expect(() => writeFileSync(ballast, Buffer.alloc(8_000_000))).toThrow('ENOSPC');
			const refused = await ask(server, '/v1/lifelogs/a', { method: 'DELETE' });
			const { error } = await refused.json();
			expect([refused.status, error]).toEqual([
				507,
				expect.stringContaining('The disk of the server is full'),
			]);
			for (const path of ['/v1/lifelogs/a', '/v1/lifelogs?search=saffron', '/v1/chats/q']) {
				expect([path, (await ask(server, path)).status]).toEqual([path, 200]);
			}
			rmSync(ballast);
			expect((await ask(server, '/v1/lifelogs/a', { method: 'DELETE' })).status).toBe(200);
			expect((await ask(server, '/v1/lifelogs/a')).status).toBe(404);
			expect(server.log.filter((line) => line.startsWith('Request '))).toEqual([
				expect.stringMatching(
					/^Request [0-9a-f]{8}: DELETE \/v1\/lifelogs\/:id 507 failed: database or disk is full at /,
				),
			]);
			await expect(server.close()).rejects.toThrow(asFailed);
		} finally {
			spawnSync('umount', ['--lazy', disk]);
		}
	},
);

(mayMount ? test.each : test.skip.each)<[string[]]>([[[]], [['--allow-changes']]])(
	'a start with %j says at once that the disk is full or read-only, and what to do',
	async (args) => {
		const disk = temporaryFolder();
		spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
		try {
			const ballast = join(disk, 'ballast');
			expect(() => writeFileSync(ballast, Buffer.alloc(100_000))).toThrow('ENOSPC');
			await expect(startLifelogServer(disk, args)).rejects.toThrow(
				/^The disk of the server is full\. Free some space, then try again$/,
			);
			spawnSync('mount', ['-o', 'remount,ro', disk]);
			await expect(startLifelogServer(disk, args)).rejects.toThrow(
				args.length === 0
					? /\.session can't be written or read \(EROFS.*\): choose a folder for the index .*--index$/
					: /^The archive cannot be changed \(.*\): make its folder writable, or start without .*$/,
			);
		} finally {
			spawnSync('umount', ['--lazy', disk]);
		}
	},
);

(mayMount ? test : test.skip)(
	'the page of an archive that is read-only offers no way to fill it',
	async () => {
		const disk = temporaryFolder();
		spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]);
		const index = ['--index', join(temporaryFolder(), 'index.sqlite')];
		const canFill = async () => {
			const server = await startLifelogServer(disk, index);
			const session = await (await ask(server, '/web/session')).json();
			await server.close();
			return session.canFill;
		};
		try {
			expect(await canFill()).toBe(true);
			spawnSync('mount', ['-o', 'remount,ro', disk]);
			expect(await canFill()).toBe(false);
		} finally {
			spawnSync('umount', ['--lazy', disk]);
		}
	},
);

describe('while the first index is built', () => {
	posixTest('the server can be stopped, and the next start continues', async () => {
		const { child, exited, ready, folder } = await startHeld();
		child.kill('SIGTERM');
		expect(await exited).toEqual([0, null]);
		// Nothing is said of it.
		await expect(ready).rejects.toThrow(/^$/);
		const server = await startLifelogServer(folder);
		expect((await ask(server, '/v1/lifelogs/2026-03-02')).status).toBe(200);
		await server.close();
	});

	posixTest('the server ends with a clear message if the folder disappears', async () => {
		const { child, exited, ready, folder, free, url } = await startHeld();
		renameSync(folder, `${folder}-elsewhere`);
		const answer = await fetch(`${url}/ready`);
		expect([answer.status, await answer.json()]).toEqual([
			503,
			{ status: 'folder missing', done: 1, total: 2 },
		]);
		free();
		child.stdin!.end();
		await expect(ready).rejects.toThrow("The archive's folder is missing");
		expect(await exited).toEqual([2, null]);
	});
});

test('a port that is taken is reported before anything is indexed', async () => {
	const other = await startLifelogServer(temporaryFolder());
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs });
	const { port } = new URL(other.url);
	await expect(startLifelogServer(folder, ['--port', port])).rejects.toThrow(
		`Port ${port} is taken`,
	);
	expect(existsSync(join(folder, '.lifelog-index.sqlite'))).toBe(false);
	await other.close();
});

describe('a key in a file', () => {
	test.each(['', '\n', '\r\n'])("is used as the server's key, with %j at its end", async (end) => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const path = join(temporaryFolder(), 'key');
		writeFileSync(path, `${serverKey}${end}`);
		const server = await startLifelogServer(folder, [], { LIFELOG_SERVER_KEY_FILE: path });
		expect(server.apiKey).toBe(serverKey);
		expect((await ask(server, '/v1/lifelogs')).status).toBe(200);
		await server.close();
	});

	test('is sent to the embeddings endpoint', async () => {
		const embeddings = await startEmbeddings();
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const path = join(temporaryFolder(), 'key');
		writeFileSync(path, 'key-of-the-endpoint\n');
		const args = ['--embeddings-url', embeddings.url, '--embeddings-model', 'words'];
		const server = await startLifelogServer(folder, args, {
			...{ LIFELOG_SERVER_KEY: serverKey, LIFELOG_EMBEDDINGS_KEY_FILE: path },
		});
		expect(embeddings.asked[0].authorization).toBe('Bearer key-of-the-endpoint');
		await server.close();
		await embeddings.close();
	});

	test.each<[string, (folder: string) => Record<string, string>, string]>([
		[
			'that is not there',
			(folder) => ({ LIFELOG_SERVER_KEY_FILE: join(folder, 'none') }),
			'The file of LIFELOG_SERVER_KEY_FILE cannot be read (ENOENT)',
		],
		[
			'beside one in the environment',
			(folder) => ({
				LIFELOG_SERVER_KEY: serverKey,
				LIFELOG_SERVER_KEY_FILE: join(folder, 'none'),
			}),
			"LIFELOG_SERVER_KEY and LIFELOG_SERVER_KEY_FILE can't be used together",
		],
		[
			'that is empty',
			(folder) => {
				writeFileSync(join(folder, 'key'), '\n');
				return { LIFELOG_SERVER_KEY_FILE: join(folder, 'key') };
			},
			'The key in the file of LIFELOG_SERVER_KEY_FILE is empty. Set one, or remove the variable',
		],
		[
			'with a blank',
			(folder) => {
				writeFileSync(join(folder, 'key'), 'two words');
				return { LIFELOG_SERVER_KEY_FILE: join(folder, 'key') };
			},
			'The key in the file of LIFELOG_SERVER_KEY_FILE must contain only ASCII letters',
		],
	])('%s is refused with a clear message', async (_what, env, message) => {
		const folder = temporaryFolder();
		const { ready } = spawnLifelogServer(temporaryFolder(), [], env(folder));
		await expect(ready).rejects.toThrow(message);
	});

	test('is named in the output of the start', async () => {
		const path = join(temporaryFolder(), 'key');
		writeFileSync(path, serverKey);
		const env = { LIFELOG_SERVER_KEY_FILE: path };
		const { child, exited } = spawnLifelogServer(temporaryFolder(), [], env, []);
		let told = '';
		child.stdout!.on('data', (piece) => (told += String(piece)));
		await until(async () => told.includes('Deleting'));
		expect(told).toMatch(/API key +the one in the file of LIFELOG_SERVER_KEY_FILE\n/);
		child.kill();
		await exited;
	});

	test('is named in the log if an endpoint refuses the key', async () => {
		const embeddings = await startEmbeddings();
		embeddings.instead = () => ({ status: 401 });
		const path = join(temporaryFolder(), 'key');
		writeFileSync(path, 'key-of-the-endpoint');
		const args = ['--embeddings-url', embeddings.url, '--embeddings-model', 'words'];
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs });
		const { ready } = spawnLifelogServer(folder, args, {
			...{ LIFELOG_SERVER_KEY: serverKey, LIFELOG_EMBEDDINGS_KEY_FILE: path },
		});
		const server = await ready;
		const check = 'returned 401. Check the key in the file of LIFELOG_EMBEDDINGS_KEY_FILE';
		await until(async () => server.log.some((line) => line.includes(check)));
		await server.close();
		await embeddings.close();
	});
});

test("a host that isn't an address of this machine is reported, with what to do", async () => {
	for (const host of ['203.0.113.1', 'nowhere.invalid']) {
		await expect(startLifelogServer(temporaryFolder(), ['--host', host])).rejects.toThrow(
			`--host ${host} isn't an address of this machine. Use 127.0.0.1, or 0.0.0.0 for every network`,
		);
	}
	// Root may use every port, and so may everybody in a container.
	const refused = Object.assign(new Error('listen EACCES'), { code: 'EACCES' });
	expect(listenProblem(refused, '127.0.0.1', 80).message).toBe(
		'Port 80 needs the rights of an administrator. Choose one above 1023 with --port',
	);
	const taken = Object.assign(new Error('listen'), { code: 'EADDRINUSE' });
	expect(listenProblem(taken, '127.0.0.1', 80)).toBe(taken);
});

describe('the command', () => {
	const run = (...args: string[]) =>
		spawnSync(process.execPath, ['server/lifelog-server.cjs', ...args], { encoding: 'utf8' });
	const { version } = JSON.parse(readFileSync('server/package.json', 'utf8'));

	test.each(['--version', '-v', 'serve --version', 'archive -v'])(
		'%s prints the version',
		(args) => {
			const { stdout, status } = run(...args.split(' '));
			expect([stdout, status]).toEqual([`${version}\n`, 0]);
		},
	);

	test.each([
		['-h', '<command>'],
		...['serve', 'archive', 'check', 'import', 'link'].map((name) => [`${name} -h`, name]),
	])('%s prints the help', (args, named) => {
		const { stdout, status } = run(...args.split(' '));
		expect([stdout, status]).toEqual([
			expect.stringMatching(new RegExp(`^Usage: .* ${named} `)),
			0,
		]);
	});
});

test('no response may be cached', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs, chats });
	const server = await startLifelogServer(folder);
	for (const path of [
		'/v1/lifelogs',
		'/v1/lifelogs/a',
		'/v1/chats/q',
		'/v1/lifelogs/none',
		'/no',
	]) {
		const { headers } = await ask(server, path);
		expect([path, headers.get('cache-control')]).toEqual([path, 'private, no-store']);
	}
	await server.close();
});

posixTest('the next start makes an index readable only by its owner', async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, { lifelogs });
	await (await startLifelogServer(folder, [], {})).close();
	const files = ['', '.vectors', '.key', '.session'].map((end) =>
		join(folder, `.lifelog-index.sqlite${end}`),
	);
	for (const path of files) chmodSync(path, 0o644);
	const server = await startLifelogServer(folder, [], {});
	for (const path of files) expect([path, statSync(path).mode & 0o777]).toEqual([path, 0o600]);
	await server.close();
});

describe('docs/self-host.md', () => {
	const page = () => readFileSync('docs/self-host.md', 'utf8');
	const block = (language: string) =>
		new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(page())![1];

	test('names options and variables that the server or compose.yaml has', () => {
		const options = new Set(
			page().match(
				/(?<=[\s`])--(?!add-host|bg|build|detach|env-file|file|header|help|now|profile|pull|rm|scope|transport|version|volume)[a-z][a-z-]+/g,
			),
		);
		expect(options.size).toBeGreaterThan(3);
		const listed = readFileSync('docs/reference/options.md', 'utf8');
		const known = listed + readFileSync('server/compose.yaml', 'utf8');
		for (const option of options) expect(known).toMatch(new RegExp(`${option}[ \`]`));
		for (const name of page().match(/LIFELOG_\w+/g)!) {
			expect(known).toContain(name.replace(/_FILE$/, ''));
		}
	});

	test('has a unit with variables that the server takes, and no option', () => {
		const unit = block('ini');
		expect(unit).toMatch(/^ExecStart=\S+ serve \/srv\/lifelogs$/m);
		for (const [, name, value] of unit.matchAll(/^Environment=(LIFELOG_\w+)=(.*)$/gm)) {
			if (name.endsWith('_KEY_FILE')) continue;
			const option = Object.values(serve.options).find(({ variable }) => variable === name)!;
			expect(option.read(value)).toBeTruthy();
		}
	});

	const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;
	(isThere ? test : test.skip)('has a unit that systemd takes', () => {
		const unit = block('ini').replaceAll(/^ExecStart=\S+/gm, 'ExecStart=/bin/true');
		const path = join(temporaryFolder(), 'lifelog-server.service');
		writeFileSync(path, unit);
		const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
		expect((stdout + stderr).split('\n').filter((line) => line.includes(path))).toEqual([]);
	});

	test('has a block for nginx that shows the page and passes uploads on unbuffered', async () => {
		buildPage();
		const nginx = block('nginx');
		for (const directive of ['client_max_body_size 0', 'proxy_request_buffering off']) {
			expect(nginx).toContain(`\t\t${directive};\n`);
		}
		const values: Record<string, string> = {
			// As nginx has them on another port than 443: only $http_host has the port.
			...{ $host: 'lifelogs.example.com', $http_host: 'lifelogs.example.com:8443' },
			...{ $scheme: 'https', $remote_addr: '203.0.113.9' },
		};
		const headers = Object.fromEntries(
			[...nginx.matchAll(/proxy_set_header (\S+) (\S+);/g)].map(([, name, value]) => [
				name,
				values[value],
			]),
		);
		const options = /`(--trust-proxy \S+)`[^]*?`(--allowed-hosts \S+)`/.exec(page())!.slice(1);
		const args = options.flatMap((option) => option.split(' '));
		const server = await startLifelogServer(temporaryFolder(), args);
		const answer = await send(server.url, '/', { headers });
		expect([answer.status, answer.body.toString()]).toEqual([
			200,
			expect.stringContaining('<script'),
		]);
		const signIn = await send(server.url, '/session', {
			method: 'POST',
			headers: {
				...{ ...headers, origin: 'https://lifelogs.example.com:8443' },
				'x-lifelog-page': '1',
			},
			body: { key: serverKey },
		});
		expect(signIn.status).toBe(204);
		await server.close();
	});

	test('names the files that a backup can leave out', async () => {
		const folder = temporaryFolder();
		await writeArchive(folder, { lifelogs, chats });
		const first = await startLifelogServer(folder);
		const listed = await (await ask(first, '/v1/lifelogs')).json();
		await first.close();
		// Somebody was killed during a change.
		mkdirSync(join(folder, '.lifelog-drafts'), { recursive: true });
		writeFileSync(join(folder, '.lifelog-drafts/draft'), '# Begun');
		const steps = [{ rename: '.lifelog-drafts/draft', to: 'lifelogs/begun.md' }];
		writeFileSync(join(folder, '.lifelog-journal.json'), JSON.stringify(steps));
		const restored = join(temporaryFolder(), 'restored');
		cpSync(folder, restored, {
			recursive: true,
			filter: (path) =>
				!/\.lifelog-index\.sqlite(\.vectors|\.key|\.link|\.session)?$|\.lock$/.test(path),
		});
		const second = await startLifelogServer(restored, ['--allow-changes']);
		expect(await (await ask(second, '/v1/lifelogs')).json()).toEqual(listed);
		expect(second.log).toEqual([]);
		expect(readFileSync(join(restored, 'lifelogs/begun.md'), 'utf8')).toBe('# Begun');
		await second.close();
	});
});
