// What the endpoint hears of files that aren't one plain track: through an upload, with real audio.
import { execFile } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeLifelogs } from '../../../server/recordings/pipeline.mts';
import { Transcriber } from '../../../server/recordings/transcribe.mts';
import { RecordingLab, said } from '../../support/recordingLab.mts';
import { hearTones, makeTones } from '../../support/tones.mts';
import { wordsOf } from '../../support/transcription.mts';
import { temporaryFolder } from '../sources.mts';

const execute = promisify(execFile);
const ffmpeg = (...args: string[]) => execute('ffmpeg', ['-v', 'error', '-y', ...args]);

let lab: RecordingLab;
/** Four seconds of tones, and as many whose first is the seventh. */
let first: string;
let second: string;
beforeAll(async () => {
	lab = await RecordingLab.start(temporaryFolder(), temporaryFolder());
	first = join(lab.files, 'first.wav');
	second = join(lab.files, 'second.wav');
	const all = join(lab.files, 'all.wav');
	await makeTones(all, { seconds: 10 });
	await ffmpeg('-i', all, '-t', '4', first);
	await ffmpeg('-ss', '6', '-i', all, second);
});
beforeEach(() => lab.mend());
afterAll(() => lab.close());

const at = (name: string) => join(lab.files, name);
const START = { startTime: '2026-03-01T09:00:00Z' };
const FIRST = [0, 1, 2, 3];
const SECOND = [6, 7, 8, 9];
let hours = 0;

/** Uploads a file, and returns the seconds that the endpoint heard, how loud, and what is archived. */
async function heardOf(path: string) {
	const asked = lab.endpoint.asked.length;
	const startTime = new Date(Date.parse(START.startTime) + (hours += 1) * 3_600_000).toISOString();
	const lifelogs = await lab.made(path, { startTime });
	const heard = lab.endpoint.asked.slice(asked).flatMap((each) => each.heard);
	const words = lifelogs.flatMap((lifelog) => said(lifelog).map(({ content }) => content));
	const startMs = Date.parse(startTime);
	const range = `startMs=${startMs}&endMs=${startMs + 60_000}&audioSource=recordings`;
	const audio = await lab.fetch(`/v1/download-audio?${range}`);
	writeFileSync(at('archived.ogg'), Buffer.from(await audio.arrayBuffer()));
	return {
		heard: heard.map(({ second: tone }) => tone),
		starts: heard.map(({ startMs: ms }) => Math.round(ms / 100) / 10),
		levels: heard.map(({ level }) => level),
		words,
		archived: (await hearTones(at('archived.ogg'))).map(({ second: tone }) => tone),
	};
}

const linesOf = (seconds: number[]) => seconds.map(wordsOf);
/** What the log says of recordings, beside that they are done. */
const notes = () => lab.server.log.filter((line) => /^Recording \S+ (?!is done)/.test(line));

