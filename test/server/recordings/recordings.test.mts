import { spawnSync } from 'node:child_process';
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
import type { Lifelog } from '../../../lifelog/api.ts';
import type { Recording } from '../../support/recordings.mts';
import { writeArchive } from '../../support/archive.mts';
import { findingsIn } from '../../support/findings.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { newestManifests } from '../../support/manifests.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { hearTones, makeTones } from '../../support/tones.mts';
import { faults, speakerOf, wordsOf } from '../../support/transcription.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

let lab: RecordingLab;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
});
beforeEach(() => lab.mend());
afterAll(() => lab.close());

describe('a recording', () => {
	test('becomes a lifelog with the right times and audio, and search finds it', async () => {
		const { status, recording } = await lab.upload(lab.ten(), {
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
				...{ lifelogIds: [], deletedLifelogIds: [] },
				...{ status: 'queued', startTime: null, startTimeFrom: null, durationMs: null },
				...{ attempts: 0, createdAt: expect.any(String) },
			},
		]);
		const done = await lab.ended(recording.id);
		expect(done).toMatchObject({
			...{ status: 'done', startTime: '2026-03-01T08:04:12.000Z', startTimeFrom: 'upload' },
			attempts: 1,
		});
		expect(Math.abs(done.durationMs! - 10_000)).toBeLessThan(100);
		const [id] = done.lifelogIds;
		const utterances = said(await lab.lifelog(id));
		expect(utterances.map(({ content }) => content)).toEqual(
			Array.from({ length: 10 }, (_, second) => wordsOf(second)),
		);
		for (const [second, { startTime }] of utterances.entries()) {
			const offset = Date.parse(startTime!) - Date.parse('2026-03-01T08:04:12Z');
			expect(Math.abs(offset - (second * 1000 + 100))).toBeLessThan(100);
		}
		const found = await lab.fetch(`/v1/lifelogs?search="${wordsOf(7)}"`);
		expect((await found.json()).data.lifelogs.map((each: Lifelog) => each.id)).toEqual([id]);
		// Seconds 4 to 8 of it.
		const [from, to] = ['2026-03-01T08:04:16Z', '2026-03-01T08:04:20Z'].map(Date.parse);
		const audio = await lab.fetch(`/v1/download-audio?startMs=${from}&endMs=${to}`);
		const cut = join(lab.files, 'cut.ogg');
		writeFileSync(cut, Buffer.from(await audio.arrayBuffer()));
		const heard = await hearTones(cut);
		expect(heard.map(({ second }) => second)).toEqual([4, 5, 6, 7]);
		for (const [n, { startMs }] of heard.entries()) {
			expect(Math.abs(startMs - (n * 1000 + 100))).toBeLessThanOrEqual(20);
		}
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('is recognized by its bytes and by its external ID', async () => {
		const path = lab.ten();
		const before = (await lab.listed()).length;
		const { recording } = await lab.upload(path, { externalId: 'memo 1' });
		expect(await lab.upload(path)).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await makeTones(join(lab.files, 'three.wav'), { seconds: 3 });
		expect(await lab.upload(join(lab.files, 'three.wav'), { externalId: 'memo 1' })).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await lab.ended(recording.id);
		expect(await lab.listed()).toHaveLength(before + 1);
	});

	test("is in a copy of the queue's file while the server runs", async () => {
		await lab.made(lab.ten());
		const copy = join(lab.files, 'queue');
		copyFileSync(join(lab.archive, '.lifelog-index.sqlite.recordings'), copy);
		const queue = new DatabaseSync(copy, { readOnly: true });
		const rows = queue.prepare('SELECT id FROM recording ORDER BY number DESC').all();
		queue.close();
		expect(rows).toEqual((await lab.listed('limit=100')).map(({ id }) => ({ id })));
	});

	test('that is sent twice at the same time is accepted once', async () => {
		const same = lab.ten();
		const [one, two] = await Promise.all([lab.upload(same), lab.upload(same)]);
		expect([one.status, two.status].sort()).toEqual([200, 202]);
		expect(one.recording.id).toBe(two.recording.id);
		const named = { externalId: 'memo 2' };
		const [three, four] = await Promise.all([
			lab.upload(lab.ten(), named),
			lab.upload(lab.ten(), named),
		]);
		expect([three.status, four.status].sort()).toEqual([200, 202]);
		expect(three.recording.id).toBe(four.recording.id);
		for (const { recording } of [one, three]) await lab.drop(recording.id);
	});

	test('with a blank external ID counts as without one', async () => {
		const blank = { externalId: ' ' };
		const [one, other] = [await lab.upload(lab.ten(), blank), await lab.upload(lab.ten(), blank)];
		expect([one.status, other.status]).toEqual([202, 202]);
		for (const { recording } of [one, other]) await lab.drop(recording.id);
	});

	test("starts at the time in its file name, in the server's time zone", async () => {
		const path = join(lab.files, '20260301 090412.m4a');
		renameSync(lab.ten(), path);
		const { recording } = await lab.upload(path);
		expect(await lab.ended(recording.id)).toMatchObject({
			...{ startTime: '2026-03-01T08:04:12.000Z', startTimeFrom: 'fileName' },
		});
	});

	test('without a known time ends when its file was modified', async () => {
		const { recording } = await lab.upload(lab.ten(), {
			modifiedTime: '2026-03-01 10:00:00',
			timezone: 'Europe/Berlin',
		});
		const { startTime, startTimeFrom, durationMs } = await lab.ended(recording.id);
		expect(startTimeFrom).toBe('modified');
		expect(Date.parse(startTime!) + durationMs!).toBe(Date.parse('2026-03-01T09:00:00Z'));
		// Devices without a clock begin in 1980.
		const old = await lab.upload(lab.ten(), { modifiedTime: '315532800000' });
		expect(Date.parse((await lab.ended(old.recording.id)).startTime!)).toBeGreaterThan(
			Date.parse(old.recording.createdAt) - 60_000,
		);
	});

	test('in which nobody speaks makes no lifelog, and its audio is kept', async () => {
		const path = join(lab.files, 'silent.ogg');
		await makeTones(path, { seconds: 5, silent: [[0, 5]] });
		const { recording } = await lab.upload(path, { startTime: '2026-02-01T09:00:00Z' });
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'done', lifelogIds: [] });
		const { audio, lifelogs } = newestManifests(lab.archive).get('2026-02-01')!;
		expect([audio.map((file) => file.path), lifelogs]).toEqual([
			['audio/recordings/2026/02/01/audio_20260201T090000Z_20260201T090005Z.ogg'],
			{},
		]);
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('gets its speakers from a diarization endpoint, and none if the endpoint refuses', async () => {
		const diarization = ['--diarization-url', lab.endpoint.url, '--diarization-model', 'pyannote'];
		await lab.restart(lab.argsOf(...diarization));
		const speakersOf = async () =>
			said((await lab.made(lab.ten()))[0]).map(({ speakerName }) => speakerName);
		expect((await speakersOf()).slice(0, 3)).toEqual([0, 1, 2].map(speakerOf));
		expect(lab.endpoint.asked.at(-1)!.fields).toEqual({ model: 'pyannote' });
		// A diarizer is asked for no format.
		lab.endpoint.refuses = ['json'];
		expect(new Set(await speakersOf())).toEqual(new Set([null]));
		expect(lab.server.log.filter((line) => line.includes('diarization'))).toEqual([
			expect.stringMatching(
				/^Recording rec-\w+ has a part without speakers: .* returned 400\. Check/,
			),
		]);
		await lab.restart();
	});

	test('whose lifelog was deleted creates no new one', async () => {
		const path = lab.ten();
		const [{ id }] = await lab.made(path);
		await lab.fetch(`/v1/lifelogs/${id}`, { method: 'DELETE' });
		const again = await lab.upload(path);
		expect(again).toMatchObject({
			...{ status: 200, recording: { status: 'done', lifelogIds: [], deletedLifelogIds: [id] } },
		});
		expect((await lab.get(again.recording.id)).recording.lifelogIds).toEqual([]);
		expect((await lab.listed('limit=100')).flatMap(({ lifelogIds }) => lifelogIds)).not.toContain(
			id,
		);
		expect((await lab.fetch(`/v1/lifelogs/${id}`)).status).toBe(404);
		// The queue is lost.
		await lab.server.close();
		for (const name of readdirSync(lab.archive)) {
			if (name.includes('.recordings')) rmSync(join(lab.archive, name));
		}
		await lab.start();
		expect(await lab.made(path)).toEqual([]);
	});

	test('whose lifelog was deleted creates another if that is asked for, once', async () => {
		const path = lab.ten();
		const fields = { startTime: '2026-03-05T09:00:00Z', externalId: 'again' };
		const [{ id }] = await lab.made(path, fields);
		const again = { ...fields, again: 'true' };
		expect(await lab.upload(path, again)).toMatchObject({
			...{ status: 200, recording: { lifelogIds: [id] } },
		});
		await lab.fetch(`/v1/lifelogs/${id}`, { method: 'DELETE' });
		const { status, recording } = await lab.upload(path, again);
		expect([status, recording.status]).toEqual([202, 'queued']);
		const { lifelogIds } = await lab.ended(recording.id);
		expect(lifelogIds).toEqual([expect.not.stringMatching(id)]);
		expect(said(await lab.lifelog(lifelogIds[0]))).toHaveLength(10);
		expect(await lab.upload(path, fields)).toMatchObject({
			...{ status: 200, recording: { lifelogIds, deletedLifelogIds: [] } },
		});
		// Deleted once more, and the queue is lost.
		await lab.fetch(`/v1/lifelogs/${lifelogIds[0]}`, { method: 'DELETE' });
		await lab.server.close();
		rmSync(join(lab.archive, '.lifelog-index.sqlite.recordings'));
		await lab.start();
		expect(await lab.made(path, fields)).toEqual([]);
		const [third] = await lab.made(path, again);
		expect([id, ...lifelogIds]).not.toContain(third.id);
		expect(await findingsIn(lab.archive)).toEqual([]);
	});

	test('keeps its original with --keep-originals, however long its name is', async () => {
		await lab.restart(lab.argsOf('--keep-originals'));
		const long = new FormData();
		long.set('file', await openAsBlob(lab.ten()), `${'語'.repeat(150)}.m4a`);
		const request = { method: 'POST', body: long };
		const named = await lab.ask('', request);
		expect(await lab.ended(named.recording.id)).toMatchObject({ status: 'done', attempts: 1 });
		rmSync(join(lab.archive, 'originals'), { recursive: true });
		const path = lab.ten();
		const { recording } = await lab.upload(path);
		await lab.ended(recording.id);
		const originals = readdirSync(join(lab.archive, 'originals'), {
			recursive: true,
			withFileTypes: true,
		});
		const [original] = originals.filter((entry) => entry.isFile());
		expect(original.name).toBe(`${recording.id}_${basename(path)}`);
		expect(readFileSync(join(original.parentPath, original.name))).toEqual(readFileSync(path));
		expect(await findingsIn(lab.archive)).toEqual([]);
	});
});

describe('an invalid upload is refused, and leaves no file', () => {
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
		const before = await lab.everything();
		const answer = await lab.ask('', request());
		expect([answer.status, answer.error]).toEqual([status, expect.stringMatching(problem)]);
		expect(await lab.everything()).toEqual(before);
	});

	test("above --max-upload, also if the request doesn't declare its length", async () => {
		await lab.restart(lab.argsOf('--max-upload', '1'));
		const large = body({ file: new Blob([Buffer.alloc(3_000_000)]) });
		const form = new Response(large.body as FormData);
		const headers = { 'Content-Type': form.headers.get('Content-Type')! };
		const before = await lab.everything();
		for (const request of [large, { ...large, body: form.body!, headers, duplex: 'half' }]) {
			const { status, error } = await lab.ask('', request);
			expect([status, error]).toEqual([413, expect.stringContaining('--max-upload')]);
			expect(await lab.everything()).toEqual(before);
		}
		await lab.restart();
	});

	test('without --allow-changes, without an endpoint, without --allow-delete', async () => {
		const path = lab.ten();
		const { recording } = await lab.upload(path);
		await lab.ended(recording.id);
		await lab.restart(lab.argsOf().filter((arg) => arg !== '--allow-delete'));
		expect(await lab.drop(recording.id)).toMatchObject({
			...{ status: 403, error: expect.stringContaining('--allow-delete') },
		});
		await lab.restart(lab.argsOf().filter((arg) => arg !== '--allow-changes'));
		for (const { status, error } of [
			await lab.upload(path),
			await lab.get(recording.id),
			await lab.retry(recording.id),
		]) {
			expect([status, error]).toEqual([403, expect.stringContaining('--allow-changes')]);
		}
		await lab.restart(['--allow-changes']);
		expect(await lab.upload(path)).toMatchObject({
			...{ status: 409, error: expect.stringContaining('--transcription-url') },
		});
		await lab.restart();
	});

	test('that is interrupted', async () => {
		const [head, tail] = [
			'--x\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
			'abc',
		];
		const before = await lab.everything();
		const sending = lab.fetch('/v1/recordings', {
			method: 'POST',
			headers: { 'content-type': 'multipart/form-data; boundary=x' },
			body: new ReadableStream({
				async pull(controller) {
					controller.enqueue(Buffer.from(head + tail));
					do await sleep(20);
					while (!lab.waiting().some((name) => name.endsWith('.part')));
					controller.error(new Error('It breaks off'));
				},
			}),
			duplex: 'half',
		} as RequestInit);
		await expect(sending).rejects.toThrow();
		while (lab.waiting().some((name) => name.endsWith('.part'))) await sleep(50);
		expect(await lab.everything()).toEqual(before);
	});

	const onLinux = process.platform === 'linux' ? test : test.skip;
	onLinux('on a full disk', async () => {
		await lab.server.close();
		const { child, ready } = spawnLifelogServer(lab.archive, lab.argsOf());
		lab.server = await ready;
		const limit = (bytes: string) =>
			spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
		expect(limit('100000').status).toBe(0);
		const before = await lab.everything();
		const path = join(lab.files, 'large.wav');
		await makeTones(path, { seconds: 20 });
		const { status, error } = await lab.upload(path);
		limit('unlimited');
		expect([status, error]).toEqual([507, expect.stringContaining('disk')]);
		expect(await lab.everything()).toEqual(before);
		const { recording } = await lab.upload(path);
		await lab.ended(recording.id);
	});
});

