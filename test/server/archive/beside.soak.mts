// What was made, edited or deleted in an archive, beside everything else that writes to it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { Lifelog } from '../../../lifelog/api.ts';
import { writeLifelog } from '../../../lifelog/files/formats.ts';
import { appExportPath } from '../../../lifelog/names.ts';
import type { ArchiveStore } from '../../../server/index/archiveStore.mts';
import { writeArchive } from '../../support/archive.mts';
import { openStore } from '../../support/archiveStore.mts';
import { steps, walk } from '../../support/besideModel.mts';
import { checkHere, Commands } from '../../support/commands.mts';
import { runFullArchive } from '../../support/fullArchive.mts';
import { chatOf, lifelogOf } from '../../support/invented.mts';
import { changeDay, editLifelog, makeLifelog, newestManifests } from '../../support/manifests.mts';
import { type TestSandbox, startSandbox } from '../../support/sandbox.mts';
import { serve } from '../../support/serve.mts';
import { until } from '../../support/soon.mts';
import { ask, startLifelogServer, temporaryFolder } from '../sources.mts';
import { randomSeed } from '../../support/size.mts';

const seed = randomSeed();
const RUNS = 20;
const MAX_ROUNDS = 12;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

let sandbox: TestSandbox;
let commands: Commands;
let folder: string;

beforeAll(async () => {
	sandbox = await startSandbox({ days: 1 });
	commands = new Commands(sandbox);
});
afterAll(async () => {
	await commands.close();
	await sandbox.close();
});
beforeEach(async () => {
	await sandbox.control.reset({ empty: true, dialect: { rateLimit: { max: 1_000_000 } } });
	folder = join(temporaryFolder(), 'archive');
	mkdirSync(join(folder, 'days'), { recursive: true });
});

const times = (day: string, hour: number) => ({
	startTime: `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`,
	endTime: `${day}T${String(hour).padStart(2, '0')}:10:00.000Z`,
});
const addLifelog = async (day: string, hour: number) =>
	await sandbox.control.addLifelog({ title: `At ${hour}`, ...times(day, hour) });
const entryOf = (id: string, day: string) => newestManifests(folder).get(day)?.lifelogs[id];
const filesOf = (id: string) =>
	readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
		path.includes(`_${id}.`),
	);
const archive = async () => {
	const { status, output } = await commands.archive(folder);
	expect([status, output]).toEqual([0, expect.any(String)]);
};

/** Deletes by a real server, as a client does. */
async function remove(...paths: string[]): Promise<void> {
	const server = await startLifelogServer(folder, ['--allow-delete']);
	for (const path of paths) {
		expect((await ask(server, `/v1/${path}`, { method: 'DELETE' })).status).toBe(200);
	}
	await server.close();
}

/** Changes the archive by the code of a server that is running. */
async function byServer(change: (store: ArchiveStore) => Promise<unknown>): Promise<void> {
	const { store, close } = await openStore(folder, join(temporaryFolder(), 'index'));
	try {
		await change(store);
	} finally {
		close();
	}
}

/** Ten minutes that another device recorded. */
async function record(startTime: string): Promise<void> {
	const day = startTime.slice(0, 10);
	const { id } = await addLifelog(day, 3);
	const [startMs, endMs] = Object.values(times(day, 3)).map((time) => Date.parse(time));
	const path = join(temporaryFolder(), 'recording.ogg');
	const headers = { 'X-API-Key': sandbox.apiKey };
	const query = `startMs=${startMs}&endMs=${endMs}`;
	const answer = await fetch(`${sandbox.url}/v1/download-audio?${query}`, { headers });
	writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
	await sandbox.control.deleteLifelog(id);
	await byServer((store) =>
		store.addRecording({ path, startMs: Date.parse(startTime) }, [], undefined),
	);
}

test(`no change is lost and nothing deleted returns, in any order of steps (seed ${seed})`, async () => {
	const property = fc.asyncProperty(steps(MAX_ROUNDS), async (all) => {
		await walk({ sandbox, commands }, join(temporaryFolder(), 'walk'), all);
	});
	await fc.assert(property, { numRuns: RUNS, seed });
});

