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
	const digit = ({ base, step }: typeof LOW, of: string) =>
		`0.25*sin(2*PI*t*(${base}+${step}*mod(${of},${PER_DIGIT})))`;
	const tones = `${digit(LOW, 'floor(t)')}+${digit(HIGH, `floor(t/${PER_DIGIT})`)}`;
	const isOn = `between(mod(t,1),${TONE_FROM_MS / 1000},${TONE_TO_MS / 1000})`;
	const isHeard = silent.map(([from, to]) => `*not(gte(t,${from})*lt(t,${to}))`).join('');
	const source = `aevalsrc=exprs='(${tones})*${isOn}${isHeard}':sample_rate=${RATE}:duration=${seconds}`;
	const output = [...args, ...(path.endsWith('.webm') ? ['-c:a', 'libopus'] : []), path];
	await execute('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...output]);
}

/** A tone that was heard; times are after the beginning of the audio. */
export interface Heard {
	/** The second that it was made for. */
	second: number;
	startMs: number;
	endMs: number;
}

/** Hears the tones of audio in any format. Rejects if it can't be decoded. */
export async function hearTones(path: string): Promise<Heard[]> {
	const pcm = ['-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];
	const { stdout } = await execute('ffmpeg', ['-v', 'error', '-i', path, ...pcm], {
		encoding: 'buffer',
		maxBuffer: 2 ** 30,
	});
	const samples = Float32Array.from(
		{ length: stdout.length >> 1 },
		(_, n) => stdout.readInt16LE(2 * n) / 2 ** 15,
	);
	const heard: Heard[] = [];
	let from: number | undefined;
	for (let at = 0; at < samples.length + PIECE; at += PIECE) {
		const piece = samples.subarray(at, at + PIECE);
		const isTone = piece.reduce((sum, x) => sum + x * x, 0) / PIECE > MIN_POWER;
		if (isTone) from ??= at;
		if (isTone || from === undefined) continue;
		const ms = (sample: number) => (sample * 1000) / RATE;
		if (ms(at - from) >= MIN_TONE_MS) {
			const second = secondOf(samples.subarray(from + 4 * PIECE, at - 4 * PIECE));
			heard.push({ second, startMs: ms(from), endMs: ms(at) });
		}
		from = undefined;
	}
	return heard;
}

function secondOf(tone: Float32Array): number {
	const [low, high] = [LOW, HIGH].map(({ base, step }) => {
		const powers = Array.from({ length: PER_DIGIT }, (_, n) => goertzel(tone, base + step * n));
		return powers.indexOf(Math.max(...powers));
	});
	return high * PER_DIGIT + low;
}

/** The power of a frequency. */
function goertzel(samples: Float32Array, frequency: number): number {
	const factor = 2 * Math.cos((2 * Math.PI * frequency) / RATE);
	let [last, beforeLast] = [0, 0];
	for (const sample of samples) [last, beforeLast] = [sample + factor * last - beforeLast, last];
	return last * last + beforeLast * beforeLast - factor * last * beforeLast;
}
