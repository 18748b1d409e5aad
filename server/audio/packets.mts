import { samplesOf } from './opus.mts';
import {
	flag,
	maxPageBytes,
	OggError,
	readPage,
	sizeOfPage,
	type Packed,
	type OggPage,
} from './page.mts';

/** Per page. */
const MAX_SEGMENTS = 255;

/**
 * Reads the pages of a file, each with its offset. Throws an OggError if any part of the file isn't
 * Ogg.
 */
export async function* readPages(
	source: AsyncIterable<Buffer>,
): AsyncGenerator<{ page: OggPage; offset: number }> {
	let rest: Buffer = Buffer.alloc(0);
	let offset = 0;
	for await (const piece of source) {
		const data = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
		let at = 0;
		for (let page = readPage(data, at); page; page = readPage(data, at)) {
			yield { page, offset };
			at += sizeOfPage(page);
			offset += sizeOfPage(page);
		}
		rest = data.subarray(at);
		if (rest.length > maxPageBytes) throw new OggError("isn't Ogg from beginning to end");
	}
	if (rest.length > 0) throw new OggError('ends in the middle of a page');
}

const isEnd = (size: number) => size < 255;
const none: Packed = { lacing: Buffer.alloc(0), body: Buffer.alloc(0) };

/** Joins the packets of one stream, page by page. */
export class Packets {
	#begun: Packed | undefined;

	/**
	 * The packets that end on the next page. Throws an OggError for a packet that is too large for a
	 * page.
	 */
	next({ flags, lacing, body }: OggPage): Packed {
		const isContinued = (flags & flag.continued) !== 0;
		const begun = isContinued ? this.#begun : undefined;
		// A packet that started on a missing page is incomplete.
		const isOrphan = isContinued && !begun;
		const from = isOrphan ? lacing.findIndex(isEnd) + 1 || lacing.length : 0;
		const to = Math.max(from, lacing.findLastIndex(isEnd) + 1);
		const fromByte = bytesOf(lacing, 0, from);
		const toByte = to === lacing.length ? body.length : fromByte + bytesOf(lacing, from, to);
		const ended = { lacing: lacing.subarray(from, to), body: body.subarray(fromByte, toByte) };
		const rest = { lacing: lacing.subarray(to), body: body.subarray(toByte) };
		const hasEnded = to > from;
		if (rest.lacing.length > 0) this.#begun = join(hasEnded ? undefined : begun, rest);
		else if (hasEnded || isOrphan || !isContinued) this.#begun = undefined;
		if (this.#begun && this.#begun.lacing.length > MAX_SEGMENTS) throw tooLong();
		return hasEnded ? join(begun, ended) : none;
	}
}

const tooLong = () => new OggError('has a packet that is longer than a page');

function bytesOf(lacing: Buffer, from: number, to: number): number {
	let bytes = 0;
	for (let nth = from; nth < to; nth += 1) bytes += lacing[nth];
	return bytes;
}

function join(first: Packed | undefined, second: Packed): Packed {
	if (!first) return second;
	return {
		lacing: Buffer.concat([first.lacing, second.lacing]),
		body: Buffer.concat([first.body, second.body]),
	};
}

/** Packets for one page. */
export interface Batch extends Packed {
	/** Samples decoded before and after these packets, from the link's start. */
	before: number;
	decoded: number;
}

/**
 * Groups packets into pages, without packets before `start` or after `end`. Returns the samples
 * decoded before the remaining packets.
 *
 * @param decoded Samples decoded before the first packet.
 */
export function* batchesOf(
	{ lacing, body }: Packed,
	decoded: number,
	start = 0,
	end = Infinity,
): Generator<Batch, number> {
	let before = decoded;
	let [first, firstByte, last, lastByte, byte] = [0, 0, 0, 0, 0];
	const batch = () => ({
		before,
		decoded,
		lacing: lacing.subarray(first, last),
		body: body.subarray(firstByte, lastByte),
	});
	for (let nth = 0; nth < lacing.length && decoded < end; nth += 1) {
		byte += lacing[nth];
		if (lacing[nth] === 255) continue;
		if (nth + 1 - last > MAX_SEGMENTS) throw tooLong();
		if (nth + 1 - first > MAX_SEGMENTS) {
			yield batch();
			[first, firstByte] = [last, lastByte];
		}
		if (decoded < start) [first, firstByte] = [nth + 1, byte];
		before = decoded;
		decoded += samplesOf(body, lastByte, byte);
		[last, lastByte] = [nth + 1, byte];
	}
	if (last > first) yield batch();
	return decoded;
}
