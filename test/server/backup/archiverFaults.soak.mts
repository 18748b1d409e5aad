// lifelog-server archive against a service, a proxy, a disk and clocks that are wrong: nothing that is
// stored is harmed, nothing is taken for complete or gone that isn't, and nothing outside is touched.
import { execFileSync } from 'node:child_process';
import {
	appendFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { changeDays } from '../../../server/archive/changeDays.mts';
import { writeDraft } from '../../../server/archive/commit.mts';
import { clearDrafts } from '../../../server/archive/drafts.mts';
import { Folder } from '../../../server/archive/folder.mts';
import { otherRunSince } from '../../../server/archive/otherRun.mts';
import {
	archiving,
	checkFolder,
	contentsOf,
	runCommand,
	startCommand,
} from '../../support/archiveCommand.mts';
import { chatOf } from '../../support/invented.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { serve, type Served } from '../../support/serve.mts';
import { temporaryFolder } from '../sources.mts';

const NOW = '2026-03-04T12:00:00Z';
const [DAY, NEXT_DAY] = ['2026-03-02', '2026-03-03'];
const UNLIMITED = { rateLimit: { max: 1_000_000 } };
const FOR_EVER = { times: 1_000_000 };
const JSON_TYPE = { 'content-type': 'application/json' };

// The beginnings of requests, with the query in the order in which the command writes it.
const LIST =
	'/v1/lifelogs?timezone=UTC&includeMarkdown=false&includeHeadings=false&includeContents=false';
const LIST_OF_DAY = '/v1/lifelogs?timezone=UTC&date=';
const CHATS = '/v1/chats?';
const PROBE = '/v1/lifelogs?limit=1';
const audioAt = (time: string) => `/v1/download-audio?startMs=${Date.parse(time)}`;
const MORNING = audioAt(`${DAY}T08:00:00Z`);
const EVENING = audioAt(`${DAY}T18:00:00Z`);

/** What a proxy answers if it has lost the service behind it. */
const NOT_FOUND_PAGE = {
	...{ status: 404, body: '<html>Not found</html>', headers: { 'content-type': 'text/html' } },
	...FOR_EVER,
};

let sandbox: TestSandbox;
/** An archive of everything, what is in it, and what the run that made it printed. */
let prepared: string;
let whole: Record<string, string>;
let firstRun: Awaited<ReturnType<typeof archive>>;
let folder: string;
const services: Served[] = [];

/** On each of two days three lifelogs with audio, two of them in the same two hours, and a chat. */
async function live(): Promise<void> {
	const { control } = sandbox;
	await control.reset({ empty: true, now: NOW, dialect: UNLIMITED });
	for (const [n, day] of [DAY, NEXT_DAY].entries()) {
		const begins = { m: '08:15:00', n: '09:00:00', e: '19:00:01' };
		for (const [name, time] of Object.entries(begins)) {
			const startMs = Date.parse(`${day}T${time}Z`);
			await control.addLifelog({
				...{ id: `${name}${n}`, title: `At ${time}` },
				startTime: new Date(startMs).toISOString(),
				endTime: new Date(startMs + 30_000).toISOString(),
			});
		}
		const chat = chatOf(`c${n}`, `${day}T12:00:00.000Z`);
		await control.addChat({ id: chat.id, createdAt: chat.createdAt, messages: chat.messages });
	}
}

const archive = (...args: string[]) => runCommand(...archiving(sandbox, folder, ...args));

/** Takes the archive of everything, instead of a folder that isn't there yet. */
const takePrepared = () => cpSync(prepared, folder, { recursive: true });

/** The manifest of a day that counts. */
function manifestOf(day: string) {
	const names = readdirSync(join(folder, 'days')).filter((name) => name.startsWith(day));
	return names
		.map((name) => JSON.parse(readFileSync(join(folder, 'days', name), 'utf8')))
		.sort((a, b) => (a.archivedAt < b.archivedAt ? 1 : -1))[0];
}

/** Whether a lifelog or a chat of a day is marked as gone, by ID. */
function goneOn(day: string): Record<string, boolean> {
	const { lifelogs, chats } = manifestOf(day);
	const entries = Object.entries<{ goneAt?: string }>({ ...lifelogs, ...chats });
	return Object.fromEntries(entries.map(([id, { goneAt }]) => [id, goneAt !== undefined]));
}
const NOTHING_GONE = { c0: false, e0: false, m0: false, n0: false };

/** What failed of a day, as its manifest says. */
const failedOf = (day: string): string[] =>
	manifestOf(day).failed.map(
		({ what, message }: { what: string; message: string }) => `${what}: ${message}`,
	);

/** The next run, with nothing in its way, archives everything. */
async function expectNextRunCompletes(): Promise<void> {
	await sandbox.control.faults([]);
	expect((await archive()).status).toBe(0);
	expect(contentsOf(folder)).toMatchObject(whole);
	for (const day of [DAY, NEXT_DAY]) expect(manifestOf(day).isComplete).toBe(true);
}

/** A page of a list, as the service answers it. */
const listOf = (name: 'lifelogs' | 'chats', entries: unknown[], nextCursor?: string) =>
	JSON.stringify({
		data: { [name]: entries },
		meta: { [name]: { count: entries.length, nextCursor } },
	});

/** Starts a service that does as the sandbox does, unless `answer` returns true: then it answers. */
async function inFront(
	answer: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>,
): Promise<{ url: string; apiKey: string }> {
	const service = await serve(async (request, response) => {
		if (await answer(request, response)) return;
		const headers = { 'x-api-key': String(request.headers['x-api-key']) };
		const answered = await fetch(sandbox.url + request.url, { headers });
		response.writeHead(answered.status, {
			'content-type': answered.headers.get('content-type') ?? '',
		});
		response.end(Buffer.from(await answered.arrayBuffer()));
	});
	services.push(service);
	return { url: service.url, apiKey: sandbox.apiKey };
}

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	await live();
	prepared = folder = join(temporaryFolder(), 'archive');
	firstRun = await archive();
	whole = contentsOf(folder);
});
afterAll(async () => await sandbox.close());
beforeEach(async () => {
	await live();
	folder = join(temporaryFolder(), 'archive');
});
afterEach(async () => {
	for (const service of services.splice(0)) await service.close();
});