test('a recording that fails permanently says why and keeps its file, and can be retried and discarded', async () => {
	const path = join(lab.files, 'song.mp3');
	writeFileSync(path, 'This is a text, whatever its name says.\n'.repeat(100));
	const { recording } = await lab.upload(path);
	const failed = await lab.ended(recording.id);
	expect(failed).toMatchObject({ status: 'failed', attempts: 1, error: expect.any(String) });
	expect(failed.error).not.toContain(lab.archive);
	expect(lab.waiting()).toEqual([`${recording.id}.original`]);
	// The others go on.
	expect(await lab.made(lab.ten())).toHaveLength(1);
	await lab.restart();
	expect(await lab.listed('status=failed')).toMatchObject([{ id: recording.id }]);
	expect(await lab.retry(recording.id)).toMatchObject({ status: 200, recording: { error: null } });
	expect(await lab.when(recording.id, ({ attempts }) => attempts === 2)).toBeDefined();
	await lab.ended(recording.id);
	expect(await lab.upload(path)).toMatchObject({ status: 200, recording: { status: 'queued' } });
	await lab.ended(recording.id);
	expect(await lab.drop(recording.id)).toMatchObject({ status: 200 });
	expect(await lab.get(recording.id)).toMatchObject({ status: 404 });
	expect(lab.waiting()).toEqual([]);
});

