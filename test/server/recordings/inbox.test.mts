import {
	copyFileSync,
	existsSync,
	mkdirSync,
	openAsBlob,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recording } from '../../support/recordings.mts';
import { findingsIn } from '../../support/findings.mts';
import { askRecordings, whenRecording } from '../../support/recordings.mts';
import { makeTones } from '../../support/tones.mts';
import {
	faults,
	startTranscription,
	type TranscriptionEndpoint,
} from '../../support/transcription.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

/** How often the inbox is looked at, and how long a file must not have changed: as they are in the soak. */
const TIMES = { everyMs: 50, unchangedMs: 150 };

let endpoint: TranscriptionEndpoint;
let folder: string;
let server: SpawnedServer;
let files: string;
let inbox: string;

beforeAll(async () => {
	files = temporaryFolder();
	await makeTones(join(files, 'ten.m4a'), { seconds: 10 });
	endpoint = await startTranscription();
});
beforeEach(() => {
	endpoint.fault = undefined;
	endpoint.refuses = [];
	folder = temporaryFolder();
	inbox = temporaryFolder();
});
afterEach(() => server.close());
afterAll(() => endpoint.close());

async function start(...args: string[]): Promise<void> {
	const all = [
		...['--timezone', 'Europe/Berlin', '--inbox', inbox],
		...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
		...args,
	];
	server = await startLifelogServer(folder, all, undefined, TIMES);
}

const listed = async (query = ''): Promise<Recording[]> =>
	(await (await ask(server, `/v1/recordings?${query}`)).json()).data.recordings;

const put = (name: string, from = 'ten.m4a') => copyFileSync(join(files, from), join(inbox, name));
const found = (path: string) =>
	existsSync(join(inbox, path)) ? readdirSync(join(inbox, path)).sort() : [];

test('takes finished files without --allow-changes, and moves them', async () => {
	writeFileSync(join(files, 'text.wav'), 'no sound');
	await makeTones(join(files, 'three.wav'), { seconds: 3 });
	put('20260301 090412.m4a');
	put('.hidden.m4a');
	put('half.m4a.part');
	put('text.wav', 'text.wav');
	mkdirSync(join(inbox, 'folder'));
	await start();
	while (found('done/2026/03').length === 0 || found('failed').length < 2) await sleep(200);
	expect(found('done/2026/03')).toEqual(['20260301 090412.m4a']);
	expect(found('failed')).toEqual(['text.wav', 'text.wav.txt']);
	const reason = () => readFileSync(join(inbox, 'failed/text.wav.txt'), 'utf8');
	while (reason() === '') await sleep(50);
	expect(reason()).toMatch(/To try again/);
	expect(found('.')).toEqual(
		['.hidden.m4a', '.processing', 'done', 'failed', 'folder', 'half.m4a.part'].sort(),
	);
	expect((await listed()).map(({ status }) => status).sort()).toEqual(['done', 'failed']);
	// The same bytes under another name, and one that failed.
	put('again.m4a');
	renameSync(join(inbox, 'failed/text.wav'), join(inbox, 'text.wav'));
	while (found('.').some((name) => /again|text/.test(name))) await sleep(200);
	while (found('failed').length < 2) await sleep(200);
	expect((await listed('status=done')).length).toBe(1);
	expect((await listed('status=failed'))[0].attempts).toBe(2);
	expect(await findingsIn(folder)).toEqual([]);
});

test('leaves files alone that are empty or still being written, and takes them when they are finished', async () => {
	const unfinished = [
		...['a.m4a.filepart', 'b.m4a.opdownload', 'c.m4a.!qB', 'd.m4a.!ut', 'e.m4a.bc!', 'f.m4a.aria2'],
		...['g.m4a.PART', 'h.mp4.part-Frag3', 'i.m4a.crdownload', 'j.m4a.tmp1234', '~k.m4a', 'f.m4a'],
	];
	for (const name of unfinished) put(name);
	writeFileSync(join(inbox, 'empty.m4a'), '');
	put('20260301 090412.m4a');
	await start();
	while (found('done/2026/03').length === 0) await sleep(100);
	await sleep(10 * TIMES.unchangedMs);
	const [first] = await listed();
	expect((await listed()).map(({ fileName }) => fileName)).toEqual([first.fileName]);
	const left = [...unfinished, '.processing', 'done', 'empty.m4a'];
	expect(found('.')).toEqual(left.sort());
	expect(server.log).toEqual([`Recording ${first.id} is done: 1 lifelog`]);
	// Both are finished now.
	await makeTones(join(files, 'three.m4a'), { seconds: 3 });
	await makeTones(join(files, 'two.m4a'), { seconds: 2 });
	put('empty.m4a', 'three.m4a');
	put('f.m4a', 'two.m4a');
	rmSync(join(inbox, 'f.m4a.aria2'));
	while ((await listed('status=done')).length < 3) await sleep(100);
	expect((await listed()).map(({ fileName }) => fileName).sort()).toEqual(
		['20260301 090412.m4a', 'empty.m4a', 'f.m4a'].sort(),
	);
});