describe('a journal', () => {
	const JOURNAL = '.lifelog-journal.json';
	let outside: string;

	beforeEach(() => {
		takePrepared();
		outside = temporaryFolder();
		writeFileSync(join(outside, 'kept.txt'), 'kept');
	});

	const writeJournal = (steps: unknown) =>
		writeFileSync(join(folder, JOURNAL), typeof steps === 'string' ? steps : JSON.stringify(steps));
	const stored = () => Object.keys(whole).find((path) => path.endsWith('.ogg'))!;

	function expectNothingTouched(): void {
		expect(contentsOf(folder)).toEqual(whole);
		expect(readdirSync(outside)).toEqual(['kept.txt']);
		expect(readFileSync(join(outside, 'kept.txt'), 'utf8')).toBe('kept');
	}

	test.each<[string, () => unknown]>([
		['that is empty', () => ''],
		['that is half written', () => `[{"remove":"${stored()}"},{"rename":".lifelog-dra`],
		['of another version', () => ({ version: 2, steps: [{ remove: stored() }] })],
		['that is null', () => 'null'],
		['with a step that is null', () => [{ remove: stored() }, null]],
		['with an unknown step', () => [{ remove: stored() }, { copy: stored(), to: 'a' }]],
		['with a number for a path', () => [{ remove: stored() }, { remove: 1 }]],
		[
			'that removes a file beside the archive',
			() => [{ remove: stored() }, { remove: `../${basename(outside)}/kept.txt` }],
		],
		['that removes by a whole path', () => [{ remove: join(outside, 'kept.txt') }]],
		['that removes by a path of Windows', () => [{ remove: '..\\kept.txt' }]],
		['that removes from another drive', () => [{ remove: 'C:/kept.txt' }]],
		[
			'that takes a file from outside',
			() => [{ rename: `../${basename(outside)}/kept.txt`, to: 'lifelogs/kept.txt' }],
		],
		[
			'that moves a file out',
			() => [{ rename: stored(), to: `lifelogs/../../${basename(outside)}/audio.ogg` }],
		],
	])('%s is refused, and none of its steps is done', async (_what, steps) => {
		writeJournal(steps());
		const message = /^\.lifelog-journal\.json in the archive is damaged\. Remove it, then check/;
		await expect(clearDrafts(folder)).rejects.toThrow(message);
		const files = [{ path: 'report.md', content: 'new' }];
		const changing = changeDays(await Folder.open(folder), [], () => ({ files }));
		await expect(changing).rejects.toThrow(message);
		expectNothingTouched();
	});

	test.each<[string, () => Promise<object> | object]>([
		['puts a file', async () => ({ rename: await writeDraft(folder, 'new'), to: 'link/new' })],
		['takes a file', () => ({ rename: 'link/kept.txt', to: 'lifelogs/kept.txt' })],
		['removes a file', () => ({ remove: 'link/kept.txt' })],
	])('that %s through a link is refused, and none of its steps is done', async (_what, step) => {
		symlinkSync(outside, join(folder, 'link'), 'junction');
		writeJournal([{ remove: stored() }, await step()]);
		await expect(clearDrafts(folder)).rejects.toThrow('outside of the archive, because of a link');
		rmSync(join(folder, 'link'));
		expectNothingTouched();
	});

	test('that is damaged ends the command with what to do, and the archive stays unchanged', async () => {
		writeJournal([{ remove: stored() }, { remove: '../kept.txt' }]);
		const { status, stdout, stderr } = await archive();
		expect([status, stdout, stderr]).toEqual([
			2,
			'',
			'.lifelog-journal.json in the archive is damaged. Remove it, then check the archive\n',
		]);
		expectNothingTouched();
		rmSync(join(folder, JOURNAL));
		await expectNextRunCompletes();
	});

	/** Leaves the manifest of the day and another file to a journal, as a killed run does. */
	function leaveToJournal(file: { rename: string; to: string }): string {
		const name = readdirSync(join(folder, 'days')).find((each) => each.startsWith(DAY))!;
		mkdirSync(join(folder, '.lifelog-drafts'), { recursive: true });
		renameSync(join(folder, 'days', name), join(folder, '.lifelog-drafts', 'manifest'));
		writeJournal([file, { rename: '.lifelog-drafts/manifest', to: `days/${name}` }]);
		return name;
	}

	test('that is half done is completed', async () => {
		leaveToJournal({ rename: '.lifelog-drafts/moved-already', to: stored() });
		await clearDrafts(folder);
		expectNothingTouched();
		expect(existsSync(join(folder, JOURNAL))).toBe(false);
	});

	test('whose draft is missing completes no day, and the next run archives that day', async () => {
		const lost = { rename: '.lifelog-drafts/lost', to: 'lifelogs/2026/03/02/lost.json' };
		const name = leaveToJournal(lost);
		await clearDrafts(folder);
		expect(readdirSync(join(folder, 'days'))).not.toContain(name);
		expect(existsSync(join(folder, JOURNAL))).toBe(false);
		await expectNextRunCompletes();
		expect(contentsOf(folder)).toEqual(whole);
	});
});

