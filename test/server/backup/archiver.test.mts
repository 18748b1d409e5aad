// lifelog-server archive against the sandbox: what it writes, what a second run reads, and what goes
// wrong on the way.
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import {
	archiving,
	checkFolder,
	contentsOf,
	runCommand,
	startCommand,
} from '../../support/archiveCommand.mts';
import { openStore } from '../../support/archiveStore.mts';
import { startLifelogServer } from '../../support/lifelogServer.mts';
import { type Fault, type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { addLifelog, dayAgo, live } from '../../support/lived.mts';
import { daysIn, manifestOf as manifestIn } from '../../support/manifests.mts';
import { serve } from '../../support/serve.mts';
import { until } from '../../support/soon.mts';
import { ask, temporaryFolder } from '../sources.mts';

const UNLIMITED = { rateLimit: { max: 1_000_000 } };

let sandbox: TestSandbox;
let folder: string;

const manifestOf = (day: string) => manifestIn(folder, day);

/** Archives to the end; the requests before are forgotten. */
async function archive(...args: string[]) {
	await sandbox.control.clearRequests();
	return await runCommand(...archiving(sandbox, folder, ...args));
}

const requests = async (path: string) =>
	(await sandbox.control.requests()).filter((request) => request.path.startsWith(path));

const reportOf = () => JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'));

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
});
afterAll(async () => await sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ empty: true, dialect: UNLIMITED });
	await sandbox.control.faults([]);
	folder = join(temporaryFolder(), 'archive');
});

describe('a first run', () => {
	test('stores everything up to yesterday, and check finds the archive complete', async () => {
		for (const day of [dayAgo(4), dayAgo(2), dayAgo(0)]) await live(sandbox, day);
		const { status, stdout } = await archive();
		expect(status).toBe(0);
		expect(stdout).toMatch(/Lifelogs +4 +4 +0\nChats +2 +2 +0\n/);
		expect(stdout).toContain(`Complete: ${dayAgo(4)} to ${dayAgo(1)}.`);
		expect(daysIn(folder)).toEqual([4, 3, 2, 1].map(dayAgo));
		const checked = await checkFolder(folder, sandbox);
		expect(checked).toMatchObject({ isComplete: true, lifelogs: 4, chats: 2, audioFiles: 4 });
		expect(reportOf()).toMatchObject({
			...{ state: 'ended', isComplete: true, daysInArchive: 4, lifelogs: 4, failed: [] },
			summary: 'Complete: 4 days archived in this run.',
		});
		expect(readdirSync(folder)).not.toContain('.lifelog-drafts');
	});

	test('of a service without data is complete', async () => {
		const { status, stdout } = await archive();
		expect([status, stdout]).toEqual([
			0,
			expect.stringContaining('Complete: the service has no data.'),
		]);
	});

	test('--only reads the chosen kinds, and a later run reads the rest', async () => {
		await live(sandbox, dayAgo(2));
		expect((await archive('--only', 'lifelogs')).status).toBe(0);
		expect(await requests('/v1/download-audio')).toEqual([]);
		expect(await requests('/v1/chats')).toEqual([]);
		expect(manifestOf(dayAgo(2)).isComplete).toBe(false);
		expect((await archive('--only', 'lifelogs')).status).toBe(0);
		expect(await requests('/v1')).toHaveLength(1);
		expect((await archive()).status).toBe(0);
		const whole = contentsOf(folder);
		folder = join(temporaryFolder(), 'at-once');
		await archive();
		const newest = Object.entries(contentsOf(folder));
		for (const [path, content] of newest) expect(whole[path]).toBe(content);
	});

	test('--from and --to choose the days, and --newest-first chooses their order', async () => {
		for (const day of [6, 4, 3, 2]) await live(sandbox, dayAgo(day));
		const { stdout, status } = await archive(
			...['--from', dayAgo(4), '--to', dayAgo(3), '--newest-first', '--json'],
		);
		expect(status).toBe(0);
		const events = stdout
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line));
		const days = events.filter(({ event }) => event === 'day').map(({ day }) => day);
		expect(days).toEqual([dayAgo(3), dayAgo(4)]);
		expect(events.at(-1)).toMatchObject({ event: 'end', isComplete: true });
	});

	test('--timezone is the zone of times in the Markdown, and only that', async () => {
		await addLifelog(sandbox, dayAgo(2), '22:15:00');
		expect((await archive('--timezone', 'Asia/Tokyo')).status).toBe(0);
		const name = `lifelogs/${dayAgo(2).replaceAll('-', '/')}/${dayAgo(2)}_22h15m00s_`;
		const files = Object.entries(contentsOf(folder)).filter(([path]) => path.startsWith(name));
		const [json, markdown] = files.map(([, content]) => content);
		expect(JSON.parse(json).startTime).toBe(`${dayAgo(2)}T22:15:00.000Z`);
		expect(markdown).toContain(`\nstart: ${dayAgo(1)}T07:15:00\n`);
		expect(markdown).toContain('\ntimezone: "Asia/Tokyo"\n');
		expect(await checkFolder(folder)).toMatchObject({ lifelogs: 1 });
		const { status, stderr } = await archive('--timezone', 'Mars/Base');
		expect([status, stderr]).toEqual([
			2,
			'--timezone must be a name such as Europe/Berlin, not Mars/Base\n',
		]);
	});

	test("a lifelog with a wrong date doesn't create thousands of days", async () => {
		await addLifelog(sandbox, '1970-01-01', '00:10:00');
		await live(sandbox, dayAgo(2));
		expect((await archive()).status).toBe(0);
		expect(daysIn(folder)).toEqual(['1970-01-01', dayAgo(2), dayAgo(1)]);
		expect(await checkFolder(folder)).toMatchObject({ lifelogs: 3 });
	});
});

