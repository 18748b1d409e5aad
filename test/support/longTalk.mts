// Audio that says by its pitch which second it is, and a browser that listens to it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { writeArchive } from './archive.mts';
import { lifelogOf } from './invented.mts';

const BASE_HZ = 400;
const HZ_PER_S = 50;

/** A tone that rises by 50 Hz a second, from a second of it on, anew each minute, as Ogg Opus. */
export function tone(fromS: number, lengthS: number): Buffer {
	const folder = mkdtempSync(join(tmpdir(), 'lifelog-tone-'));
	const file = join(folder, 'tone.ogg');
	const t = `mod(t+${fromS},60)`;
	const phase = `2*PI*(${BASE_HZ}*${t}+${HZ_PER_S / 2}*${t}*${t})`;
	const source = `aevalsrc='0.5*sin(${phase})':s=48000:d=${lengthS}`;
	const opus = ['-c:a', 'libopus', '-b:a', '24k', '-frame_duration', '20', '-ac', '1'];
	execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, ...opus, file]);
	const content = readFileSync(file);
	rmSync(folder, { recursive: true });
	return content;
}

/** The second of the tone with a frequency. */
export const secondOf = (hertz: number) => (hertz - BASE_HZ) / HZ_PER_S;

/** A lifelog of 3 hours and 10,000 utterances. */
export const LONG_TALK = { id: 'long', lines: 10_000, lengthMs: 3 * 3_600_000 };

/** The length of each audio file. */
const FILE_MS = 600_000;

/** When a line of the long talk is said, in ms from its start. */
export const lineStartMs = (line: number) =>
	Math.round((line * LONG_TALK.lengthMs) / LONG_TALK.lines);

/** Writes an archive with the long talk and its audio. */
export async function writeLongTalk(folder: string): Promise<void> {
	const { id, lines, lengthMs } = LONG_TALK;
	const start = Date.parse('2026-03-01T12:00:00Z');
	const time = (ms: number) => new Date(start + ms).toISOString();
	const contents = Array.from({ length: lines }, (_, line) => ({
		...{ type: 'blockquote', content: `Line ${line} of a long talk`, speakerName: 'Anna' },
		startOffsetMs: lineStartMs(line),
		...{ startTime: time(lineStartMs(line)), endTime: time(lineStartMs(line + 1)) },
	}));
	const content = tone(0, FILE_MS / 1000);
	await writeArchive(folder, {
		lifelogs: [lifelogOf(id, time(0), { contents, endTime: time(lengthMs) })],
		audio: Array.from({ length: lengthMs / FILE_MS }, (_, nth) => ({
			...{ startMs: start + nth * FILE_MS, endMs: start + (nth + 1) * FILE_MS },
			content,
		})),
	});
}

/** What {@link listen} adds to the globals of the page, as `listening`. */
export interface Listening {
	audio: HTMLAudioElement;
	/** Has the last 8,192 samples. */
	analyser: AnalyserNode;
}

/** What a browser plays. */
interface Heard {
	/** The frequency now. */
	hertz: number;
	/** Where the player says it is, in s, in the middle of what the frequency was taken from. */
	positionS: number;
}

/** Listens to the page's player from here on. It must be playing, so that a browser allows it. */
export async function listen(page: Page): Promise<() => Promise<Heard>> {
	await page.evaluate(async () => {
		const audio = document.querySelector('audio')!;
		const context = new AudioContext({ sampleRate: 48_000 });
		await context.resume();
		const analyser = new AnalyserNode(context, { fftSize: 8192 });
		context.createMediaElementSource(audio).connect(analyser).connect(context.destination);
		Object.assign(globalThis, { listening: { audio, analyser } });
	});
	return async () =>
		await page.evaluate(() => {
			const { audio, analyser } = (globalThis as unknown as { listening: Listening }).listening;
			const samples = new Float32Array(analyser.fftSize);
			analyser.getFloatTimeDomainData(samples);
			const rises = [...samples.keys()].filter((at) => samples[at] < 0 && samples[at + 1] >= 0);
			const length = (rises.at(-1)! - rises[0]) / 48_000;
			return {
				hertz: (rises.length - 1) / length,
				positionS: audio.currentTime - samples.length / 96_000,
			};
		});
}