test('a recording that failed or in which nobody speaks can be heard, and retried in another language', async () => {
	const page = (id: string, init?: RequestInit) => lab.fetch(`/v1/recordings/${id}/audio`, init);
	const path = lab.ten();
	lab.endpoint.refuses = ['verbose_json', 'json'];
	const failed = await lab.upload(path, { language: 'fr' });
	expect(await lab.ended(failed.recording.id)).toMatchObject({ status: 'failed' });
	const whole = await page(failed.recording.id);
	expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'audio/mp4']);
	expect(whole.headers.get('content-disposition')).toContain(encodeURIComponent(basename(path)));
	expect(Buffer.from(await whole.arrayBuffer())).toEqual(readFileSync(path));
	const part = await page(failed.recording.id, { headers: { range: 'bytes=2-5' } });
	expect(Buffer.from(await part.arrayBuffer())).toEqual(readFileSync(path).subarray(2, 6));

	lab.mend();
	const retry = async (body: object) => {
		const headers = { 'content-type': 'application/json' };
		const request = { method: 'POST', headers, body: JSON.stringify(body) };
		return await lab.ask(`/${failed.recording.id}/retry`, request);
	};
	expect(await retry({ language: 'de&x=1' })).toMatchObject({ status: 400 });
	expect(await retry({ language: null })).toMatchObject({ status: 200 });
	expect(await lab.ended(failed.recording.id)).toMatchObject({ status: 'done' });
	expect(lab.endpoint.asked.at(-1)!.fields.language).toBeUndefined();
	// It can be heard in its lifelog.
	expect((await page(failed.recording.id)).status).toBe(404);

	const silent = join(lab.files, 'nobody.wav');
	await makeTones(silent, { seconds: 3 });
	lab.endpoint.instead = () => ({ text: '', segments: [] });
	const { recording } = await lab.upload(silent, { startTime: '2026-02-02T09:00:00Z' });
	await lab.ended(recording.id);
	const kept = join(lab.files, 'nobody.ogg');
	writeFileSync(kept, Buffer.from(await (await page(recording.id)).arrayBuffer()));
	expect((await hearTones(kept)).map(({ second }) => second)).toEqual([0, 1, 2]);
});

