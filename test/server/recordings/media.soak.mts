// Recordings in the formats that recorders make, hostile and damaged ones, and what becomes of them.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import {
	appendFile,
	copyFile,
	mkdir,
	readdir,
	readFile,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { samplesPerMs } from '../../../server/audio/opus.mts';
import { scanLinks } from '../../../server/audio/scan.mts';
import * as encoders from '../../../server/recordings/encoders.mts';
import { checkFfmpeg, MediaError } from '../../../server/recordings/ffmpeg.mts';
import { listen, type Sound } from '../../../server/recordings/sound.mts';
import { temporaryFolder } from '../sources.mts';
import { hearTones, makeTones, TONE_FROM_MS, TONE_TO_MS } from '../../support/tones.mts';

const FORMATS = ['m4a', 'mp3', 'ogg', 'wav', 'webm'];
const SECONDS = 40;
/** Codecs put some samples before the first and after the last one. */
const CODEC_MS = 60;
const execute = promisify(execFile);

let folder: string;
/** A recording that was made in a format. */
const made = (format: string) => join(folder, `tones.${format}`);
beforeAll(async () => {
	folder = temporaryFolder();
	for (const format of FORMATS) {
		await makeTones(made(format), { seconds: SECONDS, silent: [[12, 15]] });
	}
});

const ffmpeg = (...args: string[]) => execute('ffmpeg', ['-v', 'error', '-y', ...args]);
const isSilent = (second: number) => second >= 12 && second < 15;
const secondsIn = (fromMs: number, toMs: number) =>
	Array.from({ length: SECONDS }, (_, second) => second).filter(
		(second) =>
			!isSilent(second) &&
			second * 1000 + TONE_FROM_MS < toMs &&
			second * 1000 + TONE_TO_MS > fromMs,
	);

/** Compares what is heard in each chunk, and when, with what was made. */
async function expectWhole(chunks: Awaited<ReturnType<typeof cutChunks>>, endMs: number) {
	let at = 0;
	for (const { path, offsetMs, durationMs } of chunks) {
		expect(offsetMs).toBe(at);
		at += durationMs;
		const heard = await hearTones(path);
		expect(heard.map(({ second }) => second)).toEqual(secondsIn(offsetMs, at));
		for (const { second, startMs } of heard) {
			const madeMs = Math.max(offsetMs, second * 1000 + TONE_FROM_MS);
			expect(Math.abs(offsetMs + startMs - madeMs)).toBeLessThanOrEqual(20);
		}
	}
	expect(Math.abs(at - endMs)).toBeLessThanOrEqual(CODEC_MS);
}

const listenTo = async (path: string, signal?: AbortSignal): Promise<Sound> =>
	listen(path, await newFolder(), signal);
const cutChunks = async (
	path: string,
	to: string,
	options: Parameters<typeof encoders.cutChunks>[2],
) => encoders.cutChunks(await listenTo(path, options.signal), to, options);
const encodeOpus = async (path: string, to: string, options: { signal?: AbortSignal } = {}) =>
	encoders.encodeOpus(await listenTo(path, options.signal), to, options);

let chunkFolders = 0;
async function newFolder(): Promise<string> {
	const path = join(folder, `chunks${(chunkFolders += 1)}`);
	await mkdir(path);
	return path;
}