describe('a delete', () => {
	const lifelog = lifelogOf('a', '2026-03-01T08:00:00.000Z');
	const later = { ...lifelog, updatedAt: '2026-03-09T00:00:00.000Z' };
	const idsOf = async (response: Response) =>
		(await response.json()).data.lifelogs.map(({ id }: Lifelog) => id);

	test("leaves a tombstone that isn't served, found or deleted again", async () => {
		const other = lifelogOf('b', '2026-03-01T09:00:00.000Z');
		const chat = chatOf('c', '2026-03-01T10:00:00.000Z');
		await writeArchive(folder, { lifelogs: [lifelog, other], chats: [chat] });
		const edited = { title: 'Only in the manifest', at: '2026-03-02T00:00:00.000Z' };
		editLifelog(folder, '2026-03-01', 'a', edited);
		const [before] = readdirSync(join(folder, 'days'));
		const server = await startLifelogServer(folder, ['--allow-delete']);
		for (const path of ['/v1/lifelogs/a', '/v1/chats/c']) {
			expect((await ask(server, path, { method: 'DELETE' })).status).toBe(200);
			expect((await ask(server, path, { method: 'DELETE' })).status).toBe(404);
			expect((await ask(server, path)).status).toBe(404);
		}
		expect(await idsOf(await ask(server, '/v1/lifelogs'))).toEqual(['b']);
		expect(await idsOf(await ask(server, '/v1/lifelogs?search=talk'))).toEqual(['b']);
		const { data } = await (await ask(server, '/v1/chats')).json();
		expect(data.chats).toEqual([]);
		await server.close();
		// The service's list gives the same version as before.
		expect(readdirSync(join(folder, 'days'))).toEqual([before]);
		const { lifelogs, chats } = newestManifests(folder).get('2026-03-01')!;
		const deletedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		const [startMs, endMs] = [lifelog.startTime, lifelog.endTime].map((time) => Date.parse(time));
		expect(lifelogs.a).toEqual({
			...{ updatedAt: lifelog.updatedAt, isStarred: false, files: [], deletedAt },
			spans: [{ startMs, endMs }],
		});
		expect(chats.c).toEqual({ messages: 2, isScheduled: false, files: [], deletedAt });
		expect(await checkHere(folder)).toMatchObject({ findings: [], lifelogs: 1, chats: 0 });
	});

	test('of a lifelog on two days leaves one on each, and a later start serves neither', async () => {
		const moved = { ...later, ...times('2026-03-02', 8) };
		await writeArchive(folder, { lifelogs: [lifelog] });
		await writeArchive(folder, { lifelogs: [moved] });
		await remove('lifelogs/a');
		expect(entryOf('a', '2026-03-01')).toMatchObject({ files: [], deletedAt: expect.anything() });
		expect(entryOf('a', '2026-03-02')).toMatchObject({ files: [], deletedAt: expect.anything() });
		expect(filesOf('a')).toEqual([]);
	});

	test('holds for every day, also if another program writes the day later', async () => {
		await writeArchive(folder, { lifelogs: [lifelog, lifelogOf('b', '2026-03-01T09:00:00.000Z')] });
		await remove('lifelogs/a');
		const server = await startLifelogServer(folder, ['--allow-delete']);
		const moved = { ...later, ...times('2026-03-02', 8) };
		await writeArchive(folder, { lifelogs: [moved, lifelogOf('c', '2026-03-02T09:00:00.000Z')] });
		await until(async () => (await ask(server, '/v1/lifelogs/c')).status === 200);
		expect((await ask(server, '/v1/lifelogs/a')).status).toBe(404);
		expect(await idsOf(await ask(server, '/v1/lifelogs'))).toEqual(['c', 'b']);
		await server.close();
	});
});