test('lists recordings page by page, newest first', async () => {
	lab.endpoint.fault = faults.error;
	const ids: string[] = [];
	for (let n = 0; n < 5; n += 1) {
		const path = join(lab.files, `n${n}.wav`);
		writeFileSync(path, `recording ${n}`);
		ids.unshift((await lab.upload(path)).recording.id);
	}
	const seen: string[] = [];
	for (let cursor: string | undefined = ''; cursor !== undefined;) {
		const query = `limit=2${cursor && `&cursor=${cursor}`}`;
		const response: Response = await lab.fetch(`/v1/recordings?${query}`);
		const { data, meta } = await response.json();
		seen.push(...data.recordings.map(({ id }: Recording) => id));
		cursor = meta.recordings.nextCursor;
	}
	expect(seen.slice(0, ids.length)).toEqual(ids);
	for (const id of ids) await lab.drop(id);
	expect(await lab.ask('?cursor=x')).toMatchObject({
		...{ status: 400, error: expect.stringContaining('cursor') },
	});
});

test('if two devices recorded, audioSource chooses between them', async () => {
	const startMs = Date.parse('2026-04-01T09:00:00Z');
	const pendant = join(lab.files, 'pendant.ogg');
	await makeTones(pendant, { seconds: 20, args: ['-c:a', 'libopus'] });
	const content = readFileSync(pendant);
	const span = { startMs: startMs - 5000, endMs: startMs + 15_000 };
	await writeArchive(lab.archive, { audio: [{ ...span, content }] });
	await lab.made(lab.ten(), { startTime: '2026-04-01T09:00:00Z' });
	const heardOf = async (query: string) => {
		const range = `startMs=${startMs}&endMs=${startMs + 10_000}`;
		const audio = await lab.fetch(`/v1/download-audio?${range}${query}`);
		const path = join(lab.files, 'heard.ogg');
		writeFileSync(path, Buffer.from(await audio.arrayBuffer()));
		return (await hearTones(path)).map(({ second }) => second);
	};
	const seconds = Array.from({ length: 10 }, (_, second) => second);
	expect(await heardOf('&audioSource=recordings')).toEqual(seconds);
	const ofPendant = seconds.map((second) => second + 5);
	expect(await heardOf('&audioSource=pendant')).toEqual(ofPendant);
	expect(await heardOf('')).toEqual(ofPendant);
});