describe('a 404 page of a proxy', () => {
	test('is not taken for "no audio" or for a deleted entry', async () => {
		await sandbox.control.faults([
			{ path: MORNING, ...NOT_FOUND_PAGE },
			{ path: LIST_OF_DAY, ...NOT_FOUND_PAGE },
			{ path: '/v1/lifelogs/m0', ...NOT_FOUND_PAGE },
			{ path: '/v1/chats/c0', ...NOT_FOUND_PAGE },
		]);
		const { status, stdout } = await archive();
		expect([status, stdout]).toEqual([1, expect.stringContaining('Not complete.')]);
		expect(failedOf(DAY)).toEqual([
			`audio ${DAY}T08:00:00.000Z to ${DAY}T10:00:00.000Z: the service returned 404`,
			'chat c0: the service returned 404',
			'lifelog m0: the service returned 404',
		]);
		const { lifelogs, missingAudio, isComplete } = manifestOf(DAY);
		expect([Object.keys(lifelogs), isComplete]).toEqual([['e0', 'n0'], false]);
		expect(missingAudio[0]).toMatchObject({ endMs: Date.parse(`${DAY}T08:00:00Z`) });
		await expectNextRunCompletes();
	});

	test('marks nothing as gone', async () => {
		takePrepared();
		const others = (await sandbox.control.lifelogs()).filter(({ id }) => id !== 'm0');
		await sandbox.control.faults([
			{ path: LIST, body: listOf('lifelogs', others), headers: JSON_TYPE, ...FOR_EVER },
			{ path: CHATS, body: listOf('chats', []), headers: JSON_TYPE, ...FOR_EVER },
			{ path: '/v1/lifelogs/m0', ...NOT_FOUND_PAGE },
			{ path: '/v1/chats/c0', ...NOT_FOUND_PAGE },
		]);
		expect((await archive()).status).toBe(1);
		expect(goneOn(DAY)).toEqual(NOTHING_GONE);
		expect(failedOf(DAY)).toEqual([
			'chat c0: the service returned 404',
			'lifelog m0: the service returned 404',
		]);
		await expectNextRunCompletes();
	});

	test('for every request ends the run, and the archive stays unchanged', async () => {
		takePrepared();
		await sandbox.control.faults([{ path: '/', ...NOT_FOUND_PAGE }]);
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([2, "The service can't be read: the service returned 404\n"]);
		expect(contentsOf(folder)).toEqual(whole);
	});
});

