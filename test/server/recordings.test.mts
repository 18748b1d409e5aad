import { execFileSync, spawnSync } from 'node:child_process';
import {
	copyFileSync,
	openAsBlob,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContentNode, Lifelog } from '../../nodes/shared/api/apiTypes.ts';
import type { Recording } from '../../server/recordings/queue.mts';
import { writeArchive } from '../support/archive.mts';
import { findingsIn } from '../support/findings.mts';
import { spawnLifelogServer } from '../support/lifelogServer.mts';
import {
	archivedIn,
	askRecordings,
	killWhileRecording,
	uploadTo,
	whenRecording,
} from '../support/recordings.mts';
import { newestManifests } from '../support/manifests.mts';
import { hearTones, makeTones } from '../support/tones.mts';
import {
	faults,
	speakerOf,
	startTranscription,
	wordsOf,
	type TranscriptionEndpoint,
} from '../support/transcription.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from './sources.mts';

let endpoint: TranscriptionEndpoint;
let archive: string;
let server: SpawnedServer;
let files: string;

const argsOf = (...more: string[]) => [
	...['--allow-changes', '--allow-delete', '--timezone', 'Europe/Berlin'],
	...['--transcription-url', endpoint.url, '--transcription-model', 'whisper-1'],
	...more,
];

beforeAll(async () => {
	endpoint = await startTranscription();
	files = temporaryFolder();
	await makeTones(join(files, 'tones.m4a'), { seconds: 10 });
	archive = temporaryFolder();
	server = await startLifelogServer(archive, argsOf());
});
beforeEach(() => {
	endpoint.fault = endpoint.instead = undefined;
	endpoint.refuses = [];
});
afterAll(async () => {
	await server.close();
	await endpoint.close();
});

let copies = 0;
/** Ten seconds of tones, in a file that no other one is the same as. */
function ten(): string {
	const path = join(files, `ten ${(copies += 1)}.m4a`);
	const copy = ['-c', 'copy', '-metadata', `comment=${copies}`, path];
	execFileSync('ffmpeg', ['-v', 'error', '-i', join(files, 'tones.m4a'), ...copy]);
	return path;
}
async function restart(args = argsOf()): Promise<void> {
	await server.close();
	server = await startLifelogServer(archive, args);
}

const upload = (path: string, fields?: Record<string, string>) => uploadTo(server, path, fields);
const get = (id: string) => askRecordings(server, `/${id}`);
const retry = (id: string) => askRecordings(server, `/${id}/retry`, { method: 'POST' });
const drop = (id: string) => askRecordings(server, `/${id}`, { method: 'DELETE' });
const listed = async (query = ''): Promise<Recording[]> =>
	(await (await ask(server, `/v1/recordings?${query}`)).json()).data.recordings;
const when = (id: string, isSo: (recording: Recording) => boolean) =>
	whenRecording(server, id, isSo);
/** A recording that is done or has failed, and whose file was put away, which is a moment later. */
async function ended(id: string): Promise<Recording> {
	const recording = await when(id, ({ status }) => status === 'done' || status === 'failed');
	const kept = recording.status === 'failed' ? `${id}.original` : undefined;
	while (waiting().some((name) => name.startsWith(id) && name !== kept)) await sleep(20);
	return recording;
}

async function made(path: string, fields?: Record<string, string>): Promise<Lifelog[]> {
	const { recording } = await upload(path, fields);
	const { status, error, lifelogIds } = await ended(recording.id);
	expect([status, error]).toEqual(['done', null]);
	return await Promise.all(lifelogIds.map(lifelog));
}
const lifelog = async (id: string): Promise<Lifelog> =>
	(await (await ask(server, `/v1/lifelogs/${id}`)).json()).data.lifelog;

const said = ({ contents }: Lifelog): ContentNode[] =>
	contents.filter(({ type }) => type === 'blockquote');

/** All that an upload can leave. */
const everything = async () => [await listed(), waiting()];

/** What waits in the archive to become lifelogs. */
const waiting = () => readdirSync(join(archive, '.lifelog-recordings'));