test("if two devices recorded, the pendant's audio comes first, and the other fills the gaps", async () => {
	const startMs = Date.parse('2026-04-02T09:00:00Z');
	const pendant = join(lab.files, 'pendant, short.ogg');
	await makeTones(pendant, { seconds: 4, args: ['-c:a', 'libopus'] });
	const span = { startMs: startMs + 2000, endMs: startMs + 6000 };
	await writeArchive(lab.archive, { audio: [{ ...span, content: readFileSync(pendant) }] });
	await lab.made(lab.ten(), { startTime: '2026-04-02T09:00:00Z' });
	const audio = await lab.fetch(`/v1/download-audio?startMs=${startMs}&endMs=${startMs + 10_000}`);
	const path = join(lab.files, 'heard.ogg');
	writeFileSync(path, Buffer.from(await audio.arrayBuffer()));
	const heard = (await hearTones(path)).map(({ second }) => second);
	expect(heard).toEqual([0, 1, 0, 1, 2, 3, 6, 7, 8, 9]);
});

test.each([
	[['--inbox', '/nowhere'], /--transcription-url/],
	[['--transcription-url', 'http://127.0.0.1:1/v1'], /together/],
	[['--transcription-url', 'http://example.org/v1', '--transcription-model', 'x'], /https/],
	[['--inbox-copy'], /--inbox/],
	[['--diarization-url', 'http://127.0.0.1:1/v1'], /--diarization-url and --diarization-model/],
	[
		['--diarization-url', 'http://127.0.0.1:1/v1', '--diarization-model', 'x'],
		/--diarization-url needs --transcription-url/,
	],
])('%j is refused at the start', async (args, problem) => {
	await expect(startLifelogServer(temporaryFolder(), args)).rejects.toThrow(problem);
});

test('a start that is refused because of its inbox leaves no lock on the archive', async () => {
	const folder = temporaryFolder();
	const inbox = join(folder, 'inbox');
	await expect(startLifelogServer(folder, lab.argsOf('--inbox', inbox))).rejects.toThrow(
		/no folder/,
	);
	const next = await startLifelogServer(folder, lab.argsOf());
	expect(next.log).toEqual([]);
	await next.close();
});