describe.each(FORMATS)('a recording in %s', (format) => {
	test('has the right length', async () => {
		const { durationMs, createdMs } = await listenTo(made(format));
		expect(Math.abs(durationMs - SECONDS * 1000)).toBeLessThanOrEqual(CODEC_MS);
		expect(createdMs).toBeUndefined();
	});

	test('becomes Ogg Opus of the same length, with the same bytes each time', async () => {
		const paths = [1, 2].map((nth) => join(folder, `${format}${nth}.opus.ogg`));
		for (const path of paths) await encodeOpus(made(format), path);
		const [first, second] = await Promise.all(paths.map((path) => readFile(path)));
		expect(first.equals(second)).toBe(true);
		const [link, ...others] = await scanLinks(createReadStream(paths[0]));
		expect(others).toEqual([]);
		const raw = join(folder, `${format}.raw`);
		await ffmpeg('-i', made(format), '-ac', '1', '-ar', '48000', '-f', 's16le', raw);
		const dueMs = (await stat(raw)).size / 2 / samplesPerMs;
		expect(Math.abs(link.played / samplesPerMs - dueMs)).toBeLessThanOrEqual(20);
		const heard = await hearTones(paths[0]);
		expect(heard.map(({ second }) => second)).toEqual(secondsIn(0, SECONDS * 1000));
		for (const { second, startMs } of heard) {
			expect(Math.abs(startMs - second * 1000 - TONE_FROM_MS)).toBeLessThanOrEqual(20);
		}
	});

	test.each(['mp3', 'wav'] as const)(
		'is cut into %s without losing or repeating anything',
		async (to) => {
			const chunks = await cutChunks(made(format), await newFolder(), {
				format: to,
				maxSeconds: 16,
			});
			expect(chunks).toHaveLength(3);
			// In the middle of the silence, the rest after 16 seconds.
			expect(Math.abs(chunks[1].offsetMs - 13_500)).toBeLessThanOrEqual(60);
			expect(chunks[2].offsetMs - chunks[1].offsetMs).toBe(16_000);
			await expectWhole(chunks, SECONDS * 1000);
		},
	);
});

test.each([
	['flac', []],
	['aiff', []],
	['caf', ['-c:a', 'alac']],
	['w64', []],
	['aac', []],
	['wma', []],
	['3gp', ['-c:a', 'aac']],
	['mka', ['-c:a', 'ac3']],
	['opus', []],
	['spx', ['-c:a', 'libspeex']],
	['gsm.wav', ['-c:a', 'libgsm_ms', '-ar', '8000']],
	['adpcm.wav', ['-c:a', 'adpcm_ima_wav']],
	['telephone.wav', ['-c:a', 'pcm_alaw']],
	['24.wav', ['-c:a', 'pcm_s24le', '-ac', '2']],
	['float.wav', ['-c:a', 'pcm_f32le']],
])('a recording in %s can be read, too', async (ending, codec) => {
	const path = join(folder, `recorder.${ending}`);
	await ffmpeg('-i', made('wav'), '-t', '3', ...codec, path);
	const { durationMs } = await listenTo(path);
	expect(Math.abs(durationMs - 3000)).toBeLessThanOrEqual(200);
	const [chunk] = await cutChunks(path, await newFolder(), { format: 'wav' });
	expect((await hearTones(chunk.path)).map(({ startMs }) => Math.round(startMs / 1000))).toEqual([
		...[0, 1, 2],
	]);
});

describe('cutting into chunks', () => {
	test('makes one chunk of a short recording', async () => {
		const chunks = await cutChunks(made('m4a'), await newFolder(), { format: 'mp3' });
		expect(chunks).toEqual([
			{ path: expect.stringMatching(/001\.mp3$/), offsetMs: 0, durationMs: expect.any(Number) },
		]);
		await expectWhole(chunks, SECONDS * 1000);
		const { stdout } = await execute('ffprobe', [
			...['-v', 'error', '-show_entries', 'stream=codec_name,sample_rate,channels,bit_rate'],
			...['-of', 'csv=p=0', chunks[0].path],
		]);
		expect(stdout.trim()).toBe('mp3,16000,1,64000');
	});

	test('makes the last chunk long enough for an endpoint', async () => {
		const path = join(folder, 'little-more.wav');
		await makeTones(path, { seconds: 20.005 });
		const chunks = await cutChunks(path, await newFolder(), { format: 'wav', maxSeconds: 20 });
		expect(chunks.map(({ durationMs }) => durationMs)).toEqual([19_005, 1000]);
	});

	test('makes chunks of silence, too', async () => {
		const path = join(folder, 'silence.wav');
		await makeTones(path, { seconds: 30, silent: [[0, 30]] });
		const chunks = await cutChunks(path, await newFolder(), { format: 'mp3', maxSeconds: 20 });
		expect(chunks.map(({ durationMs }) => durationMs)).toEqual([15_000, 15_000]);
	});
});

test('the time in the container is read', async () => {
	const path = join(folder, 'created.m4a');
	const created = '2026-03-01T09:04:12.000000Z';
	await ffmpeg('-i', made('m4a'), '-c', 'copy', '-metadata', `creation_time=${created}`, path);
	expect((await listenTo(path)).createdMs).toBe(Date.parse(created));
});