describe('a recording', () => {
	test('becomes a lifelog whose every word has its time, with its audio, and search finds it', async () => {
		const { status, recording } = await upload(ten(), {
			startTime: '2026-03-01 09:04:12',
			timezone: 'Europe/Berlin',
		});
		expect([status, recording]).toEqual([
			202,
			{
				...{
					id: expect.stringMatching(/^rec-[0-9a-f]{20}$/),
					fileName: expect.stringMatching(/^ten \d+\.m4a$/),
					error: null,
				},
				lifelogIds: [],
				...{ status: 'queued', startTime: null, startTimeFrom: null, durationMs: null },
				...{ attempts: 0, createdAt: expect.any(String) },
			},
		]);
		const done = await ended(recording.id);
		expect(done).toMatchObject({
			...{ status: 'done', startTime: '2026-03-01T08:04:12.000Z', startTimeFrom: 'upload' },
			attempts: 1,
		});
		expect(Math.abs(done.durationMs! - 10_000)).toBeLessThan(100);
		const [id] = done.lifelogIds;
		const utterances = said(await lifelog(id));
		expect(utterances.map(({ content }) => content)).toEqual(
			Array.from({ length: 10 }, (_, second) => wordsOf(second)),
		);
		for (const [second, { startTime }] of utterances.entries()) {
			const offset = Date.parse(startTime!) - Date.parse('2026-03-01T08:04:12Z');
			expect(Math.abs(offset - (second * 1000 + 100))).toBeLessThan(100);
		}
		const found = await ask(server, `/v1/lifelogs?search="${wordsOf(7)}"`);
		expect((await found.json()).data.lifelogs.map((each: Lifelog) => each.id)).toEqual([id]);
		// Seconds 4 to 8 of it.
		const [from, to] = ['2026-03-01T08:04:16Z', '2026-03-01T08:04:20Z'].map(Date.parse);
		const audio = await ask(server, `/v1/download-audio?startMs=${from}&endMs=${to}`);
		const cut = join(files, 'cut.ogg');
		writeFileSync(cut, Buffer.from(await audio.arrayBuffer()));
		const heard = await hearTones(cut);
		expect(heard.map(({ second }) => second)).toEqual([4, 5, 6, 7]);
		for (const [n, { startMs }] of heard.entries()) {
			expect(Math.abs(startMs - (n * 1000 + 100))).toBeLessThanOrEqual(20);
		}
		expect(await findingsIn(archive)).toEqual([]);
	});

	test('is known by its bytes and by its external ID', async () => {
		const path = ten();
		const before = (await listed()).length;
		const { recording } = await upload(path, { externalId: 'memo 1' });
		expect(await upload(path)).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await makeTones(join(files, 'three.wav'), { seconds: 3 });
		expect(await upload(join(files, 'three.wav'), { externalId: 'memo 1' })).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await ended(recording.id);
		expect(await listed()).toHaveLength(before + 1);
	});

	test('is in a copy of the one file of the queue while the server runs', async () => {
		await made(ten());
		const copy = join(files, 'queue');
		copyFileSync(join(archive, '.lifelog-index.sqlite.recordings'), copy);
		const queue = new DatabaseSync(copy, { readOnly: true });
		const rows = queue.prepare('SELECT id FROM recording ORDER BY number DESC').all();
		queue.close();
		expect(rows).toEqual((await listed('limit=100')).map(({ id }) => ({ id })));
	});

	test('that is sent twice at the same time is taken once', async () => {
		const same = ten();
		const [one, two] = await Promise.all([upload(same), upload(same)]);
		expect([one.status, two.status].sort()).toEqual([200, 202]);
		expect(one.recording.id).toBe(two.recording.id);
		const named = { externalId: 'memo 2' };
		const [three, four] = await Promise.all([upload(ten(), named), upload(ten(), named)]);
		expect([three.status, four.status].sort()).toEqual([200, 202]);
		expect(three.recording.id).toBe(four.recording.id);
		for (const { recording } of [one, three]) await ended(recording.id);
	});

	test('has the time in its name, in the zone of the server', async () => {
		const path = join(files, '20260301 090412.m4a');
		renameSync(ten(), path);
		const { recording } = await upload(path);
		expect(await ended(recording.id)).toMatchObject({
			...{ startTime: '2026-03-01T08:04:12.000Z', startTimeFrom: 'fileName' },
		});
	});

	test('that says nothing of its time ended when its file was modified', async () => {
		const { recording } = await upload(ten(), {
			modifiedTime: '2026-03-01 10:00:00',
			timezone: 'Europe/Berlin',
		});
		const { startTime, startTimeFrom, durationMs } = await ended(recording.id);
		expect(startTimeFrom).toBe('modified');
		expect(Date.parse(startTime!) + durationMs!).toBe(Date.parse('2026-03-01T09:00:00Z'));
		// Devices without a clock begin in 1980.
		const old = await upload(ten(), { modifiedTime: '315532800000' });
		expect(Date.parse((await ended(old.recording.id)).startTime!)).toBeGreaterThan(
			Date.parse(old.recording.createdAt) - 60_000,
		);
	});

	test('with a pause of ten minutes becomes two lifelogs', async () => {
		const path = join(files, 'pause.mp3');
		await makeTones(path, { seconds: 610, silent: [[2, 605]] });
		const lifelogs = await made(path, { startTime: '2026-03-01T23:55:00Z', title: 'Walk' });
		expect(lifelogs.map(({ title, startTime }) => [title, startTime])).toEqual([
			['Walk', '2026-03-01T23:55:00.000Z'],
			['Walk', '2026-03-02T00:05:05.000Z'],
		]);
		expect(lifelogs.map((each) => said(each).length)).toEqual([2, 5]);
		expect(await findingsIn(archive)).toEqual([]);
	});

	test('in which nobody speaks makes no lifelog, and its audio is kept', async () => {
		const path = join(files, 'silent.ogg');
		await makeTones(path, { seconds: 5, silent: [[0, 5]] });
		const { recording } = await upload(path, { startTime: '2026-02-01T09:00:00Z' });
		expect(await ended(recording.id)).toMatchObject({ status: 'done', lifelogIds: [] });
		const { audio, lifelogs } = newestManifests(archive).get('2026-02-01')!;
		expect([audio.map((file) => file.path), lifelogs]).toEqual([
			['audio/recordings/2026/02/01/audio_20260201T090000Z_20260201T090005Z.ogg'],
			{},
		]);
		expect(await findingsIn(archive)).toEqual([]);
	});

	test('whose lifelog was deleted makes no other one', async () => {
		const path = ten();
		const [{ id }] = await made(path);
		await ask(server, `/v1/lifelogs/${id}`, { method: 'DELETE' });
		const again = await upload(path);
		expect(again).toMatchObject({ status: 200, recording: { status: 'done', lifelogIds: [] } });
		expect((await get(again.recording.id)).recording.lifelogIds).toEqual([]);
		expect((await listed('limit=100')).flatMap(({ lifelogIds }) => lifelogIds)).not.toContain(id);
		expect((await ask(server, `/v1/lifelogs/${id}`)).status).toBe(404);
		// The queue is lost.
		await server.close();
		for (const name of readdirSync(archive)) {
			if (name.includes('.recordings')) rmSync(join(archive, name));
		}
		server = await startLifelogServer(archive, argsOf());
		expect(await made(path)).toEqual([]);
	});

	test('keeps its original with --keep-originals, however long its name is', async () => {
		await restart(argsOf('--keep-originals'));
		const long = new FormData();
		long.set('file', await openAsBlob(ten()), `${'語'.repeat(150)}.m4a`);
		const request = { method: 'POST', body: long };
		const named = await askRecordings(server, '', request);
		expect(await ended(named.recording.id)).toMatchObject({ status: 'done', attempts: 1 });
		rmSync(join(archive, 'originals'), { recursive: true });
		const path = ten();
		const { recording } = await upload(path);
		await ended(recording.id);
		const [original] = execFileSync('find', [join(archive, 'originals'), '-type', 'f'], {
			encoding: 'utf8',
		}).split('\n');
		expect(basename(original)).toBe(`${recording.id}_${basename(path)}`);
		expect(readFileSync(original)).toEqual(readFileSync(path));
		expect(await findingsIn(archive)).toEqual([]);
	});
});

