// Selects the tracks and channels of a file, and mixes them to mono.
import { decode, describe, MediaError, type Block, type Described } from './ffmpeg.mts';
import { separate } from './joined.mts';
import { MAX_HOURS } from './segments.mts';

/** The sound of a file. */
export interface Sound {
	/** In order. */
	pieces: Piece[];
	durationMs: number;
	/** The container's `creation_time` in epoch ms, if any. */
	createdMs: number | undefined;
	/** Whether the file has more to hear than the selection. */
	isPart: boolean;
	/** What was detected and chosen. Each completes a sentence about the recording. */
	notes: string[];
}

/** A file and its channels to mix. */
interface Piece {
	path: string;
	tracks: Track[];
}

interface Track {
	/** Counted from 0, like channels. */
	number: number;
	channels: number[];
}

/** Enough to measure the loudness of speech. */
const MEASURED_RATE = 8_000;
const WINDOW = MEASURED_RATE / 2;
const MAX_TRACKS = 64;
/** Power at full scale. */
const FULL = 2 ** 30;
/** An unconnected input only has noise below this, and far below the others. */
const SILENT = FULL * 1e-6;
const FAR_BELOW = 1e-2;
/** Speech is louder than this, relative to the loudest speech. */
const QUIET = 1e-3;
/** Parts cancel each other out if their sum is less than half as loud as the loudest of them. */
const CANCELED = 1 / 4;
/** A sound that is louder in another channel is still audible at an eighth. */
const AUDIBLE = 1 / 64;
const BLOCK = 16_384;

/**
 * Measures a whole file, and chooses what to transcribe and store: the mix of its tracks and
 * channels or, if they cancel each other out, one of them.
 *
 * @param work An empty folder for the parts of a concatenated file.
 * @throws MediaError if the file or one of its parts is unreadable.
 */
export async function listen(path: string, work: string, signal?: AbortSignal): Promise<Sound> {
	const described = await describe(path, signal);
	const { createdMs } = described;
	const sound: Sound = { pieces: [], durationMs: 0, createdMs, isPart: false, notes: [] };
	const paths = await separate(path, work, signal);
	if (paths.length > 1) sound.notes.push(`was joined from ${paths.length} files`);
	for (const [nth, each] of paths.entries()) {
		const { piece, durationMs, isPart, notes } =
			each === path
				? await listenTo(path, described, signal)
				: await listenToPart(each, `part ${nth + 1} of ${paths.length}`, signal);
		sound.pieces.push(piece);
		sound.durationMs += durationMs;
		sound.isPart ||= isPart;
		sound.notes.push(...notes.filter((note) => !sound.notes.includes(note)));
	}
	if (sound.durationMs >= MAX_HOURS * 3_600_000) throw tooLong();
	return sound;
}

const tooLong = () => new MediaError(`The recording is longer than ${MAX_HOURS} hours. Split it`);

async function listenToPart(path: string, name: string, signal: AbortSignal | undefined) {
	try {
		return await listenTo(path, await describe(path, signal), signal);
	} catch (error) {
		if (!(error instanceof MediaError)) throw error;
		throw new MediaError(
			`The file was joined from several, and ${name} can't be read. Split it, and copy that part again`,
			{ cause: error },
		);
	}
}

async function listenTo(
	path: string,
	{ tracks: count }: Described,
	signal: AbortSignal | undefined,
) {
	if (count > MAX_TRACKS) {
		throw new MediaError(`The file has more than ${MAX_TRACKS} audio tracks. Split it`);
	}
	const notes: string[] = [];
	const tracks: Track[] = [];
	let problem: unknown;
	let frames = 0;
	let isPart = false;
	// Without tracks, ffmpeg explains the problem.
	for (let number = 0; number < Math.max(1, count); number += 1) {
		try {
			const measured = await measure(decode(path, number, MEASURED_RATE, signal));
			const { channels, isMix } = choose(measured);
			tracks.push({ number, channels });
			frames = Math.max(frames, measured.frames);
			if (isMix) continue;
			isPart = true;
			notes.push(`has channels that cancel each other out: channel ${channels[0] + 1} is used`);
		} catch (error) {
			if (!(error instanceof MediaError)) throw error;
			problem ??= error;
			notes.push(`has a track that can't be read: track ${number + 1} is left out`);
		}
	}
	if (tracks.length === 0) throw problem;
	if (frames === 0) {
		throw new MediaError(
			'The file is damaged, so nothing can be heard. Copy it from the recorder again',
		);
	}
	isPart ||= problem !== undefined;
	const piece: Piece = { path, tracks };
	if (tracks.length > 1) {
		const monos = monosOf(piece, MEASURED_RATE, signal);
		const { channels, isMix } = choose(await measure(together(monos)));
		piece.tracks = channels.map((nth) => tracks[nth]);
		isPart ||= !isMix;
		const names = piece.tracks.map(({ number }) => number + 1).join(', ');
		const used = channels.length > 1 ? `tracks ${names} are mixed` : `track ${names} is used`;
		notes.push(`has ${tracks.length} audio tracks: ${used}`);
	}
	return { piece, durationMs: Math.round((frames * 1000) / MEASURED_RATE), isPart, notes };
}