test('the sound of a video is read', async () => {
	const path = join(folder, 'video.mp4');
	const picture = ['-f', 'lavfi', '-i', `testsrc=duration=${SECONDS}:size=160x120:rate=5`];
	await ffmpeg(...picture, '-i', made('m4a'), '-c:a', 'copy', path);
	expect((await listenTo(path)).durationMs).toBeGreaterThanOrEqual(SECONDS * 1000);
	const chunks = await cutChunks(path, await newFolder(), { format: 'mp3', maxSeconds: 16 });
	await expectWhole(chunks, SECONDS * 1000);
});

test('a file name with a dash, a colon and spaces works', async () => {
	const path = join(folder, '-i concat: 09:04 %03d.m4a');
	await copyFile(made('m4a'), path);
	expect((await listenTo(path)).durationMs).toBeGreaterThanOrEqual(SECONDS * 1000);
	const to = join(folder, 'pipe:1 %03d.ogg');
	await encodeOpus(path, to);
	expect(await hearTones(`file:${to}`)).toHaveLength(SECONDS - 3);
});

/** All that can be done with a file; each must end in the same way. */
async function problemsOf(path: string): Promise<unknown[]> {
	const to = await newFolder();
	const outcomes = await Promise.allSettled([
		listenTo(path),
		encodeOpus(path, join(to, 'all.ogg')),
		cutChunks(path, to, { format: 'mp3' }),
	]);
	return outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'was read'));
}