describe('an upload that can not be is refused, and leaves nothing', () => {
	const body = (fields: Record<string, string | Blob>) => {
		const form = new FormData();
		for (const [name, value] of Object.entries(fields)) form.set(name, value);
		return { method: 'POST', body: form };
	};
	const file = new Blob(['abc']);

	test.each<[string, () => RequestInit, number, RegExp]>([
		[
			'JSON',
			() => ({ method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }),
			400,
			/multipart/,
		],
		['no file', () => body({ title: 'x' }), 400, /no 'file'/],
		['a file by another name', () => body({ audio: file }), 400, /more than one file/],
		['an empty file', () => body({ file: new Blob([]) }), 400, /empty/],
		['an unknown field', () => body({ file, when: 'x' }), 400, /no field 'when'.*startTime/],
		[
			'a modification time that is no time',
			() => body({ file, modifiedTime: 'x' }),
			400,
			/modifiedTime/,
		],
		['a start that is no time', () => body({ file, startTime: 'noon' }), 400, /startTime "noon"/],
		['an unknown zone', () => body({ file, timezone: 'Mars' }), 400, /timezone "Mars"/],
		['an odd language', () => body({ file, language: 'de&x=1' }), 400, /language/],
		['a long external ID', () => body({ file, externalId: 'x'.repeat(1001) }), 400, /externalId/],
	])('%s', async (_name, request, status, problem) => {
		const before = await everything();
		const answer = await askRecordings(server, '', request());
		expect([answer.status, answer.error]).toEqual([status, expect.stringMatching(problem)]);
		expect(await everything()).toEqual(before);
	});

	test('above --max-upload, also if the request does not say how long it is', async () => {
		await restart(argsOf('--max-upload', '1'));
		const large = body({ file: new Blob([Buffer.alloc(3_000_000)]) });
		const form = new Response(large.body as FormData);
		const headers = { 'Content-Type': form.headers.get('Content-Type')! };
		const before = await everything();
		for (const request of [large, { ...large, body: form.body!, headers, duplex: 'half' }]) {
			const { status, error } = await askRecordings(server, '', request);
			expect([status, error]).toEqual([413, expect.stringContaining('--max-upload')]);
			expect(await everything()).toEqual(before);
		}
		await restart();
	});

	test('without --allow-changes, without an endpoint, without --allow-delete', async () => {
		const path = ten();
		const { recording } = await upload(path);
		await ended(recording.id);
		await restart(argsOf().filter((arg) => arg !== '--allow-delete'));
		expect(await drop(recording.id)).toMatchObject({
			...{ status: 403, error: expect.stringContaining('--allow-delete') },
		});
		await restart(argsOf().filter((arg) => arg !== '--allow-changes'));
		for (const { status, error } of [
			await upload(path),
			await get(recording.id),
			await retry(recording.id),
		]) {
			expect([status, error]).toEqual([403, expect.stringContaining('--allow-changes')]);
		}
		await restart(['--allow-changes']);
		expect(await upload(path)).toMatchObject({
			...{ status: 409, error: expect.stringContaining('--transcription-url') },
		});
		await restart();
	});

	test('that breaks off', async () => {
		const [head, tail] = [
			'--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
			'abc',
		];
		const before = await everything();
		const sending = ask(server, '/v1/recordings', {
			method: 'POST',
			headers: { 'content-type': 'multipart/form-data; boundary=x' },
			body: new ReadableStream({
				async pull(controller) {
					controller.enqueue(Buffer.from(head + tail));
					do await sleep(20);
					while (!waiting().some((name) => name.endsWith('.part')));
					controller.error(new Error('It breaks off'));
				},
			}),
			duplex: 'half',
		} as RequestInit);
		await expect(sending).rejects.toThrow();
		while (waiting().some((name) => name.endsWith('.part'))) await sleep(50);
		expect(await everything()).toEqual(before);
	});

	const onLinux = process.platform === 'linux' ? test : test.skip;
	onLinux('on a full disk', async () => {
		await server.close();
		const { child, ready } = spawnLifelogServer(archive, argsOf());
		server = await ready;
		const limit = (bytes: string) =>
			spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
		expect(limit('100000').status).toBe(0);
		const before = await everything();
		const path = join(files, 'large.wav');
		await makeTones(path, { seconds: 20 });
		const { status, error } = await upload(path);
		limit('unlimited');
		expect([status, error]).toEqual([507, expect.stringContaining('disk')]);
		expect(await everything()).toEqual(before);
		const { recording } = await upload(path);
		await ended(recording.id);
	});
});