describe('channels', () => {
	test.each<[string, string]>([
		['out of phase', 'pan=stereo|c0=c0|c1=-1*c0'],
		['out of phase, one quieter', 'pan=stereo|c0=0.8*c0|c1=-1*c0'],
		['out of phase in a pair of four', 'pan=4c|c0=0*c0|c1=c0|c2=-1*c0|c3=0*c0'],
		// The first two seconds are in phase.
		['out of phase in part', 'aeval=val(0)|if(lt(t\\,2)\\,1\\,-1)*val(0)'],
	])('%s are heard as loud as one', async (name, filter) => {
		const plain = await hearTones(first);
		const path = at(`${name}.wav`);
		await ffmpeg('-i', first, '-af', filter, path);
		const { heard, levels, words, archived } = await heardOf(path);
		expect([heard, words, archived]).toEqual([FIRST, linesOf(FIRST), FIRST]);
		for (const [nth, level] of levels.entries()) {
			expect(Math.abs(level - plain[nth].level)).toBeLessThan(3);
		}
		expect(notes().at(-1)).toMatch(/channels that cancel each other out: channel \d is used$/);
	});

	test.each<[string, string]>([
		['mono', 'anull'],
		['two that are the same', 'pan=stereo|c0=c0|c1=c0'],
		['one of two that is silent', 'pan=stereo|c0=0*c0|c1=c0'],
		['one of six that is not silent', 'pan=5.1|c0=0*c0|c1=0*c0|c2=c0|c3=0*c0|c4=0*c0|c5=0*c0'],
	])('%s: heard as loud as the voice is, without a note', async (name, filter) => {
		const before = notes().length;
		const path = at(`${name}.wav`);
		await ffmpeg('-i', first, '-af', filter, path);
		const { heard, levels } = await heardOf(path);
		expect(heard).toEqual(FIRST);
		const [{ level }] = await hearTones(first);
		for (const each of levels) expect(Math.abs(each - level)).toBeLessThan(3);
		expect(notes().slice(before)).toEqual([]);
	});

	test('of two people, one on each side, are both heard', async () => {
		const path = at('sides.wav');
		const sides = '[1:a]adelay=4000,aformat=channel_layouts=mono[b];[0:a][b]amerge=inputs=2';
		const padded = at('padded.wav');
		await ffmpeg('-i', first, '-af', 'apad=whole_len=128000', padded);
		await ffmpeg('-i', padded, '-i', second, '-filter_complex', sides, path);
		expect((await heardOf(path)).heard).toEqual([...FIRST, ...SECOND]);
	});
});