test('says so if the lifelog of a file was deleted', async () => {
	put('20260301 090412.m4a');
	await start('--allow-changes', '--allow-delete');
	while (found('done/2026/03').length === 0) await sleep(100);
	const [{ lifelogIds }] = await listed();
	await ask(server, `/v1/lifelogs/${lifelogIds[0]}`, { method: 'DELETE' });
	put('20260301 090412 again.m4a');
	while (found('done/2026/03').length < 3) await sleep(100);
	expect(found('done/2026/03')).toContain('20260301 090412 again.m4a.txt');
	const note = () =>
		readFileSync(join(inbox, 'done/2026/03/20260301 090412 again.m4a.txt'), 'utf8');
	while (note() === '') await sleep(50);
	expect(note()).toMatch(/lifelog was deleted.*again=true/);
	expect(server.log).toContainEqual(expect.stringMatching(/^Recording rec-\w+ .*was deleted/));
	expect(await listed()).toMatchObject([{ lifelogIds: [], deletedLifelogIds: lifelogIds }]);
	expect(await findingsIn(folder)).toEqual([]);
});

test('puts each copy of a file that fails into failed/, with the reason', async () => {
	for (const name of ['one.wav', 'two.wav']) writeFileSync(join(inbox, name), 'no sound');
	await start();
	while (found('failed').length < 4) await sleep(50);
	writeFileSync(join(inbox, 'three.wav'), 'no sound');
	while (found('failed').length < 6) await sleep(50);
	const names = ['one.wav', 'three.wav', 'two.wav'];
	expect(found('failed')).toEqual(names.flatMap((name) => [name, `${name}.txt`]));
	for (const name of names) {
		const reason = () => readFileSync(join(inbox, `failed/${name}.txt`), 'utf8');
		while (reason() === '') await sleep(50);
		expect(reason()).toMatch(/To try again/);
	}
	expect(found('done')).toEqual([]);
	expect(await listed()).toMatchObject([{ status: 'failed' }]);
});

test('with --inbox-copy, continues with files that were claimed without it', async () => {
	mkdirSync(join(inbox, '.processing'));
	copyFileSync(join(files, 'ten.m4a'), join(inbox, '.processing/20260301 090412.m4a'));
	await start('--inbox-copy');
	while (found('done/2026/03').length === 0) await sleep(50);
	expect(await listed()).toMatchObject([{ status: 'done', fileName: '20260301 090412.m4a' }]);
});

test('that is read-only is copied, each file once', async () => {
	put('memo.m4a');
	writeFileSync(join(inbox, 'text.wav'), 'no sound');
	// File systems know parts of a millisecond.
	utimesSync(join(inbox, 'memo.m4a'), 1_772_366_400.1234567, 1_772_366_400.1234567);
	await start('--inbox-copy', '--allow-changes', '--allow-delete');
	while ((await listed('status=done')).length === 0) await sleep(200);
	while ((await listed('status=failed')).length === 0) await sleep(200);
	const [{ startTimeFrom, lifelogIds }] = await listed('status=done');
	expect([startTimeFrom, lifelogIds.length]).toEqual(['modified', 1]);
	expect(await findingsIn(folder)).toEqual([]);
	expect(found('.')).toEqual(['memo.m4a', 'text.wav']);
	// One that is dropped stays dropped.
	const [{ id }] = await listed('status=failed');
	await ask(server, `/v1/recordings/${id}`, { method: 'DELETE' });
	await server.close();
	await start('--inbox-copy');
	await sleep(10 * TIMES.unchangedMs);
	expect(await listed()).toHaveLength(1);
});

