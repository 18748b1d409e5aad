// Encodes sound as Ogg Opus for storage, and in chunks for transcription.
import { join } from 'node:path';
import { encode } from './ffmpeg.mts';
import { samplesOf, type Sound } from './sound.mts';

/** A part of a recording that is short enough for a transcription endpoint. */
export interface Chunk {
	path: string;
	offsetMs: number;
	durationMs: number;
}

export type ChunkFormat = 'mp3' | 'wav';

interface CutOptions {
	format: ChunkFormat;
	/** By default the endpoints' maximum. */
	maxSeconds?: number;
	signal?: AbortSignal;
}

const OPUS_RATE = 48_000;
const CHUNK_RATE = 16_000;
const PER_MS = CHUNK_RATE / 1000;
/** Far above the size of a recording or chunk. ffmpeg doesn't report that it stopped at the limit. */
const MAX_OPUS_BYTES = 2 ** 32;
const MAX_CHUNK_BYTES = 2 ** 26;
/** The strictest endpoint takes 1,400 s and 25 MB. */
const MAX_CHUNK_SECONDS = { mp3: 1380, wav: 700 };
const CODECS = { mp3: ['-c:a', 'libmp3lame', '-b:a', '64k'], wav: ['-c:a', 'pcm_s16le'] };
const CUT_WINDOW = 2 * 60 * CHUNK_RATE;
/** Endpoints reject audio shorter than a tenth of this. */
const MIN_LAST_CHUNK = CHUNK_RATE;
const MIN_SILENCE = 0.3 * CHUNK_RATE;
/** 35 dB below full scale. */
const MAX_SILENT = 2 ** 15 * 10 ** (-35 / 20);

/**
 * Encodes a whole sound as Ogg Opus for speech. The result is reproducible. Replaces the file at
 * `to`; a failure may leave a part of it.
 *
 * @throws MediaError if the sound is unreadable; an Error with code ENOSPC if the disk is full.
 */
export async function encodeOpus(
	sound: Sound,
	to: string,
	{ signal }: { signal?: AbortSignal } = {},
): Promise<void> {
	const codec = ['-c:a', 'libopus', '-b:a', '32k', '-application', 'voip'];
	const output = { path: to, codec, format: 'ogg', maxBytes: MAX_OPUS_BYTES };
	await encode(samplesOf(sound, OPUS_RATE, signal), OPUS_RATE, output, signal);
}

/**
 * Cuts a sound into ordered chunks of 16 kHz, each at the longest silence of its last two minutes,
 * if any. Every sample is in exactly one chunk. Replaces files in `folder`; a failure may leave
 * some there.
 *
 * @throws MediaError if the sound is unreadable; an Error with code ENOSPC if the disk is full.
 */
export async function cutChunks(
	sound: Sound,
	folder: string,
	{ format, maxSeconds = MAX_CHUNK_SECONDS[format], signal }: CutOptions,
): Promise<Chunk[]> {
	const most = maxSeconds * CHUNK_RATE;
	// A chunk is cut once enough samples follow it.
	const waiting = new Int16Array(most + MIN_LAST_CHUNK);
	let length = 0;
	let offset = 0;
	const chunks: Chunk[] = [];
	const write = async (end: number) => {
		const path = join(folder, `${String(chunks.length + 1).padStart(3, '0')}.${format}`);
		const output = { path, codec: CODECS[format], format, maxBytes: MAX_CHUNK_BYTES };
		await encode([waiting.subarray(0, end)], CHUNK_RATE, output, signal);
		chunks.push({ path, offsetMs: offset / PER_MS, durationMs: Math.round(end / PER_MS) });
		waiting.copyWithin(0, end, length);
		length -= end;
		offset += end;
	};
	for await (const samples of samplesOf(sound, CHUNK_RATE, signal)) {
		let at = 0;
		while (at < samples.length) {
			const taken = samples.subarray(at, at + waiting.length - length);
			waiting.set(taken, length);
			length += taken.length;
			at += taken.length;
			if (length === waiting.length) await write(cutIn(waiting, most));
		}
	}
	if (length > most) await write(cutIn(waiting.subarray(0, length), most));
	if (length > 0) await write(length);
	return chunks;
}

/** The end of a chunk of at most `most` samples, in whole milliseconds. */
function cutIn(samples: Int16Array, most: number): number {
	const latest = Math.min(most, samples.length - MIN_LAST_CHUNK);
	const earliest = most - Math.min(CUT_WINDOW, most / 2);
	let longest = { start: latest, end: latest };
	let start = earliest;
	for (let at = earliest; at <= latest; at += 1) {
		if (at < latest && Math.abs(samples[at]) < MAX_SILENT) continue;
		const length = at - start;
		if (length >= MIN_SILENCE && length > longest.end - longest.start) longest = { start, end: at };
		start = at + 1;
	}
	return Math.round((longest.start + longest.end) / 2 / PER_MS) * PER_MS;
}