describe.each(['archive', 'Full archive'])('%s', (name) => {
	const run = async () => {
		if (name === 'archive') await archive();
		else await runFullArchive(folder, sandbox);
	};

	test('never stores a deleted entry again, whatever the service does with it', async () => {
		const { control } = sandbox;
		const kept = await addLifelog(dayAgo(3), 8);
		const [edited, starred, moved, removed] = [
			await addLifelog(dayAgo(3), 9),
			await addLifelog(dayAgo(3), 10),
			await addLifelog(dayAgo(3), 11),
			await addLifelog(dayAgo(3), 12),
		];
		const chat = await control.addChat({ createdAt: `${dayAgo(3)}T12:00:00.000Z` });
		await run();
		const ids = [edited, starred, moved, removed].map(({ id }) => id);
		await remove(...ids.map((id) => `lifelogs/${id}`), `chats/${chat.id}`);
		await control.updateLifelog(edited.id, { title: 'Another title' });
		await control.updateLifelog(starred.id, { isStarred: true });
		await control.updateLifelog(moved.id, times(dayAgo(2), 11));
		await control.deleteLifelog(removed.id);
		await control.updateChat(chat.id, { messages: [...chat.messages, ...chat.messages] });
		await control.clearRequests();
		await run();
		const paths = (await control.requests()).map(({ path, query }) => [path, query]);
		const read = paths.filter(([path, query]) => {
			const isMetadata = (query as Record<string, string>).includeContents === 'false';
			return [...ids, chat.id].some((id) => String(path).endsWith(id)) && !isMetadata;
		});
		expect(read).toEqual([]);
		for (const id of [...ids, chat.id]) expect(filesOf(id)).toEqual([]);
		expect(entryOf(starred.id, dayAgo(3))).toMatchObject({ isStarred: true, files: [] });
		expect(entryOf(moved.id, dayAgo(3))).toHaveProperty('goneAt');
		expect(entryOf(moved.id, dayAgo(2))).toMatchObject({
			files: [],
			deletedAt: entryOf(moved.id, dayAgo(3))!.deletedAt,
		});
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [], lifelogs: 1 });
		expect(Object.keys(newestManifests(folder).get(dayAgo(3))!.lifelogs)).toContain(kept.id);
	});

	test('keeps lifelogs that were made or edited here, also if the service changes or moves them', async () => {
		const { control } = sandbox;
		const [changed, moved] = [await addLifelog(dayAgo(3), 8), await addLifelog(dayAgo(3), 9)];
		await run();
		const made = lifelogOf('made', `${dayAgo(3)}T20:00:00.000Z`);
		await makeLifelog(folder, made, { source: 'recording', externalId: 'abc' });
		const at = new Date().toISOString();
		const lines = [{ startOffsetMs: 0, was: 'Recorded.', text: 'Corrected.', speaker: 'Berta' }];
		const edit = { title: 'Edited', isStarred: true, speakers: { Anna: 'Berta' }, lines, at };
		for (const { id } of [changed, moved]) editLifelog(folder, dayAgo(3), id, edit);
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [], lifelogs: 3 });
		await control.updateLifelog(changed.id, { title: 'Of the service' });
		await control.updateLifelog(moved.id, times(dayAgo(2), 9));
		await run();
		expect(entryOf(changed.id, dayAgo(3))).toMatchObject({ edited: edit, isStarred: false });
		expect(entryOf(moved.id, dayAgo(2))).toMatchObject({ edited: edit });
		expect(entryOf('made', dayAgo(3))).toMatchObject({
			madeHere: { source: 'recording', externalId: 'abc' },
			goneAt: expect.any(String),
		});
		expect(filesOf('made')).toHaveLength(2);
		const [json] = entryOf(changed.id, dayAgo(3))!.files;
		expect(readFileSync(join(folder, json.path), 'utf8')).toContain('"Of the service"');
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [] });
	});

	test('reads the audio of the pendant, whatever another device recorded at the time', async () => {
		const [first, second] = [dayAgo(21), dayAgo(20)];
		// Of the second day the service has nothing but audio.
		await record(`${second}T00:05:00.000Z`);
		await record(`${second}T05:00:00.000Z`);
		await sandbox.control.addLifelog({
			startTime: `${first}T23:50:00.000Z`,
			endTime: `${second}T00:20:00.000Z`,
		});
		await run();
		const { audio, missingAudio } = newestManifests(folder).get(second)!;
		const midnight = Date.parse(second);
		const pendant = audio.filter(({ path }) => path.startsWith('audio/pendant/'));
		expect(pendant).toMatchObject([{ startMs: midnight, endMs: midnight + 2 * HOUR_MS }]);
		expect(audio).toHaveLength(3);
		const missing = missingAudio!.map(({ startMs, endMs }) => endMs - startMs);
		expect(missing.reduce((sum, ms) => sum + ms)).toBe(22 * HOUR_MS);
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [] });
		await sandbox.control.clearRequests();
		await run();
		const asked = (await sandbox.control.requests()).map(({ path }) => path);
		expect(asked).not.toContain('/v1/download-audio');
	});
});

