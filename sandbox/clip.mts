import { preSkipOf, samplesPerMs } from '../server/ogg/opus.mts';
import { flag, readPage, sealPage } from '../server/ogg/page.mts';

/** An Ogg Opus file of one stream, taken apart into its pages. */
export interface Clip {
	pages: Buffer[];
	/** Samples the decoder drops at the beginning. */
	preSkip: number;
}

// The clip's packets: 20 ms each, and short enough to be one segment of their page.
const packetSamples = 20 * samplesPerMs;

// Where they stand in a page (RFC 3533, section 6).
const field = { flags: 5, granule: 6, serial: 14, segments: 26 };

/** Takes an Ogg Opus file of one stream apart. */
export function readClip(file: Buffer): Clip {
	const pages: Buffer[] = [];
	for (let at = 0; at < file.length;) {
		const { bytes } = readPage(file, at)!;
		pages.push(file.subarray(at, at + bytes));
		at += bytes;
	}
	return { pages, preSkip: preSkipOf(readPage(file, 0)!.body) };
}

/** A stream planned by `planAudio`. */
export interface PlannedAudio {
	/** Its exact length in bytes. */
	bytes: number;
	/** Produces it, one link of the chain at a time. */
	links: () => Generator<Buffer>;
}

/**
 * Plans `durationMs` (above 0) of audio: a chained Ogg stream that repeats the clip, the last
 * link ending at the sample. The links have the serial numbers `firstSerial`, + 1, and so on.
 */
export function planAudio(clip: Clip, durationMs: number, firstSerial: number): PlannedAudio {
	const samples = durationMs * samplesPerMs;
	const clipSamples = granuleOf(clip.pages[clip.pages.length - 1]) - clip.preSkip;
	const whole = Math.floor(samples / clipSamples);
	const rest = cutPages(clip, samples % clipSamples);
	return {
		bytes: whole * sizeOf(clip.pages) + sizeOf(rest),
		*links() {
			for (let link = 0; link < whole; link += 1) yield writeLink(clip.pages, firstSerial + link);
			if (rest.length > 0) yield writeLink(rest, firstSerial + whole);
		},
	};
}

function sizeOf(pages: Buffer[]): number {
	return pages.reduce((sum, page) => sum + page.length, 0);
}

function granuleOf(page: Buffer): number {
	return readPage(page, 0)!.granule;
}

/** Returns the clip's pages up to `samples`, the last one shortened to end there. */
function cutPages({ pages, preSkip }: Clip, samples: number): Buffer[] {
	if (samples === 0) return [];
	const end = preSkip + samples;
	const last = pages.findIndex((page) => granuleOf(page) >= end);
	const surplus = Math.floor((granuleOf(pages[last]) - end) / packetSamples);
	return [...pages.slice(0, last), dropPackets(pages[last], surplus, end)];
}

/** Copies a page without its last `surplus` packets and makes it the stream's last page. */
function dropPackets(page: Buffer, surplus: number, granule: number): Buffer {
	const { segments, body } = readPage(page, 0)!;
	const sizes = segments.subarray(0, segments.length - surplus);
	const bodySize = sizes.reduce((sum, size) => sum + size, 0);
	const head = Buffer.from(page.subarray(0, field.segments + 1));
	head[field.segments] = sizes.length;
	head[field.flags] |= flag.ends;
	head.writeBigInt64LE(BigInt(granule), field.granule);
	return Buffer.concat([head, sizes, body.subarray(0, bodySize)]);
}

function writeLink(pages: Buffer[], serial: number): Buffer {
	const link = Buffer.concat(pages);
	let at = 0;
	for (const { length } of pages) {
		const page = link.subarray(at, at + length);
		page.writeUInt32LE(serial >>> 0, field.serial);
		sealPage(page);
		at += length;
	}
	return link;
}