describe('a second run', () => {
	/** Archives so many days. */
	async function begin(days: number): Promise<void> {
		for (let day = 1; day <= days; day++) await live(sandbox, dayAgo(day));
		expect((await archive()).status).toBe(0);
	}

	test('makes one request for each page of the lists if nothing has changed', async () => {
		await begin(9);
		const before = contentsOf(folder);
		expect((await archive()).status).toBe(0);
		// What was missing of the last week is asked for once in 20 hours.
		expect((await requests('/v1')).map(({ path }) => path)).toEqual([
			'/v1/lifelogs',
			'/v1/chats',
			'/v1/chats',
		]);
		expect(contentsOf(folder)).toEqual(before);
	});

	test('reads new, changed, starred and missing lifelogs, and marks deleted ones as gone', async () => {
		await begin(9);
		const { control } = sandbox;
		const of = async (day: number) =>
			(await control.lifelogs()).filter(({ startTime }) => startTime.startsWith(dayAgo(day)));
		await addLifelog(sandbox, dayAgo(9), '13:00:00');
		const [edited] = await of(8);
		await control.updateLifelog(edited.id, { title: 'Another title' });
		const [starred] = await of(7);
		await control.updateLifelog(starred.id, { isStarred: true });
		const [deleted] = await of(6);
		await control.deleteLifelog(deleted.id);
		const chat = (await control.chats()).find(({ createdAt }) => createdAt.startsWith(dayAgo(5)))!;
		await control.updateChat(chat.id, { messages: [...chat.messages, ...chat.messages] });
		const [lost] = await of(4);
		rmSync(join(folder, manifestOf(dayAgo(4)).lifelogs[lost.id].files[0].path));
		const [audio] = manifestOf(dayAgo(3)).audio;
		rmSync(join(folder, audio.path));
		const missing = [9, 8, 7, 6, 5, 4, 3].flatMap(
			(day) => manifestOf(dayAgo(day)).missingAudio ?? [],
		);

		expect((await archive()).status).toBe(0);
		const read = (await requests('/v1/lifelogs/')).map(({ path }) => path.slice(13)).sort();
		expect(read).toEqual(expect.arrayContaining([edited.id, starred.id, lost.id]));
		expect(manifestOf(dayAgo(6)).lifelogs[deleted.id].goneAt).toBeDefined();
		const asked = (await requests('/v1/download-audio')).map(({ query }) => Number(query.startMs));
		expect(asked).toContain(audio.startMs);
		expect(asked).toContain(Date.parse(`${dayAgo(9)}T12:00:00Z`));
		// Of days that have changed, what was missing is asked for again, as Full archive does.
		const isMissing = (ms: number) =>
			missing.some(({ startMs, endMs }) => startMs <= ms && ms < endMs);
		expect(asked.filter((ms) => !isMissing(ms)).length).toBeLessThan(6);
		expect(await checkFolder(folder, sandbox)).toMatchObject({
			findings: [],
			isComplete: true,
			lifelogs: 19,
		});
	});

	test('does not ask again for a range in which only another device recorded', async () => {
		const day = dayAgo(20);
		await live(sandbox, day);
		await archive();
		const { store, close } = await openStore(folder, join(temporaryFolder(), 'index'));
		const path = join(folder, manifestOf(day).audio[0].path);
		await store.addRecording({ path, startMs: Date.parse(`${day}T21:00:00Z`) }, [], undefined);
		close();
		await addLifelog(sandbox, day, '12:00:00');
		expect((await archive()).status).toBe(0);
		expect(manifestOf(day).audio).toHaveLength(4);
		expect((await archive()).status).toBe(0);
		expect(await requests('/v1/download-audio')).toEqual([]);
	});

	test('archives a day again if its manifest is broken', async () => {
		await begin(2);
		const before = contentsOf(folder);
		const [name] = readdirSync(join(folder, 'days'));
		writeFileSync(join(folder, 'days', name), '{"version":');
		expect((await archive()).status).toBe(0);
		expect(contentsOf(folder)).toEqual(before);
	});
});

