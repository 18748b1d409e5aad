// Recordings in the formats that recorders make, and what becomes of each of them.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { samplesPerMs } from '../../server/audio/opus.mts';
import { scanLinks } from '../../server/audio/scan.mts';
import { cutChunks, encodeOpus, probeRecording } from '../../server/recordings/ffmpeg.mts';
import { hearTones, makeTones, TONE_FROM_MS, TONE_TO_MS } from '../support/tones.mts';
import { temporaryFolder } from './sources.mts';

const FORMATS = ['m4a', 'mp3', 'ogg', 'wav', 'webm'];
export const SECONDS = 40;
/** Codecs put some samples before the first and after the last one. */
const CODEC_MS = 60;
export const execute = promisify(execFile);

export let folder: string;
/** A recording that was made in a format. */
export const made = (format: string) => join(folder, `tones.${format}`);
beforeAll(async () => {
	folder = temporaryFolder();
	for (const format of FORMATS) {
		await makeTones(made(format), { seconds: SECONDS, silent: [[12, 15]] });
	}
});

export const ffmpeg = (...args: string[]) => execute('ffmpeg', ['-v', 'error', '-y', ...args]);
const isSilent = (second: number) => second >= 12 && second < 15;
export const secondsIn = (fromMs: number, toMs: number) =>
	Array.from({ length: SECONDS }, (_, second) => second).filter(
		(second) =>
			!isSilent(second) &&
			second * 1000 + TONE_FROM_MS < toMs &&
			second * 1000 + TONE_TO_MS > fromMs,
	);

/** Compares what is heard in each chunk, and when, with what was made. */
export async function expectWhole(chunks: Awaited<ReturnType<typeof cutChunks>>, endMs: number) {
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

let chunkFolders = 0;
export async function newFolder(): Promise<string> {
	const path = join(folder, `chunks${(chunkFolders += 1)}`);
	await mkdir(path);
	return path;
}

/** The tests of each format. */
export const describeFormats = (formats: string[]) =>
	describe.each(formats)('a recording in %s', (format) => {
		test('is as long as it was made', async () => {
			const { durationMs, createdMs } = await probeRecording(made(format));
			expect(Math.abs(durationMs - SECONDS * 1000)).toBeLessThanOrEqual(CODEC_MS);
			expect(createdMs).toBeUndefined();
		});

		test('becomes Ogg Opus of the same length, always the same', async () => {
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

		test.each(['mp3', 'wav'] as const)('is cut into %s, nothing lost or doubled', async (to) => {
			const chunks = await cutChunks(made(format), await newFolder(), {
				format: to,
				maxSeconds: 16,
			});
			expect(chunks).toHaveLength(3);
			// In the middle of the silence, the rest after 16 seconds.
			expect(Math.abs(chunks[1].offsetMs - 13_500)).toBeLessThanOrEqual(60);
			expect(chunks[2].offsetMs - chunks[1].offsetMs).toBe(16_000);
			await expectWhole(chunks, SECONDS * 1000);
		});
	});