describe('Full archive', () => {
	test('keeps the changes of a server to a day that is being read', async () => {
		const day = dayAgo(20);
		const [edited, removed] = [await addLifelog(day, 8), await addLifelog(day, 9)];
		await runFullArchive(folder, sandbox);
		await addLifelog(day, 10);
		await runFullArchive(folder, sandbox, async () => {
			await record(`${day}T12:00:00.000Z`);
			await byServer(async (store) => {
				const made = lifelogOf('made', `${day}T20:00:00.000Z`);
				await store.createLifelog(made, { source: 'api' });
				await store.changeLifelog(edited.id, { title: 'Edited' });
				await store.deleteLifelog(removed.id);
			});
		});
		expect(
			newestManifests(folder)
				.get(day)!
				.audio.map(({ path }) => path),
		).toContainEqual(expect.stringMatching(/^audio\/recordings\//));
		expect(entryOf('made', day)).toMatchObject({ madeHere: { source: 'api' } });
		expect(entryOf(edited.id, day)).toMatchObject({ edited: { title: 'Edited' } });
		expect(entryOf(removed.id, day)).toMatchObject({ files: [], deletedAt: expect.anything() });
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [], lifelogs: 3 });
	});
});

describe('archive', () => {
	test("doesn't bring back a lifelog that is deleted while another day is read", async () => {
		await addLifelog(dayAgo(3), 8);
		const { id } = await addLifelog(dayAgo(3), 9);
		await archive();
		await sandbox.control.updateLifelog(id, times(dayAgo(2), 9));
		// Audio is read after the lifelogs, and before anything is stored.
		let isAsked = false;
		let release = () => {};
		const released = new Promise<void>((resolve) => (release = resolve));
		const slow = await serve(async (request, response) => {
			if (request.url!.startsWith('/v1/download-audio')) {
				isAsked = true;
				await released;
			}
			const headers = { 'X-API-Key': sandbox.apiKey };
			const answer = await fetch(sandbox.url + request.url!, { headers });
			const type = answer.headers.get('content-type') ?? '';
			response.writeHead(answer.status, { 'content-type': type });
			response.end(Buffer.from(await answer.arrayBuffer()));
		});
		const running = commands.archive(folder, '--url', slow.url);
		await until(async () => isAsked);
		await remove(`lifelogs/${id}`);
		release();
		expect(await running).toMatchObject({ status: 0 });
		await slow.close();
		expect(filesOf(id)).toEqual([]);
		expect(entryOf(id, dayAgo(2))).toMatchObject({ files: [], deletedAt: expect.anything() });
		await archive();
		expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [], lifelogs: 1 });
	});

	test('removes a deleted lifelog also from other days', async () => {
		await addLifelog(dayAgo(3), 8);
		const { id } = await addLifelog(dayAgo(3), 9);
		await archive();
		const before = newestManifests(folder).get(dayAgo(3))!;
		await sandbox.control.updateLifelog(id, times(dayAgo(2), 9));
		await archive();
		await remove(`lifelogs/${id}`);
		const files = before.lifelogs[id].files;
		for (const { path } of files) writeFileSync(join(folder, path), 'Words of it');
		const [goneAt] = [new Date().toISOString()];
		changeDay(folder, dayAgo(3), (file) => ({
			...file,
			lifelogs: { ...file.lifelogs, [id]: { ...before.lifelogs[id], goneAt } },
		}));
		await archive();
		expect(filesOf(id)).toEqual([]);
		expect(entryOf(id, dayAgo(3))).toMatchObject({ files: [], deletedAt: expect.anything() });
	});

	test('marks a lifelog that was moved to another day as gone from its former day', async () => {
		await addLifelog(dayAgo(3), 8);
		const { id } = await addLifelog(dayAgo(3), 9);
		await archive();
		await sandbox.control.updateLifelog(id, times(dayAgo(2), 9));
		await archive();
		expect(entryOf(id, dayAgo(3))).toHaveProperty('goneAt');
		expect(entryOf(id, dayAgo(2))).not.toHaveProperty('goneAt');
		await sandbox.control.clearRequests();
		await archive();
		const paths = (await sandbox.control.requests()).map(({ path }) => path);
		expect(paths).toEqual(['/v1/lifelogs', '/v1/chats', '/v1/chats']);
	});
});