describe('a recording that fails', () => {
	test('for good says why and keeps its file; it can be tried again and dropped', async () => {
		const path = join(files, 'song.mp3');
		writeFileSync(path, 'This is a text, whatever its name says.\n'.repeat(100));
		const { recording } = await upload(path);
		const failed = await ended(recording.id);
		expect(failed).toMatchObject({ status: 'failed', attempts: 1, error: expect.any(String) });
		expect(failed.error).not.toContain(archive);
		expect(waiting()).toEqual([`${recording.id}.original`]);
		// The others go on.
		expect(await made(ten())).toHaveLength(1);
		await restart();
		expect(await listed('status=failed')).toMatchObject([{ id: recording.id }]);
		expect(await retry(recording.id)).toMatchObject({ status: 200, recording: { error: null } });
		expect(await when(recording.id, ({ attempts }) => attempts === 2)).toBeDefined();
		await ended(recording.id);
		expect(await upload(path)).toMatchObject({ status: 200, recording: { status: 'queued' } });
		await ended(recording.id);
		expect(await drop(recording.id)).toMatchObject({ status: 200 });
		expect(await get(recording.id)).toMatchObject({ status: 404 });
		expect(waiting()).toEqual([]);
	});

	test('for good gives its external ID away to other bytes', async () => {
		const path = join(files, 'cut off.wav');
		writeFileSync(path, 'cut off');
		const { recording } = await upload(path, { externalId: 'memo 3' });
		await ended(recording.id);
		const whole = ten();
		const next = await upload(whole, { externalId: 'memo 3' });
		expect(next).toMatchObject({ status: 202, recording: { fileName: basename(whole) } });
		expect(await ended(next.recording.id)).toMatchObject({ status: 'done' });
		// Nobody has allowed to delete it.
		expect(await get(recording.id)).toMatchObject({ recording: { status: 'failed' } });
		await ended((await upload(path, { externalId: 'memo 4' })).recording.id);
		// Bytes that are done by another external ID.
		expect(await upload(whole, { externalId: 'memo 4' })).toMatchObject({
			...{ status: 200, recording: { id: next.recording.id } },
		});
		expect(await drop(recording.id)).toMatchObject({ status: 200 });
		expect(waiting()).toEqual([]);
	});

	test.each(['error', 'rateLimit', 'key', 'html', 'nothing', 'broken'] as const)(
		'because of the endpoint (%s) is tried again until it works',
		async (fault) => {
			endpoint.fault = faults[fault];
			const { recording } = await upload(ten());
			const { status, error } = await when(recording.id, (now) => now.error !== null);
			expect([status, error]).toEqual(['queued', expect.stringMatching(/transcription endpoint/)]);
			endpoint.fault = undefined;
			await retry(recording.id);
			expect(await ended(recording.id)).toMatchObject({ status: 'done', error: null });
			expect(await retry(recording.id)).toMatchObject({ status: 409 });
			expect(await drop(recording.id)).toMatchObject({ status: 409 });
		},
	);

	test('because of the diarization endpoint is not transcribed again', async () => {
		await restart(argsOf('--diarization-url', endpoint.url));
		// A diarizer is asked for no format.
		endpoint.refuses = ['json'];
		const before = endpoint.asked.length;
		const { recording } = await upload(ten());
		expect((await ended(recording.id)).error).toBe('The diarization endpoint answers 400');
		endpoint.refuses = [];
		await retry(recording.id);
		const { lifelogIds } = await when(recording.id, ({ status }) => status === 'done');
		const speakers = said(await lifelog(lifelogIds[0])).map(({ speakerName }) => speakerName);
		expect(speakers.slice(0, 3)).toEqual([0, 1, 2].map(speakerOf));
		const asked = endpoint.asked.slice(before).map(({ path }) => basename(path));
		expect(asked).toEqual(['transcriptions', 'diarization', 'diarization']);
	});

	test('is tried again as the next upload asks for', async () => {
		await restart(argsOf('--diarization-url', endpoint.url));
		endpoint.refuses = ['json'];
		const path = ten();
		const { recording } = await upload(path, { startTime: '2026-03-01T09:00:00Z' });
		expect(await ended(recording.id)).toMatchObject({ startTime: '2026-03-01T09:00:00.000Z' });
		endpoint.refuses = [];
		const before = endpoint.asked.length;
		const named = { externalId: 'memo 5' };
		const fields = { ...named, startTime: '2026-03-02T10:00:00Z', title: 'Walk', language: 'de' };
		expect((await upload(path, fields)).recording.id).toBe(recording.id);
		const done = await when(recording.id, ({ status }) => status === 'done');
		expect(await lifelog(done.lifelogIds[0])).toMatchObject({
			...{ title: 'Walk', startTime: '2026-03-02T10:00:00.000Z' },
		});
		expect(endpoint.asked[before].fields).toMatchObject({ language: 'de' });
		expect(await upload(ten(), named)).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await restart();
	});

	test('in one part is whole when its parts become others', async () => {
		await restart(argsOf('--transcription-format', 'wav'));
		const path = join(files, 'parts.mp3');
		await makeTones(path, {
			...{ seconds: 710, silent: [[1, 400] as [number, number], [401, 700] as [number, number]] },
		});
		endpoint.instead = ({ fileName }) => {
			if (fileName === '001.wav') return { segments: [{ text: 'Hello.', start: 0, end: 1 }] };
			throw new Error('no more');
		};
		const { recording } = await upload(path);
		await when(recording.id, ({ error }) => error !== null);
		endpoint.instead = undefined;
		await restart();
		const { lifelogIds } = await when(recording.id, ({ status }) => status === 'done');
		expect(said(await lifelog(lifelogIds[0])).map(({ content }) => content)).toEqual(
			[0, 400, ...Array.from({ length: 10 }, (_, n) => 700 + n)].map(wordsOf),
		);
	});

	test('because its file is gone is made when the file is uploaded again', async () => {
		const path = join(files, 'gone.wav');
		writeFileSync(path, 'no sound');
		const { recording } = await upload(path);
		await ended(recording.id);
		rmSync(join(archive, '.lifelog-recordings', `${recording.id}.original`));
		await retry(recording.id);
		expect((await ended(recording.id)).error).toContain('Upload it again');
		expect(await upload(path)).toMatchObject({ status: 200, recording: { status: 'queued' } });
		expect((await ended(recording.id)).error).not.toContain('Upload it again');
		await drop(recording.id);
	});

	test('because its disk is not mounted is tried again', async () => {
		endpoint.fault = faults.error;
		const { recording } = await upload(ten());
		await when(recording.id, ({ error }) => error !== null);
		renameSync(archive, `${archive}-away`);
		await retry(recording.id);
		const { status } = await when(
			recording.id,
			({ attempts, error }) => attempts > 1 && error !== null,
		);
		renameSync(`${archive}-away`, archive);
		expect(status).toBe('queued');
		endpoint.fault = undefined;
		await retry(recording.id);
		expect(await ended(recording.id)).toMatchObject({ status: 'done' });
	});

	test('to be put away is done, and only that is tried again', async () => {
		rmSync(join(archive, 'originals'), { recursive: true, force: true });
		writeFileSync(join(archive, 'originals'), 'no folder');
		await restart(argsOf('--keep-originals'));
		const { recording } = await upload(ten());
		await when(recording.id, ({ status }) => status === 'done');
		await restart(argsOf('--keep-originals'));
		await sleep(500);
		expect((await get(recording.id)).recording).toMatchObject({ status: 'done', attempts: 1 });
		expect(waiting()).toContain(`${recording.id}.original`);
		rmSync(join(archive, 'originals'));
		await restart(argsOf('--keep-originals'));
		while (waiting().length > 0) await sleep(50);
	});

	test('with its queue is taken again', async () => {
		endpoint.fault = faults.error;
		const { recording } = await upload(ten());
		await when(recording.id, ({ error }) => error !== null);
		await server.close();
		for (const name of readdirSync(archive)) {
			if (name.includes('.recordings')) rmSync(join(archive, name));
		}
		endpoint.fault = undefined;
		server = await startLifelogServer(archive, argsOf());
		expect(await ended(recording.id)).toMatchObject({ status: 'done' });
	});

	test('is dropped while it is transcribed', async () => {
		endpoint.fault = faults.silent;
		const before = await everything();
		const { recording } = await upload(ten());
		await when(recording.id, ({ status }) => status === 'transcribing');
		// One behind it doesn't wait for it.
		const next = await upload(ten());
		expect(await retry(next.recording.id)).toMatchObject({ status: 200 });
		expect(await drop(next.recording.id)).toMatchObject({ status: 200 });
		expect(await drop(recording.id)).toMatchObject({ status: 200 });
		expect(await everything()).toEqual(before);
	});
});