describe('tracks', () => {
	test.each(['mkv', 'mov', 'm4a'])(
		'the second of a %s is heard if the first is silent',
		async (ending) => {
			const path = at(`second.${ending}`);
			const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo'];
			const codec = ending === 'mkv' ? ['-c:a', 'libopus'] : ['-c:a', 'aac'];
			await ffmpeg(...silence, '-i', first, '-map', '0', '-map', '1', '-t', '4', ...codec, path);
			const { heard, words, archived } = await heardOf(path);
			expect([heard, words, archived]).toEqual([FIRST, linesOf(FIRST), FIRST]);
			expect(notes().at(-1)).toMatch(/has 2 audio tracks: track 2 is used$/);
		},
	);

	test('with a voice in each are mixed, also of different lengths', async () => {
		const path = at('both.mkv');
		const late = at('late.wav');
		await ffmpeg('-i', second, '-af', 'adelay=4000', late);
		await ffmpeg('-i', first, '-i', late, '-map', '0', '-map', '1', path);
		expect((await heardOf(path)).heard).toEqual([...FIRST, ...SECOND]);
		expect(notes().at(-1)).toMatch(/has 2 audio tracks: tracks 1, 2 are mixed$/);
	});

	test('one that is not decoded is left out, and the original is kept', async () => {
		const path = at('odd.mka');
		const codecs = ['-c:a:0', 'wavpack', '-c:a:1', 'libopus'];
		await ffmpeg('-i', first, '-i', first, '-map', '0', '-map', '1', ...codecs, path);
		const { recording } = await lab.upload(path, START);
		expect(await lab.ended(recording.id)).toMatchObject({ status: 'done' });
		expect(notes().join()).toMatch(/has a track that can't be read: track 1 is left out/);
		const folder = join(
			lab.archive,
			'originals',
			recording.createdAt.slice(0, 7).replace('-', '/'),
		);
		expect(existsSync(join(folder, `${recording.id}_odd.mka`))).toBe(true);
	});
});

describe('files that were joined', () => {
	const encode = (from: string, name: string, ...codec: string[]) =>
		ffmpeg('-i', from, ...codec, at(name));
	test.each<[string, [string, ...string[]], [string, ...string[]]]>([
		['Opus and Vorbis', ['a.ogg', '-c:a', 'libopus'], ['b.ogg', '-c:a', 'libvorbis']],
		['Vorbis and Opus', ['a.ogg', '-c:a', 'libvorbis'], ['b.ogg', '-c:a', 'libopus']],
		[
			'Opus, mono and stereo',
			['a.ogg', '-c:a', 'libopus'],
			['b.ogg', '-c:a', 'libopus', '-ac', '2'],
		],
		['WebM', ['a.webm', '-c:a', 'libopus'], ['b.webm', '-c:a', 'libopus']],
		['WAV', ['a.wav'], ['b.wav', '-ar', '44100']],
		['M4A', ['a.m4a'], ['b.m4a']],
		['FLAC', ['a.flac'], ['b.flac']],
		['MP3 of two rates', ['a.mp3', '-ar', '22050'], ['b.mp3', '-ac', '2']],
		['AIFF', ['a.aiff'], ['b.aiff']],
		['WMA', ['a.wma'], ['b.wma']],
		[
			'FLAC of two rates in Ogg',
			['a.oga', '-c:a', 'flac'],
			['b.oga', '-c:a', 'flac', '-ar', '44100'],
		],
		['Ogg and WebM', ['a.ogg', '-c:a', 'libopus'], ['b.webm', '-c:a', 'libopus']],
		['WebM and M4A', ['a.webm', '-c:a', 'libopus'], ['b.m4a']],
		['MP3 and WAV', ['a.mp3'], ['b.wav']],
	])('%s: all of it is heard', async (name, one, other) => {
		const [from, to] = [`one ${name} ${one[0]}`, `two ${name} ${other[0]}`];
		await encode(first, from, ...one.slice(1));
		await encode(second, to, ...other.slice(1));
		appendFileSync(at(from), readFileSync(at(to)));
		const { heard, words, archived } = await heardOf(at(from));
		const all = [...FIRST, ...SECOND];
		expect([heard, words, archived]).toEqual([all, linesOf(all), all]);
	});

	test('one of which is damaged: the recording fails with the reason, and its file is kept', async () => {
		const path = at('damaged.webm');
		await encode(first, 'damaged.webm', '-c:a', 'libopus');
		const header = readFileSync(path).subarray(0, 60);
		appendFileSync(path, header);
		const { recording } = await lab.upload(path, START);
		const { status, error } = await lab.ended(recording.id);
		expect([status, error]).toEqual(['failed', expect.stringMatching(/part 2 of 2/)]);
		expect(lab.waiting()).toContain(`${recording.id}.original`);
		await lab.drop(recording.id);
	});
});

test('a recording without speech whose mix was silent keeps its original', async () => {
	const path = at('hum.wav');
	await ffmpeg('-f', 'lavfi', '-i', 'sine=f=120:d=4', '-af', 'pan=stereo|c0=c0|c1=-1*c0', path);
	lab.endpoint.instead = () => ({ text: '', segments: [] });
	const { recording } = await lab.upload(path, START);
	expect(await lab.ended(recording.id)).toMatchObject({ status: 'done', lifelogIds: [] });
	const folder = join(lab.archive, 'originals', recording.createdAt.slice(0, 7).replace('-', '/'));
	expect(readFileSync(join(folder, `${recording.id}_hum.wav`))).toEqual(readFileSync(path));
});

test('the pipeline makes the lifelogs of one file, without a server', async () => {
	const work = join(lab.files, 'work');
	await mkdir(work);
	const path = at('alone 20260301 090412.wav');
	copyFileSync(first, path);
	const { url } = lab.endpoint;
	const made = await makeLifelogs(
		{ path, sha256: 'x', fileName: 'alone 20260301 090412.wav', modifiedMs: 0 },
		{
			transcriber: new Transcriber({ url, model: 'm', key: undefined, format: 'wav' }),
			...{ work, audio: at('alone.ogg'), timezone: 'UTC', now: Date.now },
		},
	);
	expect(made.lifelogs.map(({ startTime }) => startTime)).toEqual(['2026-03-01T09:04:12.000Z']);
	expect(said(made.lifelogs[0]).map(({ content }) => content)).toEqual(linesOf(FIRST));
	expect((await hearTones(made.audio.path)).map(({ second: tone }) => tone)).toEqual(FIRST);
});