describe('import', () => {
	/** The Markdown of a lifelog in an export, which has neither its ID nor its own end. */
	function exportOf(lifelog: Lifelog): string {
		const root = temporaryFolder();
		const { content, startMs } = writeLifelog(lifelog, 'appExport', 'UTC')!;
		const path = join(root, `${appExportPath(startMs, 'A title')}.md`);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, content);
		return root;
	}
	const start = Date.parse('2026-03-01T08:00:00.000Z');
	const said = {
		...{ type: 'blockquote', content: 'We said that.', speakerName: 'Anna' },
		startTime: new Date(start + 5000).toISOString(),
		endTime: new Date(start + 60_000).toISOString(),
	};
	const lifelog = lifelogOf('a', new Date(start).toISOString(), { contents: [said] });

	test("doesn't add a deleted entry, recognized by its ID or its times", async () => {
		await writeArchive(folder, { lifelogs: [lifelog] });
		await remove('lifelogs/a');
		const { status, output } = await commands.import(exportOf(lifelog), folder);
		expect([status, output]).toEqual([0, expect.stringContaining('Nothing new.')]);
		const other = lifelogOf('b', '2026-03-01T12:00:00.000Z');
		const from = exportOf(other);
		expect((await commands.import(from, folder)).output).toContain('Imported: 1 lifelog,');
		const { lifelogs } = newestManifests(folder).get('2026-03-01')!;
		const id = Object.keys(lifelogs).find((each) => each.startsWith('export-'))!;
		await remove(`lifelogs/${id}`);
		const again = await commands.import(from, folder);
		expect(again.output).toContain('Deleted from the archive, or in it already: 1 lifelog,');
		expect(await checkHere(folder)).toMatchObject({ findings: [], lifelogs: 0 });
	});

	test('adds to a day with made and edited lifelogs, and leaves those unchanged', async () => {
		await makeLifelog(folder, lifelog, { source: 'api', externalId: 'abc' });
		editLifelog(folder, '2026-03-01', 'a', { title: 'Edited', at: '2026-03-02T00:00:00.000Z' });
		const before = entryOf('a', '2026-03-01');
		await commands.import(exportOf(lifelogOf('b', '2026-03-01T12:00:00.000Z')), folder);
		expect(entryOf('a', '2026-03-01')).toEqual(before);
		expect(await checkHere(folder)).toMatchObject({ findings: [], lifelogs: 2 });
	});
});

test("check --service doesn't report entries that were made, edited or deleted here", async () => {
	const { control } = sandbox;
	const [edited, changed, moved, removed] = [
		await addLifelog(dayAgo(3), 8),
		await addLifelog(dayAgo(3), 9),
		await addLifelog(dayAgo(3), 10),
		await addLifelog(dayAgo(3), 11),
	];
	const chat = await control.addChat({ createdAt: `${dayAgo(3)}T12:00:00.000Z` });
	await archive();
	await makeLifelog(folder, lifelogOf('made', `${dayAgo(3)}T20:00:00.000Z`));
	const edit = { title: 'Edited', isStarred: true, at: new Date().toISOString() };
	editLifelog(folder, dayAgo(3), edited.id, edit);
	const ids = [changed, moved, removed].map(({ id }) => `lifelogs/${id}`);
	await remove(...ids, `chats/${chat.id}`);
	await control.updateLifelog(changed.id, { title: 'Another title' });
	await control.updateLifelog(moved.id, times(dayAgo(2), 10));
	await control.deleteLifelog(removed.id);
	await control.updateChat(chat.id, { messages: [...chat.messages, ...chat.messages] });
	expect(await checkHere(folder, sandbox)).toMatchObject({ findings: [], lifelogs: 2, chats: 0 });
});

test('check reports a deleted lifelog that still has files', async () => {
	const lifelogs = [lifelogOf('a', '2026-03-01T08:00:00.000Z')];
	await writeArchive(folder, { lifelogs });
	changeDay(folder, '2026-03-01', ({ lifelogs: { a }, ...file }) => ({
		...file,
		lifelogs: { a: { ...a, deletedAt: '2026-03-02T00:00:00.000Z' } },
	}));
	const { findings } = await checkHere(folder);
	expect(findings).toEqual([
		{
			...{ kind: 'broken', day: '2026-03-01', id: 'a' },
			message: 'was deleted from the archive, but its day manifest still names its files',
		},
	]);
});