test('allows its files to be moved by hand', async () => {
	endpoint.refuses = ['verbose_json', 'json'];
	writeFileSync(join(inbox, 'away.wav'), 'no sound');
	writeFileSync(join(inbox, 'other.wav'), 'nor here');
	put('memo.m4a');
	await start('--allow-changes');
	while (found('failed').length < 6) await sleep(200);
	endpoint.refuses = [];
	endpoint.fault = faults.silent;
	const failed = await listed('status=failed');
	const retry = async (fileName: string) => {
		const { id } = failed.find((recording) => recording.fileName === fileName)!;
		await askRecordings(server, `/${id}/retry`, { method: 'POST' });
		return await whenRecording(server, id, ({ attempts }) => attempts === 2);
	};
	rmSync(join(inbox, 'failed/away.wav'));
	// Another recording has its name meanwhile.
	writeFileSync(join(inbox, 'failed/other.wav'), 'somebody else');
	for (const fileName of ['away.wav', 'other.wav']) {
		const { id } = await retry(fileName);
		const { error } = await whenRecording(server, id, ({ status }) => status === 'failed');
		expect(error).toBe('The file is no longer in failed/. Put it into the inbox again');
	}
	expect(readFileSync(join(inbox, 'failed/other.wav'), 'utf8')).toBe('somebody else');
	// It is put back while it is tried again.
	const asked = endpoint.asked.length;
	const memo = await retry('memo.m4a');
	while (endpoint.asked.length === asked) await sleep(50);
	renameSync(join(inbox, 'failed/memo.m4a'), join(inbox, 'memo.m4a'));
	endpoint.fault = undefined;
	expect(await whenRecording(server, memo.id, ({ status }) => status === 'done')).toMatchObject({
		...{ error: null, lifelogIds: [expect.any(String)] },
	});
	while (found('.processing').length > 0) await sleep(50);
	expect(found('failed')).toEqual(['other.wav', 'other.wav.txt']);
	expect(await findingsIn(folder)).toEqual([]);
});

test('takes a file that was missing, and files after its folder was missing', async () => {
	endpoint.fault = faults.error;
	await start('--allow-changes');
	const again = (id: string) => askRecordings(server, `/${id}/retry`, { method: 'POST' });
	put('memo.m4a');
	while (!(await listed())[0]?.error) await sleep(50);
	const [{ id }] = await listed();
	rmSync(join(inbox, '.processing/memo.m4a'));
	await again(id);
	const { error } = await whenRecording(server, id, ({ status }) => status === 'failed');
	expect(error).toBe('The file is no longer in .processing/. Put it into the inbox again');
	endpoint.fault = undefined;
	put('memo.m4a');
	await whenRecording(server, id, ({ status }) => status === 'done');
	while (found('.processing').length > 0) await sleep(50);
	rmSync(join(inbox, '.processing'), { recursive: true });
	writeFileSync(join(inbox, 'text.wav'), 'no sound');
	while (found('failed').length < 2) await sleep(50);
	const [{ fileName }] = await listed('status=failed');
	expect([fileName, found('.')]).toEqual(['text.wav', ['.processing', 'done', 'failed']]);
	expect(await findingsIn(folder)).toEqual([]);
});

test('loses no file because of its name, of another file with that name, or of a failed upload', async () => {
	writeFileSync(join(files, 'text.wav'), 'no sound');
	writeFileSync(join(files, 'other.wav'), 'nor here');
	mkdirSync(join(inbox, '.processing', 'folder'), { recursive: true });
	endpoint.fault = faults.error;
	await start('--allow-changes');
	const body = new FormData();
	body.set('file', await openAsBlob(join(files, 'text.wav')), 'text.wav');
	await ask(server, '/v1/recordings', { method: 'POST', body });
	while ((await listed('status=failed')).length === 0) await sleep(50);
	const long = `${'x'.repeat(251)}.wav`;
	put(long, 'other.wav');
	put('text.wav', 'text.wav');
	put('memo.m4a');
	writeFileSync(join(inbox, 'memo.m4a.txt'), 'Notes on the memo');
	const latin1 = Buffer.from(join(inbox, 'Caf\u00e9.m4a'), 'latin1');
	if (process.platform === 'linux') copyFileSync(join(files, 'ten.m4a'), latin1);
	while (found('failed').length < 6) await sleep(200);
	expect(found('failed').filter((name) => name.startsWith('xxx'))).toHaveLength(2);
	expect(await listed('status=failed')).toHaveLength(3);
	const hasFailedOnce = ({ fileName, error }: Recording) =>
		fileName === 'memo.m4a' && error !== null;
	let memo: Recording | undefined;
	while (!(memo = (await listed()).find(hasFailedOnce))) await sleep(50);
	endpoint.fault = undefined;
	await ask(server, `/v1/recordings/${memo.id}/retry`, { method: 'POST' });
	while ((await listed('status=done')).length === 0) await sleep(200);
	while (found('.processing').length > 1) await sleep(50);
	expect(readFileSync(join(inbox, 'failed/memo.m4a.txt'), 'utf8')).toBe('Notes on the memo');
	expect(server.log.filter((line) => line.includes('taken'))).toEqual([]);
	const odd = server.log.filter((line) => line.includes("Caf?.m4a in the inbox isn't UTF-8"));
	expect(odd).toHaveLength(process.platform === 'linux' ? 1 : 0);
});
