import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Where the tone of a second begins and ends in it. */
export const TONE_FROM_MS = 100;
export const TONE_TO_MS = 900;
const RATE = 16_000;
/** Of a second n, one tone says n modulo 60 and one the minute: no two of an hour are alike. */
const PER_DIGIT = 60;
const LOW = { base: 400, step: 20 };
const HIGH = { base: 2000, step: 40 };
/** A tone and the silence around it are told apart by the power of pieces of so many samples. */
const PIECE = RATE / 200;
const MIN_POWER = 1e-3;
/** What a codec leaves between two tones is shorter. */
const MIN_TONE_MS = 200;

/** Samples that tell a tone from the next one, 20 Hz away. */
const ENOUGH = RATE / 5;

interface Tones {
	seconds: number;
	/** Seconds without a tone, each from one up to another. */
	silent?: [from: number, to: number][];
	/** Before the name of the output. */
	args?: string[];
}

/** Makes a recording with another tone in each second, in the format of its name's ending. */
export async function makeTones(
	path: string,
	{ seconds, silent = [], args = [] }: Tones,
): Promise<void> {
	const samples = new Int16Array(Math.round(seconds * RATE));
	const isSilent = (second: number) => silent.some(([from, to]) => second >= from && second < to);
	for (let second = 0; second < seconds; second += 1) {
		if (isSilent(second)) continue;
		const low = perSample(LOW, second % PER_DIGIT);
		const high = perSample(HIGH, Math.floor(second / PER_DIGIT));
		const [from, to] = [TONE_FROM_MS, TONE_TO_MS].map((ms) => ((1000 * second + ms) * RATE) / 1000);
		for (let at = from; at <= to; at += 1) {
			samples[at] = 2 ** 13 * (Math.sin(low * at) + Math.sin(high * at));
		}
	}
	const input = ['-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', '-'];
	const output = [...args, ...(path.endsWith('.webm') ? ['-c:a', 'libopus'] : []), path];
	const made = execute('ffmpeg', ['-v', 'error', '-y', ...input, ...output]);
	made.child.stdin!.end(Buffer.from(samples.buffer));
	await made;
}

const frequency = ({ base, step }: typeof LOW, digit: number) => base + step * (digit % PER_DIGIT);
/** How far a sine of it goes in one sample. */
const perSample = (tone: typeof LOW, digit: number) =>
	(2 * Math.PI * frequency(tone, digit)) / RATE;

/** A tone that was heard; times are after the beginning of the audio. */
export interface Heard {
	/** The second that it was made for. */
	second: number;
	startMs: number;
	endMs: number;
	/** How loud it is, in dB below the loudest that can be. */
	level: number;
}

/** Hears the tones of audio in any format. Rejects if it can't be decoded. */
export async function hearTones(path: string): Promise<Heard[]> {
	const pcm = ['-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];
	const { stdout } = await execute('ffmpeg', ['-v', 'error', '-i', path, ...pcm], {
		encoding: 'buffer',
		maxBuffer: 2 ** 30,
	});
	const samples = new Int16Array(stdout.length >> 1);
	stdout.copy(Buffer.from(samples.buffer));
	const heard: Heard[] = [];
	let from: number | undefined;
	for (let at = 0; at < samples.length + PIECE; at += PIECE) {
		const piece = samples.subarray(at, at + PIECE);
		const isTone = powerOf(piece) / PIECE > MIN_POWER;
		if (isTone) from ??= at;
		if (isTone || from === undefined) continue;
		const ms = (sample: number) => (sample * 1000) / RATE;
		if (ms(at - from) >= MIN_TONE_MS) {
			const tone = samples.subarray(from + 4 * PIECE, at - 4 * PIECE).subarray(0, ENOUGH);
			const level = 10 * Math.log10(powerOf(tone) / tone.length);
			heard.push({ second: secondOf(tone), startMs: ms(from), endMs: ms(at), level });
		}
		from = undefined;
	}
	return heard;
}

/** Of samples, the loudest of which are 2 ** 15. Loops are plain ones: an hour has many samples. */
function powerOf(samples: Int16Array): number {
	let sum = 0;
	for (let at = 0; at < samples.length; at += 1) sum += samples[at] ** 2;
	return sum / 2 ** 30;
}

function secondOf(tone: Int16Array): number {
	const [low, high] = [LOW, HIGH].map((digit) => {
		const powers = Array.from({ length: PER_DIGIT }, (_, n) => goertzel(tone, frequency(digit, n)));
		return powers.indexOf(Math.max(...powers));
	});
	return high * PER_DIGIT + low;
}

/** The power of a frequency. */
function goertzel(samples: Int16Array, hertz: number): number {
	const factor = 2 * Math.cos((2 * Math.PI * hertz) / RATE);
	let [last, beforeLast] = [0, 0];
	for (let at = 0; at < samples.length; at += 1) {
		const now = samples[at] + factor * last - beforeLast;
		beforeLast = last;
		last = now;
	}
	return last * last + beforeLast * beforeLast - factor * last * beforeLast;
}