describe("a file that isn't a recording", () => {
	test.each<[string, string, (path: string) => Promise<unknown>, RegExp]>([
		['an empty file', 'a.m4a', (path) => writeFile(path, ''), /empty.*Copy it/],
		['a folder', 'b.m4a', (path) => mkdir(path), /isn't a file/],
		['text', 'c.wav', (path) => writeFile(path, 'Dear diary,\n'.repeat(500)), /convert it/],
		[
			'a drawing',
			'd.mp3',
			(path) =>
				writeFile(
					path,
					'<svg xmlns="http://www.w3.org/2000/svg"><image href="/etc/passwd"/></svg>',
				),
			/convert it/,
		],
		[
			'a subtitle',
			'e.ogg',
			(path) => writeFile(path, '1\n00:00:01,000 --> 00:00:02,000\nHello.\n'),
			/convert it/,
		],
		[
			'a picture',
			'f.m4a',
			(path) =>
				ffmpeg('-f', 'lavfi', '-i', 'testsrc=duration=1', '-frames:v', '1', '-f', 'image2', path),
			/convert it|no sound/,
		],
		[
			'a header alone',
			'g.wav',
			async (path) => {
				await copyFile(made('wav'), path);
				await truncate(path, 20);
			},
			/convert it/,
		],
		[
			'a recording whose end was never written',
			'h.m4a',
			async (path) => {
				await copyFile(made('m4a'), path);
				await truncate(path, Math.round((await stat(path)).size / 2));
			},
			/interrupted.*Copy it/,
		],
	])('%s: says why, and names no path', async (_name, name, make, reason) => {
		const path = join(folder, name);
		await make(path);
		for (const problem of await problemsOf(path)) {
			expect(problem).toBeInstanceOf(MediaError);
			expect((problem as Error).message).toMatch(reason);
			expect((problem as Error).message).not.toContain(folder);
		}
	});

	test('a film without sound', async () => {
		const path = join(folder, 'mute.mp4');
		await ffmpeg('-f', 'lavfi', '-i', 'testsrc=duration=1', path);
		for (const problem of await problemsOf(path)) {
			expect(problem).toBeInstanceOf(MediaError);
			expect((problem as Error).message).toContain('no sound');
		}
	});
});

test("a codec that no recorder uses isn't decoded", async () => {
	const path = join(folder, 'odd.mka');
	await ffmpeg('-i', made('wav'), '-c:a', 'wavpack', path);
	const [, ...problems] = await problemsOf(path);
	for (const problem of problems) expect(problem).toBeInstanceOf(MediaError);
});

describe('a damaged recording is read as far as possible', () => {
	test.each(['mp3', 'ogg', 'wav', 'webm', 'm4a'])('%s, cut off', async (format) => {
		const path = join(folder, `cut.${format}`);
		// With its table at the beginning, an m4a can be read without its end.
		const table = format === 'm4a' ? ['-movflags', 'faststart'] : [];
		await ffmpeg('-i', made(format), '-c', 'copy', ...table, path);
		await truncate(path, Math.round((await stat(path)).size / 2));
		const { durationMs } = await listenTo(path);
		expect(durationMs).toBeGreaterThan(15_000);
		expect(durationMs).toBeLessThan(25_000);
		const chunks = await cutChunks(path, await newFolder(), { format: 'wav' });
		const { durationMs: cutMs } = chunks[0];
		expect(Math.abs(cutMs - durationMs)).toBeLessThanOrEqual(1100);
		const heard = await hearTones(chunks[0].path);
		expect(heard.length).toBeGreaterThanOrEqual(secondsIn(0, cutMs).length - 2);
	});

	test('with garbage in its middle', async () => {
		const path = join(folder, 'garbage.mp3');
		const content = await readFile(made('mp3'));
		const middle = Math.round(content.length / 2);
		content.fill(0xa5, middle, middle + 2000);
		await writeFile(path, content);
		const [chunk] = await cutChunks(path, await newFolder(), { format: 'mp3' });
		expect((await hearTones(chunk.path)).length).toBeGreaterThanOrEqual(SECONDS - 3 - 2);
	});

	test('headers of megabytes, and far more streams than one', async () => {
		const path = join(folder, 'header.mp3');
		const title = `title=${'x'.repeat(100_000)}`;
		const times = ['-metadata', `creation_time=${'9'.repeat(100_000)}`];
		await ffmpeg('-i', made('mp3'), '-c', 'copy', '-metadata', title, ...times, path);
		expect((await listenTo(path)).createdMs).toBeUndefined();
		await appendFile(path, Buffer.alloc(2 ** 20));
		const chunks = await cutChunks(path, await newFolder(), { format: 'mp3', maxSeconds: 16 });
		await expectWhole(chunks, SECONDS * 1000);
		const many = join(folder, 'many.mka');
		await ffmpeg('-i', made('ogg'), ...Array(50).fill(['-map', '0:a']).flat(), '-c', 'copy', many);
		const fromMany = await cutChunks(many, await newFolder(), { format: 'mp3', maxSeconds: 16 });
		await expectWhole(fromMany, SECONDS * 1000);
	});

	test('a gap of hours in its times needs no memory', async () => {
		const path = join(folder, 'gap.mka');
		const shift = 'setts=ts=if(gt(PTS\\,20000)\\,PTS+36000000\\,PTS)';
		await ffmpeg('-i', made('webm'), '-c', 'copy', '-bsf:a', shift, path);
		const chunks = await cutChunks(path, await newFolder(), { format: 'mp3', maxSeconds: 16 });
		await expectWhole(chunks, SECONDS * 1000);
	});
});

describe("a hostile file can't read other files", () => {
	let isAsked: string[];
	let url: string;
	let close: () => void;
	beforeAll(async () => {
		isAsked = [];
		const server = createServer((request, response) => {
			isAsked.push(request.url!);
			createReadStream(made('mp3')).pipe(response);
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp3`;
		close = () => server.close();
	});
	afterAll(() => close());

	const playlist = (entry: string) =>
		`#EXTM3U\n#EXT-X-TARGETDURATION:40\n#EXTINF:40,\n${entry}\n#EXT-X-ENDLIST\n`;
	test.each<[string, (secret: string) => string]>([
		['a playlist of a file', (secret) => playlist(`file://${secret}`)],
		['a playlist of a relative file', () => playlist('tones.mp3')],
		['a playlist of an address', () => playlist(url)],
		['a playlist of a part of a file', (secret) => playlist(`subfile,,start,0,end,0,,:${secret}`)],
		['a playlist of joined files', (secret) => playlist(`concat:${secret}|${secret}`)],
		['a list of files to be joined', (secret) => `ffconcat version 1.0\nfile '${secret}'\n`],
		['a list of addresses to be joined', () => `ffconcat version 1.0\nfile ${url}\n`],
		[
			'a stream description',
			() =>
				`v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 4000 RTP/AVP 0\n`,
		],
		[
			'a manifest',
			() =>
				`<?xml version="1.0"?><MPD><Period><AdaptationSet><Representation><BaseURL>${url}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
		],
		[
			'the script of a picture',
			(secret) => `push graphic-context\nimage over 0,0 0,0 '${secret}'\n`,
		],
	])('%s', async (_name, contentOf) => {
		const secret = made('mp3');
		for (const ending of ['m4a', 'mp3', 'm3u8']) {
			const path = join(folder, `hostile.${ending}`);
			await writeFile(path, contentOf(secret));
			for (const problem of await problemsOf(path)) expect(problem).toBeInstanceOf(MediaError);
		}
		expect(isAsked).toEqual([]);
	});

	test('that ffmpeg would read with its usual options', async () => {
		const path = join(folder, 'hostile.m3u8');
		await writeFile(path, playlist(url));
		await ffmpeg('-protocol_whitelist', 'file,http,tcp', '-i', path, '-f', 'null', '-');
		expect(isAsked).toContain('/a.mp3');
		await writeFile(path, `ffconcat version 1.0\nfile '${made('mp3')}'\n`);
		const copy = join(folder, 'joined.mp3');
		await ffmpeg('-f', 'concat', '-safe', '0', '-i', path, '-c', 'copy', copy);
		expect(await hearTones(copy)).not.toEqual([]);
	});
});

/** A WAV of a second, or of as many seconds as `rate` makes of it, whose title is that long. */
async function wavWithTitle(
	name: string,
	titleBytes: number,
	{ rate = 8000, bytes = 16_000, letter = '' } = {},
) {
	const path = join(folder, name);
	const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
	const format = [Buffer.from([1, 0, 1, 0]), u32(rate), u32(rate * 2), Buffer.from([2, 0, 16, 0])];
	const title = ['LIST', u32(12 + titleBytes), 'INFOINAM', u32(titleBytes)];
	const head = ['RIFF', u32(44 + titleBytes + bytes), 'WAVEfmt ', u32(16), ...format, ...title];
	await writeFile(path, Buffer.concat(head.map((part) => Buffer.from(part as string))));
	if (letter) await appendFile(path, letter.repeat(titleBytes));
	else await truncate(path, (await stat(path)).size + titleBytes);
	await appendFile(path, Buffer.concat([Buffer.from('data'), u32(bytes)]));
	await truncate(path, (await stat(path)).size + bytes);
	return path;
}

describe("a hostile file can't take more", () => {
	test('time than its size allows', async () => {
		const path = join(folder, 'slow.flac');
		await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1800', path);
		const limits: number[] = [];
		const { timeout } = AbortSignal;
		const shortened = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			limits.push(ms);
			return timeout.call(AbortSignal, 200);
		});
		const problem = await encodeOpus(path, join(folder, 'slow.ogg')).catch(
			(error: unknown) => error,
		);
		shortened.mockRestore();
		expect(problem).toBeInstanceOf(MediaError);
		const minutes = Math.round(limits[0] / 60_000);
		expect((problem as Error).message).toContain(`longer than ${minutes} minutes`);
		expect(minutes).toBeGreaterThanOrEqual(10);
	});

	test('than 48 hours', async () => {
		const path = await wavWithTitle('long.wav', 0, { rate: 100, bytes: 49 * 3600 * 200 });
		const problem = await listenTo(path).catch((error: unknown) => error);
		expect(problem).toBeInstanceOf(MediaError);
		expect((problem as Error).message).toContain('longer than 48 hours');
	});

	const onLinux = process.platform === 'linux' ? test : test.skip;
	onLinux('memory than a recording needs', async () => {
		const path = await wavWithTitle('title.wav', 600 * 2 ** 20);
		const peak = peakOfPrograms();
		expect((await listenTo(path)).durationMs).toBe(1000);
		expect(await peak()).toBeLessThan(200 * 2 ** 10);
		// In many small pieces, as a shell does that reads 2 GB into a variable.
		const programs = await newFolder();
		const hungry = '#!/bin/sh\nx=$(head -c 2000000000 /dev/zero | tr "\\0" x)\n';
		await writeFile(join(programs, 'ffmpeg'), hungry, { mode: 0o700 });
		const before = process.env.PATH;
		process.env.PATH = `${programs}:${before}`;
		const problem = await listenTo(path).catch((error: unknown) => error);
		process.env.PATH = before;
		expect((problem as Error).message).toContain('convert it');
	});

	test('output than a recording has', async () => {
		const path = await wavWithTitle('words.wav', 70 * 2 ** 20, { letter: 'x' });
		const problem = await listenTo(path).catch((error: unknown) => error);
		expect(problem).toBeInstanceOf(MediaError);
		expect((problem as Error).message).toContain('convert it');
	});
});

/** Looks at the programs that are started from now on; their largest memory in KiB, once it is asked for. */
function peakOfPrograms(): () => Promise<number> {
	let peak = 0;
	const look = async () => {
		const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
		for (const pid of children.trim().split(' ')) {
			const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
			peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
		}
	};
	const timer = setInterval(() => void look(), 20);
	return async () => {
		clearInterval(timer);
		await look();
		return peak;
	};
}

describe("a temporary problem isn't a fault of the recording", () => {
	test('a full disk', async () => {
		const to = await newFolder();
		for (const format of ['mp3', 'wav'] as const) {
			await symlink('/dev/full', join(to, `001.${format}`));
			await expect(cutChunks(made('m4a'), to, { format })).rejects.toMatchObject({
				code: 'ENOSPC',
				message: expect.not.stringContaining(folder),
			});
		}
		const problem = await encodeOpus(made('m4a'), '/dev/full').catch((error: unknown) => error);
		expect(problem).toMatchObject({ code: 'ENOSPC' });
		expect(problem).not.toBeInstanceOf(MediaError);
	});

	test('a missing folder', async () => {
		const to = await newFolder();
		await rm(to, { recursive: true });
		const problem = await cutChunks(made('m4a'), to, { format: 'mp3' }).catch(
			(error: unknown) => error,
		);
		expect(problem).toBeInstanceOf(Error);
		expect(problem).not.toBeInstanceOf(MediaError);
		const gone = await listenTo(join(to, 'a.m4a')).catch((error: unknown) => error);
		expect(gone).toMatchObject({ code: 'ENOENT' });
	});

	test('a signal ends the program', async () => {
		const path = join(folder, 'long.flac');
		await ffmpeg('-f', 'lavfi', '-i', 'sine=duration=1800', path);
		const to = await newFolder();
		const reason = new Error('stopped');
		const tasks: ((signal: AbortSignal) => Promise<unknown>)[] = [
			(signal) => encodeOpus(path, join(to, 'a.ogg'), { signal }),
			(signal) => cutChunks(path, to, { format: 'mp3', signal }),
		];
		for (const task of tasks) {
			const stop = new AbortController();
			const working = task(stop.signal);
			setTimeout(() => stop.abort(reason), 200);
			await expect(working).rejects.toBe(reason);
			await expect(task(stop.signal)).rejects.toBe(reason);
		}
		// The program has ended long before its end, and writes nothing any more.
		expect(await readdir(to)).not.toContain('001.mp3');
		const written = () =>
			stat(join(to, 'a.ogg')).then(
				({ size }) => size,
				() => 0,
			);
		const size = await written();
		expect(size).toBeLessThan(3_000_000);
		await pause(300);
		expect(await written()).toBe(size);
	});

	const onPosix = process.platform === 'win32' ? test.skip : test;
	onPosix('ffmpeg without an encoder', async () => {
		const path = process.env.PATH;
		const bin = await newFolder();
		const script = '#!/bin/sh\necho " A....D libopus  libopus Opus (codec opus)"\n';
		await writeFile(join(bin, 'ffmpeg'), script, { mode: 0o755 });
		process.env.PATH = bin;
		try {
			await expect(checkFfmpeg()).rejects.toThrow(/without libmp3lame.* install ffmpeg/);
		} finally {
			process.env.PATH = path;
		}
	});

	test('missing ffmpeg', async () => {
		await checkFfmpeg();
		const path = process.env.PATH;
		process.env.PATH = folder;
		try {
			await expect(checkFfmpeg()).rejects.toThrow(/ffmpeg can't be started.* install ffmpeg/);
		} finally {
			process.env.PATH = path;
		}
	});
});
