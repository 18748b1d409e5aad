// What becomes of a recording that fails.
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../sources.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { makeTones } from '../../support/tones.mts';
import { faults, speakerOf, wordsOf } from '../../support/transcription.mts';

let lab: RecordingLab;
/** One whose endpoint isn't one. It takes minutes until a recording fails, beside the other tests. */
let hopeless: RecordingLab;
let failed: ReturnType<typeof failHopelessly>;

beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	hopeless = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	failed = failHopelessly();
	failed.catch(() => {});
});
beforeEach(() => lab.mend());
afterAll(async () => {
	await lab.close();
	await hopeless.close();
});

async function failHopelessly() {
	hopeless.endpoint.fault = faults.html;
	const { recording } = await hopeless.upload(hopeless.ten());
	await hopeless.when(recording.id, ({ error }) => error !== null);
	// The server tries again by itself, after pauses.
	const since = performance.now();
	let current = recording;
	while (current.status !== 'failed') {
		await sleep(500);
		current = (await hopeless.get(recording.id)).recording;
	}
	return { current, ms: performance.now() - since };
}

describe('a recording that fails', () => {
	test('permanently releases its external ID for another file', async () => {
		const path = join(lab.files, 'cut off.wav');
		writeFileSync(path, 'cut off');
		const { recording } = await lab.upload(path, { externalId: 'memo 3' });
		await lab.ended(recording.id);
		const whole = lab.ten();
		const next = await lab.upload(whole, { externalId: 'memo 3' });
		expect(next).toMatchObject({ status: 202, recording: { fileName: basename(whole) } });
		expect(await lab.ended(next.recording.id)).toMatchObject({ status: 'done' });
		// Nobody has allowed to delete it.
		expect(await lab.get(recording.id)).toMatchObject({ recording: { status: 'failed' } });
		await lab.ended((await lab.upload(path, { externalId: 'memo 4' })).recording.id);
		// Bytes that are done by another external ID.
		expect(await lab.upload(whole, { externalId: 'memo 4' })).toMatchObject({
			...{ status: 200, recording: { id: next.recording.id } },
		});
		expect(await lab.drop(recording.id)).toMatchObject({ status: 200 });
		expect(lab.waiting()).toEqual([]);
	});

	test.each(['error', 'rateLimit', 'key', 'html', 'nothing', 'broken'] as const)(
		'because of the endpoint (%s) is retried until it works',
		async (fault) => {
			lab.endpoint.fault = faults[fault];
			const { recording } = await lab.upload(lab.ten());
			const { status, error } = await lab.when(recording.id, (now) => now.error !== null);
			expect([status, error]).toEqual(['queued', expect.stringMatching(/transcription endpoint/)]);
			lab.endpoint.fault = undefined;
			await lab.retry(recording.id);
			expect(await lab.ended(recording.id)).toMatchObject({ status: 'done', error: null });
			expect(await lab.retry(recording.id)).toMatchObject({ status: 409 });
			expect(await lab.drop(recording.id)).toMatchObject({ status: 409 });
		},
	);

	test("because of the diarization endpoint isn't transcribed again", async () => {
		const diarization = ['--diarization-url', lab.endpoint.url, '--diarization-model', 'pyannote'];
		await lab.restart(lab.argsOf(...diarization));
		const hello = { segments: [{ text: 'Hello.', start: 0, end: 1 }] };
		lab.endpoint.instead = ({ path }) => (path.endsWith('/diarization') ? {} : hello);
		const before = lab.endpoint.asked.length;
		const { recording } = await lab.upload(lab.ten());
		const { status, error } = await lab.when(recording.id, (now) => now.error !== null);
		expect([status, error]).toEqual([
			...['queued', "The diarization endpoint doesn't say who speaks when"],
		]);
		lab.endpoint.instead = undefined;
		await lab.retry(recording.id);
		const { lifelogIds } = await lab.when(recording.id, ({ status }) => status === 'done');
		const speakers = said(await lab.lifelog(lifelogIds[0])).map(({ speakerName }) => speakerName);
		expect(speakers).toEqual([speakerOf(0)]);
		const asked = lab.endpoint.asked.slice(before).map(({ path }) => basename(path));
		expect(asked).toEqual(['transcriptions', 'diarization', 'diarization']);
	});

	test('is retried with the fields of the next upload', async () => {
		await lab.restart();
		lab.endpoint.refuses = ['verbose_json', 'json'];
		const path = lab.ten();
		const { recording } = await lab.upload(path, { startTime: '2026-03-01T09:00:00Z' });
		expect(await lab.ended(recording.id)).toMatchObject({ startTime: '2026-03-01T09:00:00.000Z' });
		lab.endpoint.refuses = [];
		const before = lab.endpoint.asked.length;
		const named = { externalId: 'memo 5' };
		const fields = { ...named, startTime: '2026-03-02T10:00:00Z', title: 'Walk', language: 'de' };
		expect((await lab.upload(path, fields)).recording.id).toBe(recording.id);
		const done = await lab.when(recording.id, ({ status }) => status === 'done');
		expect(await lab.lifelog(done.lifelogIds[0])).toMatchObject({
			...{ title: 'Walk', startTime: '2026-03-02T10:00:00.000Z' },
		});
		expect(lab.endpoint.asked[before].fields).toMatchObject({ language: 'de' });
		expect(await lab.upload(lab.ten(), named)).toMatchObject({
			...{ status: 200, recording: { id: recording.id } },
		});
		await lab.restart();
	});

	test('in one part is complete if its parts change later', async () => {
		await lab.restart();
		const path = join(lab.files, 'parts.mp3');
		await makeTones(path, {
			...{ seconds: 710, silent: [[1, 400] as [number, number], [401, 700] as [number, number]] },
		});
		lab.endpoint.instead = ({ fileName }) => {
			if (fileName === '001.wav') return { segments: [{ text: 'Hello.', start: 0, end: 1 }] };
			throw new Error('no more');
		};
		const { recording } = await lab.upload(path);
		await lab.when(recording.id, ({ error }) => error !== null);
		lab.endpoint.instead = undefined;
		// MP3 is smaller, so all is one part.
		await lab.restart(lab.argsOf('--transcription-format', 'mp3'));
		const { lifelogIds } = await lab.when(recording.id, ({ status }) => status === 'done');
		expect(said(await lab.lifelog(lifelogIds[0])).map(({ content }) => content)).toEqual(
			[0, 400, ...Array.from({ length: 10 }, (_, n) => 700 + n)].map(wordsOf),
		);
	});

	test('in one part is heard completely if the next upload has other words to expect', async () => {
		await lab.restart();
		// Two parts as WAV.
		const path = join(lab.files, 'words.mp3');
		await makeTones(path, { seconds: 711, silent: [[1, 710]] });
		lab.endpoint.instead = () => {
			lab.endpoint.refuses = ['verbose_json', 'json'];
			return { segments: [{ text: 'Hello.', start: 0, end: 1 }] };
		};
		const { recording } = await lab.upload(path, { prompt: 'Tom' });
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'failed' });
		lab.mend();
		const before = lab.endpoint.asked.length;
		await lab.upload(path, { prompt: 'Lena' });
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'done' });
		const asked = lab.endpoint.asked.slice(before).map(({ fields }) => fields.prompt);
		expect(asked).toEqual(['Lena', 'Lena']);
	});

	test('because its file is missing is transcribed when the file is uploaded again', async () => {
		const path = join(lab.files, 'gone.wav');
		writeFileSync(path, 'no sound');
		const { recording } = await lab.upload(path);
		await lab.ended(recording.id);
		rmSync(join(lab.archive, '.lifelog-recordings', `${recording.id}.original`));
		await lab.retry(recording.id);
		expect((await lab.ended(recording.id)).error).toContain('Upload it again');
		expect(await lab.upload(path)).toMatchObject({ status: 200, recording: { status: 'queued' } });
		expect((await lab.ended(recording.id)).error).not.toContain('Upload it again');
		await lab.drop(recording.id);
	});

	test("because its disk isn't mounted is retried", async () => {
		lab.endpoint.fault = faults.error;
		const { recording } = await lab.upload(lab.ten());
		await lab.when(recording.id, ({ error }) => error !== null);
		renameSync(lab.archive, `${lab.archive}-away`);
		await lab.retry(recording.id);
		const { status } = await lab.when(
			recording.id,
			({ attempts, error }) => attempts > 1 && error !== null,
		);
		renameSync(`${lab.archive}-away`, lab.archive);
		expect(status).toBe('queued');
		lab.endpoint.fault = undefined;
		await lab.retry(recording.id);
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'done' });
	});

	test('to be moved is done, and only the move is retried', async () => {
		rmSync(join(lab.archive, 'originals'), { recursive: true, force: true });
		writeFileSync(join(lab.archive, 'originals'), 'no folder');
		await lab.restart(lab.argsOf('--keep-originals'));
		const { recording } = await lab.upload(lab.ten());
		await lab.when(recording.id, ({ status }) => status === 'done');
		await lab.restart(lab.argsOf('--keep-originals'));
		await sleep(500);
		expect((await lab.get(recording.id)).recording).toMatchObject({ status: 'done', attempts: 1 });
		expect(lab.waiting()).toContain(`${recording.id}.original`);
		rmSync(join(lab.archive, 'originals'));
		await lab.restart(lab.argsOf('--keep-originals'));
		while (lab.waiting().length > 0) await sleep(50);
	});

	test('together with its queue is accepted again', async () => {
		lab.endpoint.fault = faults.error;
		const { recording } = await lab.upload(lab.ten());
		await lab.when(recording.id, ({ error }) => error !== null);
		await lab.server.close();
		for (const name of readdirSync(lab.archive)) {
			if (name.includes('.recordings')) rmSync(join(lab.archive, name));
		}
		lab.endpoint.fault = undefined;
		await lab.start();
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'done' });
	});

	test('can be discarded while it is transcribed', async () => {
		lab.endpoint.fault = faults.silent;
		const before = await lab.everything();
		const { recording } = await lab.upload(lab.ten());
		await lab.when(recording.id, ({ status }) => status === 'transcribing');
		// One behind it doesn't wait for it.
		const next = await lab.upload(lab.ten());
		expect(await lab.retry(next.recording.id)).toMatchObject({ status: 200 });
		expect(await lab.drop(next.recording.id)).toMatchObject({ status: 200 });
		expect(await lab.drop(recording.id)).toMatchObject({ status: 200 });
		expect(await lab.everything()).toEqual(before);
	});
});

test('an answer that is never a transcription fails the recording, which can be retried', async () => {
	const { current, ms } = await failed;
	expect(ms).toBeLessThan(5 * 60_000);
	expect(current.attempts).toBeLessThanOrEqual(10);
	expect(current.error).toMatch(/^The transcription endpoint didn't return JSON. Check/);
	hopeless.mend();
	expect(await hopeless.retry(current.id)).toMatchObject({
		...{ status: 200, recording: { error: null } },
	});
	expect(await hopeless.ended(current.id)).toMatchObject({ status: 'done' });
}, 400_000);