test('if two runs start in one new folder, one ends with a clear message and leaves the folder', async () => {
	let release = () => {};
	const released = new Promise<void>((resolve) => (release = resolve));
	const service = await inFront(async () => {
		await released;
		return false;
	});
	const args = archiving(service, folder, '--to', NEXT_DAY);
	const runs = [startCommand(...args), startCommand(...args)];
	const results = runs.map(async ({ ended }, run) => ({ run, ...(await ended) }));
	const { run, status, stderr } = await Promise.race(results);
	expect([status, stderr]).toEqual([
		2,
		'Another run is writing to this archive (archive or import). Wait until it has ended\n',
	]);
	expect(readdirSync(folder)).toContain('.lifelog-run.lock');
	release();
	const winner = await results[1 - run];
	expect([winner.status, winner.stderr]).toEqual([0, '2 days to archive\n']);
	expect(contentsOf(folder)).toEqual(whole);
});

describe('a list', () => {
	test.each<[string, (request: number) => string]>([
		['that repeats its cursor', () => listOf('lifelogs', [], 'again')],
		['of empty pages without an end', (request) => listOf('lifelogs', [], `cursor${request}`)],
	])('%s is read day by day', async (_what, pageOf) => {
		let requests = 0;
		const service = await inFront(({ url }, response) => {
			if (!url!.startsWith(`${LIST}&start=`)) return false;
			requests += 1;
			response.writeHead(200, JSON_TYPE).end(pageOf(requests));
			return true;
		});
		const days = ['--from', DAY, '--to', NEXT_DAY];
		const { status, stdout } = await runCommand(...archiving(service, folder, ...days));
		expect([status, stdout]).toEqual([0, expect.stringContaining(`Complete: ${DAY} to `)]);
		expect(contentsOf(folder)).toEqual(whole);
		expect(requests).toBeLessThanOrEqual(50);
	});

	test("that ends early doesn't mark entries as gone that the service still returns", async () => {
		takePrepared();
		const [first] = await sandbox.control.lifelogs();
		await sandbox.control.faults([
			{ path: LIST, body: listOf('lifelogs', [first]), headers: JSON_TYPE, ...FOR_EVER },
			{ path: CHATS, body: listOf('chats', []), headers: JSON_TYPE, ...FOR_EVER },
		]);
		expect((await archive()).status).toBe(0);
		expect(goneOn(DAY)).toEqual(NOTHING_GONE);
		expect(contentsOf(folder)).toEqual(whole);
	});

	test('that is suddenly empty, or an endless list of chats, changes nothing', async () => {
		takePrepared();
		await sandbox.control.clearRequests();
		await sandbox.control.faults([
			{ path: LIST, body: listOf('lifelogs', []), headers: JSON_TYPE, ...FOR_EVER },
			{ path: CHATS, body: listOf('chats', [], 'again'), headers: JSON_TYPE, ...FOR_EVER },
		]);
		const { status, stderr } = await archive();
		expect(status).toBe(1);
		expect(stderr).toContain(
			'but the archive has lifelogs. Check that the key belongs to the same account',
		);
		expect(stderr).toContain('the list of chats ends early: the list of chats does not end');
		expect(contentsOf(folder)).toEqual(whole);
		const paths = (await sandbox.control.requests()).map(({ path }) => path);
		expect(paths.filter((path) => /\/v1\/\w+\/./.test(path))).toEqual([]);
	});

	test("with entries that can't be requested reports them, and all others are archived", async () => {
		takePrepared();
		const long = 'x'.repeat(300);
		await sandbox.control.addLifelog({ id: long, startTime: `${NEXT_DAY}T21:30:00Z` });
		const entries = (await sandbox.control.lifelogs()).map((entry) =>
			entry.id === 'm0' ? { ...entry, startTime: 'yesterday' } : entry,
		);
		const other = entries.find(({ id }) => id === 'm1')!;
		const odd = [{ ...other, id: '../../x' }, { ...other, id: 7 }, null];
		const body = listOf('lifelogs', [...entries, ...odd]);
		await sandbox.control.faults([
			{ path: LIST, body, headers: JSON_TYPE },
			{ path: '/v1/lifelogs/m0', status: 404, body: { error: 'None' }, ...FOR_EVER },
		]);
		const { status, stderr } = await archive();
		expect(status).toBe(1);
		for (const id of ['m0', 'without an ID']) {
			expect(stderr).toContain(`lifelog ${id}: is not archived, because the service returns no ID`);
		}
		expect(failedOf(NEXT_DAY)).toEqual(["lifelog ../../x: has an ID that can't be requested"]);
		expect(goneOn(DAY)).toEqual(NOTHING_GONE);
		expect(contentsOf(folder)).toMatchObject(whole);
		expect(readdirSync(join(folder, '..'))).toEqual(['archive']);
	});
});