describe('a failure is listed, everything else is stored, and the next run retries it', () => {
	const forEver = { times: 1000 };
	let lifelogs: { id: string; startTime: string }[];

	beforeEach(async () => {
		for (const day of [3, 2, 1]) await live(sandbox, dayAgo(day));
		lifelogs = await sandbox.control.lifelogs();
	});

	async function thenComplete(): Promise<void> {
		await sandbox.control.faults([]);
		expect((await archive()).status).toBe(0);
		expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true, findings: [] });
		const whole = contentsOf(folder);
		folder = join(temporaryFolder(), 'at-once');
		await archive();
		for (const [path, content] of Object.entries(contentsOf(folder))) {
			expect(whole[path]).toBe(content);
		}
	}

	const startMs = Date.parse(`${dayAgo(2)}T08:00:00Z`);
	const audio = `/v1/download-audio?startMs=${startMs}`;
	test.each<[string, () => Fault[], RegExp]>([
		[
			'two hours of audio that answer 504',
			() => [{ path: audio, status: 504, ...forEver }],
			/audio \S+T08:00:00.000Z to \S+: the service returned 504/,
		],
		[
			'audio that ends early, each time',
			() => [{ path: audio, cutBody: true, ...forEver }],
			/audio \S+T08:00:00.000Z to \S+: the connection was interrupted/,
		],
		[
			'audio that is an error page',
			() => [{ path: audio, body: '<html>', headers: { 'content-type': 'text/html' }, ...forEver }],
			/audio \S+T08:00:00.000Z to \S+: the answer is not Ogg audio but text\/html/,
		],
		[
			'a day whose list breaks, and a lifelog that answers 500',
			() => [
				{ path: '/v1/lifelogs?timezone=UTC&date', status: 500, ...forEver },
				{ path: `/v1/lifelogs/${lifelogs[0].id}`, status: 500, ...forEver },
			],
			/lifelog \S+: the service returned 500/,
		],
		[
			"a chat that isn't JSON",
			() => [{ path: '/v1/chats/', body: '<html>', ...forEver }],
			/chat \S+: the answer is not JSON/,
		],
		[
			'a list of chats that breaks',
			() => [{ path: '/v1/chats', status: 400, ...forEver }],
			/chats: the list of chats ends early: the service returned 400/,
		],
	])('%s', async (_what, faults, message) => {
		await sandbox.control.faults(faults());
		const { status, stdout, stderr } = await archive();
		expect(stderr).toMatch(message);
		expect(stdout).toMatch(message);
		expect(stdout).toContain('Not complete.');
		expect(status).toBe(1);
		expect(reportOf()).toMatchObject({ isComplete: false, state: 'ended' });
		const { findings } = await checkFolder(folder);
		expect(findings.filter(({ kind }) => kind !== 'incomplete')).toEqual([]);
		await thenComplete();
	});

	test('if the full list fails at its second page, the lists are read day by day', async () => {
		await sandbox.control.reset({ empty: true, dialect: { ...UNLIMITED, limit: { max: 10 } } });
		for (const day of [3, 2, 1]) {
			for (let n = 0; n < 5; n++) await addLifelog(sandbox, dayAgo(day), `1${n}:00:00`);
		}
		await sandbox.control.faults([{ path: '/v1/lifelogs', skip: 1, status: 400, times: 2 }]);
		const { status, stdout } = await archive();
		expect(stdout).toMatch(/Lifelogs +15 +15 +0/);
		expect(stdout).toContain('were not looked at. Give the first day with --from');
		expect(status).toBe(1);
	});

	test('if the service stops responding, the run ends and keeps the stored files', async () => {
		await sandbox.control.faults([
			{ path: '/v1/download-audio', skip: 12, reset: 'before', times: 10_000 },
			{ path: '/v1/lifelogs?limit=1', reset: 'before', times: 10_000 },
			{ path: '/v1/lifelogs?timezone=UTC&date', skip: 1, reset: 'before', times: 10_000 },
		]);
		const { status, stderr } = await archive();
		expect(stderr).toContain('The service stopped answering');
		expect(status).toBe(1);
		await thenComplete();
	});

	test('a 429 pauses all requests for the time that the service asks for', async () => {
		const body = { error: 'Too many requests', retryAfter: '3' };
		await sandbox.control.faults([{ path: '/v1/download-audio', skip: 6, status: 429, body }]);
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([0, expect.stringContaining('a pause of 3 s')]);
		const all = await sandbox.control.requests();
		const limited = all.findIndex(({ status: answered }) => answered === 429);
		// Three more may have been on their way.
		const after = all.slice(limited + 4);
		expect(after[0].at - all[limited].at).toBeGreaterThanOrEqual(2900);
	});

	test('the run ends if the rate limit blocks for more than ten minutes', async () => {
		const body = { error: 'Too many requests', retryAfter: '3600' };
		await sandbox.control.faults([
			{ path: '/v1/download-audio', skip: 6, status: 429, body, ...forEver },
		]);
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([
			1,
			expect.stringContaining('The rate limit blocks requests for 60 minutes'),
		]);
		await thenComplete();
	});
});