test('lists recordings page by page, newest first', async () => {
	endpoint.fault = faults.error;
	const ids: string[] = [];
	for (let n = 0; n < 5; n += 1) {
		const path = join(files, `n${n}.wav`);
		writeFileSync(path, `recording ${n}`);
		ids.unshift((await upload(path)).recording.id);
	}
	const seen: string[] = [];
	for (let cursor: string | undefined = ''; cursor !== undefined;) {
		const query = `limit=2${cursor && `&cursor=${cursor}`}`;
		const response: Response = await ask(server, `/v1/recordings?${query}`);
		const { data, meta } = await response.json();
		seen.push(...data.recordings.map(({ id }: Recording) => id));
		cursor = meta.recordings.nextCursor;
	}
	expect(seen.slice(0, ids.length)).toEqual(ids);
	for (const id of ids) await drop(id);
	expect(await askRecordings(server, '?cursor=x')).toMatchObject({
		...{ status: 400, error: expect.stringContaining('cursor') },
	});
});

test('where two devices recorded, audioSource chooses between them', async () => {
	const startMs = Date.parse('2026-04-01T09:00:00Z');
	const pendant = join(files, 'pendant.ogg');
	await makeTones(pendant, { seconds: 20, args: ['-c:a', 'libopus'] });
	const content = readFileSync(pendant);
	const span = { startMs: startMs - 5000, endMs: startMs + 15_000 };
	await writeArchive(archive, { audio: [{ ...span, content }] });
	await made(ten(), { startTime: '2026-04-01T09:00:00Z' });
	const heardOf = async (query: string) => {
		const range = `startMs=${startMs}&endMs=${startMs + 10_000}`;
		const audio = await ask(server, `/v1/download-audio?${range}${query}`);
		const path = join(files, 'heard.ogg');
		writeFileSync(path, Buffer.from(await audio.arrayBuffer()));
		return (await hearTones(path)).map(({ second }) => second);
	};
	const seconds = Array.from({ length: 10 }, (_, second) => second);
	expect(await heardOf('&audioSource=recordings')).toEqual(seconds);
	const ofPendant = seconds.map((second) => second + 5);
	expect(await heardOf('&audioSource=pendant')).toEqual(ofPendant);
	expect(await heardOf('')).toEqual(ofPendant);
});