describe('a request that is refused', () => {
	test("in the middle of a run is listed, a redirect isn't followed, and everything else is stored", async () => {
		const elsewhere: unknown[] = [];
		const other = await serve(({ url, headers }, response) => {
			elsewhere.push([url, headers]);
			response.end();
		});
		services.push(other);
		const headers = { location: `${other.url}/moved` };
		await sandbox.control.faults([
			{ path: MORNING, status: 401, ...FOR_EVER },
			{ path: EVENING, status: 403, ...FOR_EVER },
			{ path: '/v1/chats/c1', status: 302, headers, ...FOR_EVER },
			{ path: audioAt(`${NEXT_DAY}T08:00:00Z`), status: 307, headers, ...FOR_EVER },
		]);
		expect((await archive()).status).toBe(1);
		expect(failedOf(DAY)).toEqual([
			`audio ${DAY}T08:00:00.000Z to ${DAY}T10:00:00.000Z: the service returned 401`,
			`audio ${DAY}T18:00:00.000Z to ${DAY}T20:00:00.000Z: the service returned 403`,
		]);
		expect(failedOf(NEXT_DAY)).toEqual([
			`audio ${NEXT_DAY}T08:00:00.000Z to ${NEXT_DAY}T10:00:00.000Z: the service returned 307`,
			'chat c1: the service returned 302',
		]);
		expect(Object.keys(manifestOf(DAY).lifelogs)).toEqual(['e0', 'm0', 'n0']);
		expect(manifestOf(NEXT_DAY).audio).toHaveLength(1);
		expect(elsewhere).toEqual([]);

		await sandbox.control.faults([]);
		const { status, stderr } = await archive('--from', NEXT_DAY);
		expect([status, stderr]).toEqual([
			1,
			expect.stringContaining(`${DAY}: the day: it isn't complete, and this run didn't check it`),
		]);
		await expectNextRunCompletes();
	});

	test('because the key was revoked ends the run, which keeps the stored files', async () => {
		await sandbox.control.faults([
			{ path: '/v1/download-audio', skip: 6, status: 401, ...FOR_EVER },
			{ path: PROBE, status: 401, ...FOR_EVER },
		]);
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([
			1,
			expect.stringMatching(/^The service refuses the API key\. Copy it again/m),
		]);
		const { lifelogs, isComplete } = manifestOf(DAY);
		expect([Object.keys(lifelogs), isComplete]).toEqual([['e0', 'm0', 'n0'], false]);
		expect(manifestOf(NEXT_DAY)).toBeUndefined();
		await expectNextRunCompletes();
	});
});

