// Splits files that were concatenated. ffmpeg reads only the first, or those of one codec.
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MediaError } from './ffmpeg.mts';

const OGG = String.raw`OggS\0[\s\S]{22}`;
const FLAC = String.raw`fLaC[\0\x80]\0\0\x22`;
/** Signatures of containers. Ogg and Matroska can also contain FLAC's. */
const BEGINNINGS = [
	OGG,
	String.raw`\x1a\x45\xdf\xa3[\s\S]{1,50}(?:webm|matroska)`,
	String.raw`\0\0[\0\x01][\s\S]ftyp[ -~]{4}`,
	String.raw`R(?:IFF|F64)[\s\S]{4}WAVE`,
	String.raw`riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0`,
	String.raw`FORM[\s\S]{4}AIF[FC]`,
	String.raw`caff\0\x01\0\0`,
	String.raw`\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c`,
	String.raw`#!AMR(?:-WB)?\n`,
];
const beginningOf = (kinds: string[]) => new RegExp(kinds.join('|'), 'g');
/** More than the longest signature, and the examined part of an Ogg page. */
const MAX_HEAD = 512;
const MAX_PIECES = 64;

/**
 * Splits a concatenated file.
 *
 * @param folder Target folder.
 * @returns The paths of the parts, or of the file if it isn't concatenated.
 * @throws MediaError if there are too many; the reason of `signal`.
 */
export async function separate(
	path: string,
	folder: string,
	signal?: AbortSignal,
): Promise<string[]> {
	const starts = await startsIn(path, signal);
	if (starts.length < 2) return [path];
	if (starts.length > MAX_PIECES) {
		throw new MediaError(`The file was joined from more than ${MAX_PIECES} files. Split it`);
	}
	const pieces: string[] = [];
	for (const [nth, start] of starts.entries()) {
		const piece = join(folder, `piece-${nth + 1}`);
		const end = starts.at(nth + 1) ?? Infinity;
		await pipeline(createReadStream(path, { start, end: end - 1 }), createWriteStream(piece), {
			signal,
		}).catch((error: unknown) => {
			signal?.throwIfAborted();
			throw error;
		});
		pieces.push(piece);
	}
	return pieces;
}

/** Positions where files start, in bytes. */
async function startsIn(path: string, signal: AbortSignal | undefined): Promise<number[]> {
	const isFlac = (await headOf(path)).search(FLAC) === 0;
	const beginning = beginningOf(isFlac ? [...BEGINNINGS, FLAC] : BEGINNINGS);
	const starts: number[] = [];
	let pages = new OggPages();
	let read = 0;
	let kept = Buffer.alloc(0);
	const look = (data: Buffer, end: number) => {
		for (const { 0: found, index } of data.toString('latin1').matchAll(beginning)) {
			if (index >= end) return;
			const isPage = found.startsWith('OggS');
			if (isPage && !pages.isBeginning(data.subarray(index))) continue;
			if (!isPage) pages = new OggPages();
			starts.push(read + index);
		}
	};
	for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) {
		signal?.throwIfAborted();
		const data = Buffer.concat([kept, piece as Buffer]);
		const end = Math.max(0, data.length - MAX_HEAD);
		look(data, end);
		kept = data.subarray(end);
		read += end;
	}
	look(kept, kept.length);
	// MP3 and AAC have no signature.
	return [0, ...starts.filter((start) => start > 0)];
}

/** The first bytes of a file as Latin-1. */
async function headOf(path: string): Promise<string> {
	const file = await open(path);
	try {
		const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD), 0, MAX_HEAD, 0);
		return buffer.toString('latin1', 0, bytesRead);
	} finally {
		await file.close();
	}
}

/** Offsets in an Ogg page (RFC 3533, section 6). */
const PAGE = { flags: 5, position: 6, serial: 14, segments: 26, bytes: 27 };
const BEGINS_STREAM = 2;

/** Finds Ogg pages where a file starts that ffmpeg doesn't read together with the previous one. */
class OggPages {
	#codec = '';
	#begunStream = false;

	/** Call it for all pages in order. */
	isBeginning(page: Buffer): boolean {
		const isAfterOther = this.#begunStream;
		this.#begunStream =
			(page[PAGE.flags] & BEGINS_STREAM) !== 0 &&
			page.subarray(PAGE.position, PAGE.serial).every((byte) => byte === 0);
		// A file with several streams starts them one after the other.
		if (!this.#begunStream || isAfterOther) return false;
		const body = PAGE.bytes + page[PAGE.segments];
		const bytes = page.subarray(PAGE.bytes, body).reduce((sum, each) => sum + each, 0);
		const before = this.#codec;
		// All decoding parameters, such as the sample rate.
		this.#codec = page.toString('latin1', body, body + bytes);
		return this.#codec !== before;
	}
}