interface Measured {
	channels: number;
	/** Samples per channel. */
	frames: number;
	/** Per half second: the power of each channel, and of their sum. */
	powers: number[];
}

async function measure(blocks: AsyncIterable<Block>): Promise<Measured> {
	const measured: Measured = { channels: 0, frames: 0, powers: [] };
	let sums: number[] = [];
	for await (const { channels, samples } of blocks) {
		if (measured.frames === 0) sums = Array<number>(channels + 1).fill(0);
		measured.channels = channels;
		// Plain loops for speed: an hour has many samples.
		for (let at = 0; at < samples.length; at += channels) {
			let all = 0;
			for (let channel = 0; channel < channels; channel += 1) {
				const sample = samples[at + channel];
				sums[channel] += sample * sample;
				all += sample;
			}
			sums[channels] += all * all;
			measured.frames += 1;
			if (measured.frames % WINDOW !== 0) continue;
			measured.powers.push(...sums.map((sum) => sum / WINDOW));
			sums.fill(0);
		}
		if (measured.frames > MAX_HOURS * 3600 * MEASURED_RATE) throw tooLong();
	}
	measured.powers.push(...sums.map((sum) => sum / (measured.frames % WINDOW || 1)));
	return measured;
}

/** Chooses the channels to mix, so that as little as possible is lost. */
function choose({ channels, powers }: Measured): { channels: number[]; isMix: boolean } {
	const all = Array.from({ length: channels }, (_, channel) => channel);
	const windows: number[][] = [];
	for (let at = 0; at < powers.length; at += channels + 1) {
		windows.push(powers.slice(at, at + channels + 1));
	}
	const loudestOf = (channel: number) =>
		windows.reduce((loudest, window) => Math.max(loudest, window[channel]), 0);
	const loudest = Math.max(0, ...all.map(loudestOf));
	const silent = Math.min(SILENT, FAR_BELOW * loudest);
	const heard = all.filter((channel) => loudestOf(channel) > silent);
	const spoken = windows.flatMap((window) => {
		const most = Math.max(...window.slice(0, channels));
		return most > Math.max(silent, QUIET * loudest) ? [{ window, most }] : [];
	});
	const lostIn = (channel: number, share: number) =>
		spoken.filter(({ window, most }) => window[channel] < share * most).length;
	const [best] = heard
		.map((channel) => ({ channel, lost: lostIn(channel, AUDIBLE), loudest: loudestOf(channel) }))
		.sort((a, b) => a.lost - b.lost || b.loudest - a.loudest);
	if (best && best.lost < lostIn(channels, CANCELED)) {
		return { channels: [best.channel], isMix: false };
	}
	return { channels: heard.length > 0 ? heard : all, isMix: true };
}

/** The samples of a sound as mono. */
export async function* samplesOf(
	{ pieces }: Sound,
	rate: number,
	signal?: AbortSignal,
): AsyncGenerator<Int16Array> {
	for (const piece of pieces) {
		const monos = monosOf(piece, rate, signal);
		if (monos.length === 1) yield* monos[0];
		else yield* mix(together(monos));
	}
}

const monosOf = ({ path, tracks }: Piece, rate: number, signal: AbortSignal | undefined) =>
	tracks.map(({ number, channels }) => mix(decode(path, number, rate, signal), channels));

/** Mixes channels to mono, by default all. */
async function* mix(blocks: AsyncIterable<Block>, mixed?: number[]): AsyncGenerator<Int16Array> {
	for await (const { channels, samples } of blocks) {
		if (channels === 1) {
			yield samples;
			continue;
		}
		const chosen = mixed ?? Array.from({ length: channels }, (_, channel) => channel);
		const mono = new Int16Array(samples.length / channels);
		for (let at = 0; at < mono.length; at += 1) {
			let sum = 0;
			for (let nth = 0; nth < chosen.length; nth += 1) sum += samples[at * channels + chosen[nth]];
			mono[at] = Math.round(sum / chosen.length);
		}
		yield mono;
	}
}

/** Combines mono signals into channels, padded to the longest. */
async function* together(signals: AsyncGenerator<Int16Array>[]): AsyncGenerator<Block> {
	const channels = signals.length;
	const sources = signals.map((signal) => ({ signal, left: new Int16Array(0), isEnded: false }));
	try {
		for (;;) {
			const samples = new Int16Array(BLOCK * channels);
			let frames = 0;
			for (const [channel, source] of sources.entries()) {
				let at = 0;
				while (at < BLOCK) {
					if (source.left.length === 0) {
						const next = source.isEnded ? undefined : await source.signal.next();
						source.isEnded = next?.done ?? true;
						if (source.isEnded) break;
						source.left = next!.value;
					}
					const taken = source.left.subarray(0, BLOCK - at);
					for (let nth = 0; nth < taken.length; nth += 1) {
						samples[(at + nth) * channels + channel] = taken[nth];
					}
					at += taken.length;
					source.left = source.left.subarray(taken.length);
				}
				frames = Math.max(frames, at);
			}
			if (frames === 0) return;
			yield { channels, samples: samples.subarray(0, frames * channels) };
		}
	} finally {
		for (const { signal } of sources) await signal.return(undefined);
	}
}