test('an entry that the service returns as null is gone, and other answers change nothing', async () => {
	takePrepared();
	const { control } = sandbox;
	await control.dialect({ missing: 'null' });
	for (const id of ['m0', 'e0']) await control.deleteLifelog(id);
	await control.deleteChat('c0');
	await control.faults([
		{ path: '/v1/lifelogs/e0', body: '{"status":"ok"}', headers: JSON_TYPE, ...FOR_EVER },
	]);
	expect((await archive()).status).toBe(1);
	expect(goneOn(DAY)).toEqual({ ...NOTHING_GONE, c0: true, m0: true });
	expect(failedOf(DAY)).toEqual(['lifelog e0: the answer does not say whether it is there']);
	await control.faults([]);
	expect((await archive()).status).toBe(0);
	expect(goneOn(DAY)).toEqual({ ...NOTHING_GONE, c0: true, e0: true, m0: true });
	expect(contentsOf(folder)).toMatchObject(whole);
});

describe('a stored file', () => {
	test('of another size, or missing, is read again, and check names a file with other content', async () => {
		takePrepared();
		const { lifelogs, chats, audio } = manifestOf(DAY);
		const at = (file: { path: string }) => join(folder, file.path);
		truncateSync(at(audio[0]), Math.floor(audio[0].bytes / 2));
		appendFileSync(at(lifelogs.m0.files[0]), ' ');
		rmSync(at(lifelogs.n0.files[1]));
		truncateSync(at(chats.c0.files[0]));
		const [edited] = manifestOf(NEXT_DAY).lifelogs.m1.files;
		const content = readFileSync(at(edited), 'utf8');
		writeFileSync(at(edited), content.replace('At 08', 'at 08'));

		expect((await archive()).status).toBe(0);
		const { findings } = await checkFolder(folder);
		expect(findings).toEqual([expect.objectContaining({ kind: 'broken', path: edited.path })]);
		rmSync(at(edited));
		expect((await archive()).status).toBe(0);
		expect(contentsOf(folder)).toEqual(whole);
	});

	test('that is damaged and no longer at the service is reported, and audio is replaced', async () => {
		takePrepared();
		const before = manifestOf(DAY);
		const [json] = before.lifelogs.m0.files;
		truncateSync(join(folder, json.path), 10);
		truncateSync(join(folder, before.audio[0].path), 10);
		await sandbox.control.deleteLifelog('m0');
		const { status, stderr } = await archive();
		expect([status, stderr]).toEqual([
			1,
			expect.stringContaining(
				`${DAY}: ${json.path}: it is missing or damaged in the archive, and the service doesn't have it`,
			),
		]);
		const after = manifestOf(DAY);
		expect(after.lifelogs.m0).toMatchObject({ files: before.lifelogs.m0.files });
		expect(goneOn(DAY)).toEqual({ ...NOTHING_GONE, m0: true });
		expect(after.audio[0].bytes).toBeLessThan(before.audio[0].bytes);
		expect(statSync(join(folder, after.audio[0].path)).size).toBe(after.audio[0].bytes);
	});
});