describe("a run that can't start says why", () => {
	test.each([
		['no folder', [], /Give the folder of the archive/],
		['two folders', ['a', 'b'], /Unknown argument 'b'/],
		['a file', ['package.json'], /There is a file where the folder of the archive should be/],
		['a folder in a file', ['package.json/a'], /There is a file where the folder of/],
		['an unknown option', ['a', '--fast'], /--fast/],
		['a day that is not one', ['a', '--from', '2025-02-30'], /--from must be a day/],
		['a reversed range', ['a', '--from', '2025-02-03', '--to', '2025-02-01'], /is later than/],
		['unknown kinds', ['a', '--only', 'lifelogs,movies'], /not "movies"/],
		['an address without https', ['a', '--url', 'http://example.com'], /must begin with https/],
		['an address with a key', ['a', '--url', 'https://a:b@example.com'], /plain address/],
		['no rate', ['a', '--rate-limit', '0'], /--rate-limit must be/],
		['both orders', ['a', '--oldest-first', '--newest-first'], /can't be used together/],
	])('%s', async (_what, args, message) => {
		const { status, stderr } = await runCommand(['archive', ...args], { LIFELOG_API_KEY: 'k' });
		expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
		expect(stderr).not.toMatch(/\n {4}at /);
	});

	test('without a key, with an empty one, and with one in a file', async () => {
		await live(sandbox, dayAgo(2));
		const [args] = archiving(sandbox, folder);
		const without = await runCommand(args);
		expect([without.status, without.stderr]).toEqual([
			2,
			expect.stringContaining('Set LIFELOG_API_KEY'),
		]);
		const path = join(temporaryFolder(), 'key');
		expect((await runCommand(args, { LIFELOG_API_KEY_FILE: path })).status).toBe(2);
		writeFileSync(path, '\n');
		expect((await runCommand(args, { LIFELOG_API_KEY_FILE: path })).status).toBe(2);
		writeFileSync(path, `${sandbox.apiKey}\n`);
		expect((await runCommand(args, { LIFELOG_API_KEY_FILE: path })).status).toBe(0);
	});

	test('with a key that the service refuses, and no folder is created', async () => {
		const [args] = archiving(sandbox, folder);
		const { status, stderr } = await runCommand(args, { LIFELOG_API_KEY: 'wrong-key' });
		expect([status, stderr]).toEqual([2, expect.stringContaining('refuses the API key')]);
		expect(stderr).not.toContain('wrong-key');
		expect(readdirSync(join(folder, '..'))).toEqual([]);
	});

	test('if nothing or another service answers at the address', async () => {
		const other = await serve((_request, response) => response.end('<html>Hello</html>'));
		const redirecting = await serve((_request, response) =>
			response.writeHead(302, { location: other.url }).end(),
		);
		const refused = await runCommand(
			...archiving({ url: 'http://127.0.0.1:9', apiKey: 'k' }, folder),
		);
		expect([refused.status, refused.stderr]).toEqual([
			2,
			expect.stringContaining("The service can't be read"),
		]);
		const html = await runCommand(...archiving({ url: other.url, apiKey: 'k' }, folder));
		expect([html.status, html.stderr]).toEqual([2, expect.stringContaining('not JSON')]);
		const redirect = await runCommand(...archiving({ url: redirecting.url, apiKey: 'k' }, folder));
		expect([redirect.status, redirect.stderr]).toEqual([
			2,
			expect.stringContaining('redirects to another address'),
		]);
		await Promise.all([other.close(), redirecting.close()]);
	});

	test('if the folder contains other files', async () => {
		mkdirSync(folder);
		writeFileSync(join(folder, 'holiday.jpg'), '');
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([2, expect.stringContaining('is not an archive')]);
		expect(readdirSync(folder)).toEqual(['holiday.jpg']);
		expect(await requests('/')).toEqual([]);
	});

	test('while Full archive is writing to the folder, unless forced', async () => {
		await live(sandbox, dayAgo(1));
		mkdirSync(join(folder, 'days'), { recursive: true });
		const report = { state: 'running', runId: '17', updatedAt: new Date().toISOString() };
		writeFileSync(join(folder, 'report.json'), JSON.stringify(report));
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([2, expect.stringContaining('start with --force')]);
		expect(reportOf()).toEqual(report);
		// n8n empties the report before it writes it again.
		writeFileSync(join(folder, 'report.json'), '');
		const lock = join(folder, '.lifelog-run.lock');
		rmSync(lock);
		const beside = archive();
		await until(() => existsSync(lock));
		writeFileSync(join(folder, 'report.json'), JSON.stringify(report));
		expect((await beside).stderr).toBe(stderr);
		expect((await archive('--force')).status).toBe(0);
	});

	test('while another run is writing to the folder', async () => {
		await live(sandbox, dayAgo(1));
		await sandbox.control.faults([{ path: '/v1/chats', delayMs: 5000 }]);
		const first = startCommand(...archiving(sandbox, folder));
		await until(async () => (await requests('/v1/chats')).length > 0);
		const { status, stderr } = await runCommand(...archiving(sandbox, folder));
		expect([status, stderr]).toEqual([2, expect.stringContaining('Another run is writing')]);
		expect((await first.ended).status).toBe(0);
	});
});

describe('an interrupted run', () => {
	beforeEach(async () => {
		for (const day of [4, 3, 2, 1]) await live(sandbox, dayAgo(day));
	});

	/** The archive as a run without interruption makes it. */
	async function whole(): Promise<Record<string, string>> {
		const before = folder;
		folder = join(temporaryFolder(), 'at-once');
		await archive();
		const contents = contentsOf(folder);
		folder = before;
		return contents;
	}

	/** What a manifest names is there and right. */
	async function expectNoHarm(): Promise<void> {
		if (readdirSync(join(folder, 'days')).length === 0) return;
		const { findings } = await checkFolder(folder);
		// What was being written counts for nothing, and the next run removes it.
		const isDraft = (path = '') => path.startsWith('.lifelog-drafts/');
		expect(findings.filter(({ path }) => !isDraft(path))).toEqual([]);
	}

	test.each([1, 20, 50])(
		'killed at request %i, damages nothing, and the next run makes the same archive',
		async (request) => {
			const expected = await whole();
			await sandbox.control.clearRequests();
			await sandbox.control.faults([{ skip: request - 1, delayMs: 60_000 }]);
			const killed = startCommand(...archiving(sandbox, folder));
			await until(async () => (await sandbox.control.requests()).length >= request);
			killed.child.kill('SIGKILL');
			await killed.ended;
			await sandbox.control.faults([]);
			await expectNoHarm();
			const { status } = await archive();
			expect(status).toBe(0);
			expect(contentsOf(folder)).toEqual(expected);
			expect(readdirSync(folder).filter((name) => /draft|journal/.test(name))).toEqual([]);
		},
	);

	test('stopped by Ctrl+C, keeps its files and says how to continue, and the next run continues', async () => {
		await sandbox.control.faults([
			{ path: '/v1/download-audio', skip: 8, delayMs: 1500, times: 9 },
		]);
		const stopped = startCommand(...archiving(sandbox, folder));
		await until(async () => (await requests('/v1/download-audio')).length >= 9);
		stopped.child.kill('SIGINT');
		const { status, stdout, stderr } = await stopped.ended;
		expect(stderr).toContain('Stopping after the current files');
		expect(stdout).toContain('Stopped. Stored files are kept.\nContinue: ');
		expect(status).toBe(1);
		const [first] = readdirSync(join(folder, 'days'));
		expect(manifestOf(first.slice(0, 10)).audio).not.toEqual([]);
		await sandbox.control.faults([]);
		expect((await archive()).status).toBe(0);
		expect(await checkFolder(folder, sandbox)).toMatchObject({ isComplete: true });
		expect((await requests('/v1/download-audio')).length).toBeLessThan(48);
	});

	test('ended by a full disk, says so and damages nothing', async () => {
		const expected = await whole();
		const { command, env } = limited(archiving(sandbox, folder));
		const { status, stderr } = await runShell(command, env);
		expect([status, stderr]).toEqual([1, expect.stringMatching(/file|disk/i)]);
		expect(stderr).not.toMatch(/\n {4}at /);
		await expectNoHarm();
		expect((await archive()).status).toBe(0);
		expect(contentsOf(folder)).toEqual(expected);
	});

	test("doesn't create its folder again if the folder is removed", async () => {
		await sandbox.control.faults([
			{ path: '/v1/download-audio', skip: 3, delayMs: 1000, times: 9 },
		]);
		const running = startCommand(...archiving(sandbox, folder));
		await until(async () => (await requests('/v1/download-audio')).length >= 4);
		rmSync(folder, { recursive: true, maxRetries: 10 });
		const { status, stderr } = await running.ended;
		expect([status, stderr]).toEqual([
			1,
			expect.stringContaining("The archive's folder is missing"),
		]);
		expect(readdirSync(join(folder, '..'))).toEqual([]);
	});
});

/** The same command where no file may get larger than 20 KB. */
function limited([args, env]: [string[], Record<string, string>]) {
	const main = join(process.cwd(), 'server', 'lifelog-server.cjs');
	const limit = 'trap "" XFSZ; ulimit -f 40; exec "$@"';
	return { command: ['-c', limit, 'sh', process.execPath, main, ...args], env };
}

async function runShell(args: string[], env: Record<string, string>) {
	const { spawn } = await import('node:child_process');
	const child = spawn('sh', args, { env: { ...process.env, ...env } });
	let stderr = '';
	child.stderr.on('data', (data) => (stderr += data));
	const [status] = await once(child, 'close');
	return { status, stderr };
}

describe('--watch', () => {
	test('archives today so far, and a server on the folder serves new lifelogs', async () => {
		await sandbox.control.clock(`${dayAgo(0)}T15:00:00Z`);
		await live(sandbox, dayAgo(1));
		await addLifelog(sandbox, dayAgo(0), '08:15:00');
		const watching = startCommand(...archiving(sandbox, folder, '--watch', '60'));
		await until(async () => /Looks again in 60 min/.test(watching.output.stderr));
		const today = manifestOf(dayAgo(0));
		expect(today.isComplete).toBe(false);
		expect(today.failed).toEqual([
			{ what: expect.stringMatching(/^audio /), message: 'the day is not over yet' },
		]);
		expect(watching.output.stdout).toContain('Complete: ');
		const server = await startLifelogServer(folder);
		const { data } = await (await ask(server, '/v1/lifelogs')).json();
		expect(data.lifelogs).toHaveLength(3);
		watching.child.kill('SIGTERM');
		expect((await watching.ended).status).toBe(0);

		await addLifelog(sandbox, dayAgo(0), '12:00:00');
		expect((await runFor(1)).status).toBe(0);
		await until(async () => {
			const { data: now } = await (await ask(server, '/v1/lifelogs')).json();
			return now.lifelogs.length === 4;
		});
		await server.close();
	});

	/** Watches until it has looked so many times. */
	async function runFor(looks: number) {
		const watching = startCommand(...archiving(sandbox, folder, '--watch', '60'));
		await until(async () => watching.output.stderr.split('Looks again').length > looks);
		watching.child.kill('SIGTERM');
		return await watching.ended;
	}
});

test('audio that has grown is stored again, and audio that has shrunk is kept', async () => {
	await addLifelog(sandbox, dayAgo(2), '08:00:00', { seconds: 60 });
	await archive();
	const [before] = manifestOf(dayAgo(2)).audio;
	const late = await addLifelog(sandbox, dayAgo(2), '09:00:00', { seconds: 60 });
	await archive();
	const [grown] = manifestOf(dayAgo(2)).audio;
	expect(grown.path).toBe(before.path);
	expect(grown.bytes).toBeGreaterThan(before.bytes);
	await sandbox.control.deleteLifelog(late.id);
	const [first] = await sandbox.control.lifelogs();
	await sandbox.control.updateLifelog(first.id, { title: 'Edited' });
	await archive();
	expect(manifestOf(dayAgo(2)).audio).toEqual([grown]);
	expect(statSync(join(folder, grown.path)).size).toBe(grown.bytes);
});