test('a server that is killed goes on at its next start, and makes the same archive', async () => {
	const short = join(files, 'short.wav');
	await makeTones(short, { seconds: 4 });
	const fields = { startTime: '2026-03-01T09:00:00Z' };
	const uploads = [ten(), short].map((path) => ({ path, fields }));
	const [whole, killed] = [temporaryFolder(), temporaryFolder()];
	await killWhileRecording(whole, argsOf(), uploads, { kills: 0, random: Math.random });
	await killWhileRecording(killed, argsOf(), uploads, { kills: 5, random: Math.random });
	expect(archivedIn(killed)).toEqual(archivedIn(whole));
	expect(await findingsIn(killed)).toEqual([]);
	expect(readdirSync(join(killed, '.lifelog-recordings'))).toEqual([]);
});

test.each([
	[['--inbox', '/nowhere'], /--transcription-url/],
	[['--transcription-url', 'http://127.0.0.1:1/v1'], /together/],
	[['--transcription-url', 'http://example.org/v1', '--transcription-model', 'x'], /https/],
	[['--inbox-copy'], /--inbox/],
])('%j is refused at the start', async (args, problem) => {
	await expect(startLifelogServer(temporaryFolder(), args)).rejects.toThrow(problem);
});

test('a start that is refused for its inbox leaves the archive to the next one', async () => {
	const folder = temporaryFolder();
	const inbox = join(folder, 'inbox');
	await expect(startLifelogServer(folder, argsOf('--inbox', inbox))).rejects.toThrow(/no folder/);
	const next = await startLifelogServer(folder, argsOf());
	expect(next.log).toEqual([]);
	await next.close();
});