describe('a wrong clock', () => {
	test("is reported, and the service's clock is used", () => {
		expect(firstRun).toMatchObject({
			status: 0,
			stderr: expect.stringMatching(
				/^The clocks of this machine and of the service are \d+ hours apart\. The service's clock decides what day it is$/m,
			),
			stdout: expect.stringContaining(`Complete: ${DAY} to ${NEXT_DAY}.`),
		});
	});

	test('that is behind leaves out no day if a list fails', async () => {
		const now = '2090-01-10T12:00:00Z';
		await sandbox.control.reset({ empty: true, now, dialect: UNLIMITED });
		await sandbox.control.addLifelog({ id: 'late', startTime: '2090-01-08T08:15:00Z' });
		const body = listOf('lifelogs', [], 'again');
		await sandbox.control.faults([
			{ path: `${LIST}&start=`, body, headers: JSON_TYPE, ...FOR_EVER },
		]);
		const { status, stdout } = await archive('--from', '2090-01-07');
		expect([status, stdout]).toEqual([
			0,
			expect.stringContaining('Complete: 2090-01-07 to 2090-01-09.'),
		]);
		expect(Object.keys(manifestOf('2090-01-08').lifelogs)).toEqual(['late']);
	});

	test("that was set back doesn't make an older manifest count", async () => {
		takePrepared();
		const before = manifestOf(NEXT_DAY);
		await sandbox.control.clock('2026-03-04T00:30:00Z');
		await sandbox.control.updateLifelog('m1', { title: 'Edited' });
		expect((await archive()).status).toBe(0);
		const after = manifestOf(NEXT_DAY);
		expect(after.lifelogs.m1.updatedAt).toBe('2026-03-04T00:30:00.000Z');
		expect(Date.parse(after.archivedAt)).toBeGreaterThan(Date.parse(before.archivedAt));
	});

	test("doesn't make a report of Full archive from the future block a run", async () => {
		mkdirSync(folder);
		const updatedIn = (ms: number) => {
			const updatedAt = new Date(Date.now() + ms).toISOString();
			const report = { state: 'running', runId: '17', startedAt: 'then', updatedAt };
			writeFileSync(join(folder, 'report.json'), JSON.stringify(report));
			return otherRunSince(folder);
		};
		expect(await updatedIn(-60_000)).toBe('then');
		expect(await updatedIn(86_400_000)).toBeUndefined();
		expect(await updatedIn(-86_400_000)).toBeUndefined();
	});
});

test("a report of Full archive that is broken or no file doesn't block a run", async () => {
	mkdirSync(folder);
	const path = join(folder, 'report.json');
	const running = { state: 'running', runId: '17', updatedAt: new Date().toISOString() };
	const notText = { toString: 1 };
	const broken = [
		...['', '{ "state": "runn', 'null'],
		JSON.stringify({ ...running, updatedAt: notText }),
	];
	for (const each of broken) {
		writeFileSync(path, each);
		expect(await otherRunSince(folder)).toBeUndefined();
	}
	// What isn't a text is as if it weren't there.
	writeFileSync(path, JSON.stringify({ ...running, runId: notText, startedAt: notText }));
	expect(await otherRunSince(folder)).toBe(running.updatedAt);
	writeFileSync(path, JSON.stringify({ ...running, startedAt: '\u001b[31mnow' }));
	expect(await otherRunSince(folder)).not.toContain('\u001b');
	// Not a file: reading it would never end.
	rmSync(path);
	execFileSync('mkfifo', [path]);
	expect(await otherRunSince(folder)).toBeUndefined();
});

describe('an answer', () => {
	test('that never comes is requested again, and one that stalls each time is listed', async () => {
		let asked = 0;
		const service = await inFront(({ url }, response) => {
			if (url!.startsWith('/v1/chats/c0')) return ++asked === 1;
			if (!url!.startsWith(MORNING)) return false;
			response.writeHead(200, { 'content-type': 'audio/ogg' }).write('OggS');
			return true;
		});
		const [args, env] = archiving(service, folder, '--to', NEXT_DAY);
		const NODE_OPTIONS = '--import ./test/support/shortTimeouts.mts';
		const { status } = await runCommand(args, { ...env, NODE_OPTIONS });
		expect(status).toBe(1);
		expect(failedOf(DAY)).toEqual([
			`audio ${DAY}T08:00:00.000Z to ${DAY}T10:00:00.000Z: the service didn't respond within 60 s`,
		]);
		expect([asked > 1, Object.keys(manifestOf(DAY).chats)]).toEqual([true, ['c0']]);
		expect(manifestOf(NEXT_DAY).isComplete).toBe(true);
		await expectNextRunCompletes();
	});

	test("that ends early, or isn't JSON, is requested again", async () => {
		await sandbox.control.faults([
			{ path: LIST, cutBody: true },
			{ path: CHATS, body: '<html>' },
			{ path: LIST_OF_DAY, cutBody: true },
			{ path: '/v1/chats/c1', body: '{"data":' },
			{ path: MORNING, cutBody: true },
		]);
		expect((await archive()).status).toBe(0);
		expect(contentsOf(folder)).toEqual(whole);
	});
});
