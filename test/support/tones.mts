import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	constants,
	copyFileSync,
	existsSync,
	mkdirSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, extname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Where the tone of a second begins and ends in it. */
export const TONE_FROM_MS = 100;
export const TONE_TO_MS = 900;
export const RATE = 16_000;
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
	/** Seconds with the noise of a quiet room: ffmpeg takes ten times as long to decode silence. */
	quiet?: [from: number, to: number][];
	/** Before the name of the output. */
	args?: string[];
}

/** Recordings that were made before, by what they are made of. */
const MADE = join(tmpdir(), 'lifelog-tones');

/** Makes a recording with another tone in each second, in the format of its name's ending. */
export async function makeTones(
	path: string,
	{ seconds, silent = [], quiet = [], args = [] }: Tones,
): Promise<void> {
	const samples = new Int16Array(Math.round(seconds * RATE));
	for (const [from, to] of quiet) {
		// 33 values from -16 to 16, in an order that repeats.
		for (let at = from * RATE; at < to * RATE; at += 1) samples[at] = ((at * 7919) % 33) - 16;
	}
	const isSilent = (second: number) =>
		[...silent, ...quiet].some(([from, to]) => second >= from && second < to);
	for (let second = 0; second < seconds; second += 1) {
		if (isSilent(second)) continue;
		const low = perSample(LOW, second % PER_DIGIT);
		const high = perSample(HIGH, Math.floor(second / PER_DIGIT));
		const [from, to] = [TONE_FROM_MS, TONE_TO_MS].map((ms) => ((1000 * second + ms) * RATE) / 1000);
		for (let at = from; at <= to; at += 1) {
			samples[at] = 2 ** 13 * (Math.sin(low * at) + Math.sin(high * at));
		}
	}
	if (path.endsWith('.wav') && args.length === 0) {
		writeFileSync(path, wavOf(samples));
		return;
	}
	const input = ['-f', 's16le', '-ar', String(RATE), '-ac', '1', '-i', '-'];
	const output = [...args, ...(path.endsWith('.webm') ? ['-c:a', 'libopus'] : [])];
	const content = Buffer.from(samples.buffer);
	const from = JSON.stringify([ffmpegInUse(), ...input, ...output]);
	const name = createHash('sha256').update(from).update(content).digest('hex').slice(0, 20);
	const made = join(MADE, name + extname(path));
	if (!existsSync(made)) {
		mkdirSync(MADE, { recursive: true });
		// Another test file may make the same.
		const draft = join(MADE, `${name}.${process.pid}.${(drafts += 1)}${extname(path)}`);
		const making = execute('ffmpeg', ['-v', 'error', '-y', ...input, ...output, draft]);
		making.child.stdin!.end(content);
		await making;
		renameSync(draft, made);
	}
	copyFileSync(made, path, constants.COPYFILE_FICLONE);
}
let drafts = 0;

const ffmpegInUse = () =>
	process.env.PATH!.split(delimiter).find((folder) => existsSync(join(folder, 'ffmpeg')));

/** Offsets in a plain WAV file. */
const WAV = { size: 4, format: 8, length: 16, channels: 22, rate: 24, bits: 34, data: 36 };
const WAV_HEADER = 44;

/** Samples of 16 kHz as a WAV file. */
export function wavOf(samples: Int16Array): Buffer {
	const header = Buffer.alloc(WAV_HEADER);
	header.write('RIFF');
	header.writeUInt32LE(WAV_HEADER - 8 + samples.byteLength, WAV.size);
	header.write('WAVEfmt ', WAV.format);
	header.writeUInt32LE(16, WAV.length);
	header.writeUInt16LE(1, WAV.channels - 2);
	header.writeUInt16LE(1, WAV.channels);
	header.writeUInt32LE(RATE, WAV.rate);
	header.writeUInt32LE(RATE * 2, WAV.rate + 4);
	header.writeUInt16LE(2, WAV.bits - 2);
	header.writeUInt16LE(16, WAV.bits);
	header.write('data', WAV.data);
	header.writeUInt32LE(samples.byteLength, WAV.data + 4);
	return Buffer.concat([
		header,
		Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
	]);
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
	const samples = await samplesIn(path);
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

async function samplesIn(path: string): Promise<Int16Array> {
	const wav = readFileSync(path.replace(/^file:/, ''));
	const isPlain =
		wav.length >= WAV_HEADER &&
		wav.toString('latin1', WAV.format, WAV.format + 8) === 'WAVEfmt ' &&
		wav.toString('latin1', WAV.data, WAV.data + 4) === 'data' &&
		wav.readUInt16LE(WAV.channels) === 1 &&
		wav.readUInt32LE(WAV.rate) === RATE &&
		wav.readUInt16LE(WAV.bits) === 16;
	const pcm = ['-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];
	const { stdout } = isPlain
		? { stdout: wav.subarray(WAV_HEADER, WAV_HEADER + wav.readUInt32LE(WAV_HEADER - 4)) }
		: await execute('ffmpeg', ['-v', 'error', '-i', path, ...pcm], {
				encoding: 'buffer',
				maxBuffer: 2 ** 30,
			});
	const samples = new Int16Array(stdout.length >> 1);
	stdout.copy(Buffer.from(samples.buffer));
	return samples;
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
