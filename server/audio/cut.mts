import { areAlike, preSkipOf, samplesPerMs, withPreSkip } from './opus.mts';
import { flag, OggError, packed, sizeOfPage, writePage } from './page.mts';
import { batchesOf, Packets, readPages, type Batch } from './packets.mts';
import type { Link, Mark } from './scan.mts';

/** A part of a link, in audible samples at 48 kHz. */
export interface Cut {
	link: Link;
	from: number;
	to: number;
	/** Reads the link's file from an offset. */
	read: (offset: number) => AsyncIterable<Buffer>;
}

/** Ogg Opus that is ready to write. */
export interface Planned {
	bytes: number;
	/** Writes its bytes in a range; `to` is exclusive. */
	write: (from?: number, to?: number) => AsyncGenerator<Buffer>;
}

/** A logical stream of the output. */
interface Stream {
	serial: number;
	head: Buffer;
	/** Samples of its packets. */
	granule: number;
	/** Maximum samples to play, including pre-skip. */
	due: number;
	pages: number;
}

/** Consecutive packets of one link in a stream. */
interface Run {
	cut: Cut;
	stream: Stream;
	/** Samples decoded before its first and after its last packet, from the link's start. */
	start: number;
	end: number;
	/** Granule position where it starts in the stream. */
	granule: number;
	sequence: number;
	/** Pages before the packets: header and comments, if it starts a stream. */
	headers: Buffer;
	/** Its position and size in the output, in bytes. */
	at: number;
	bytes: number;
	/** Further positions from which it can be written, each with the samples and bytes before it. */
	entrances: Mark[];
}

// A decoder needs this much before its output is right (RFC 7845, section 4.2).
const PREROLL_SAMPLES = 80 * samplesPerMs;

/**
 * Plans parts of links as Ogg Opus, with the original packets. Parts that need the same decoder
 * form one stream; otherwise, streams are chained. A stream lasts as long as its parts, to the
 * sample. Pre-skip hides what a decoder needs before the first part, and the last granule position
 * cuts off what follows the last part. Where two parts meet, whole packets are dropped or added: a
 * part starts up to two packets early or late, and never more than one extra packet remains.
 *
 * @param firstSerial Serial number of the first stream; the others follow.
 * @throws OggError if a file has changed since its links were found.
 */
export async function planOgg(cuts: Cut[], firstSerial: number): Promise<Planned> {
	const runs: Run[] = [];
	let stream: Stream | undefined;
	let at = 0;
	let serial = firstSerial;
	for (const cut of cuts) {
		const { link, from, to } = cut;
		const firstHeard = preSkipOf(link.head) + from;
		let headers: Buffer = Buffer.alloc(0);
		let start: number;
		if (stream && areAlike(stream.head, link.head)) {
			const added = stream.granule - stream.due;
			stream.due += to - from;
			if (stream.due <= stream.granule) continue;
			start = await boundary(cut, firstHeard + added, 'before');
		} else {
			const wanted = from === 0 ? 0 : Math.max(0, firstHeard - PREROLL_SAMPLES);
			start = await boundary(cut, wanted, 'before');
			const preSkip = firstHeard - start;
			headers = writeHeaders(link, serial, preSkip);
			stream = { serial, head: link.head, granule: 0, due: preSkip + to - from, pages: 2 };
			serial += 1;
		}
		const end = await boundary(cut, start + stream.due - stream.granule, 'after');
		const { granule, pages: sequence } = stream;
		const run = { cut, stream, start, end, granule, sequence, headers, at };
		const { entrances, pages, bytes } = await measure(run);
		runs.push({ ...run, entrances, bytes });
		stream.granule += end - start;
		stream.pages += pages;
		at += bytes;
	}
	return { bytes: at, write: (from = 0, to = at) => write(runs, from, to) };
}

function writeHeaders({ head, tags }: Link, serial: number, preSkip: number): Buffer {
	return Buffer.concat([
		writePage({
			flags: flag.begins,
			granule: 0,
			serial,
			sequence: 0,
			...packed(withPreSkip(head, preSkip)),
		}),
		writePage({ flags: 0, granule: 0, serial, sequence: 1, ...packed(tags) }),
	]);
}

/** The last packet boundary before a position, or the first one after it. */
async function boundary(cut: Cut, place: number, side: 'before' | 'after'): Promise<number> {
	const mark = markBefore(cut.link, place);
	if (mark.decoded === place) return place;
	let last: Batch | undefined;
	for await (last of batchesBetween(cut, mark.decoded, place));
	if (!last || last.decoded < place) throw hasLess();
	return side === 'after' || last.decoded === place ? last.decoded : last.before;
}

const hasLess = () => new OggError('has become shorter');

const markBefore = ({ marks }: Link, decoded: number) =>
	marks.findLast((mark) => mark.decoded <= decoded) ?? marks[0];

/** The packets of a link between two boundaries, page by page. */
async function* batchesBetween(
	{ link, read }: Cut,
	start: number,
	end: number,
): AsyncGenerator<Batch> {
	if (start >= end) return;
	const mark = markBefore(link, start);
	const packets = new Packets();
	let { decoded } = mark;
	for await (const { page } of readPages(read(mark.offset))) {
		if (page.serial !== link.serial || page.flags & flag.begins) continue;
		decoded = yield* batchesOf(packets.next(page), decoded, start, end);
		if (decoded >= end || page.flags & flag.ends) return;
	}
}

/** Measures a run. Between its first and its last mark nothing needs to be read. */
async function measure({ cut, start, end, ...run }: Omit<Run, 'entrances' | 'bytes'>) {
	const marks = cut.link.marks.filter(({ decoded }) => decoded >= start && decoded <= end);
	const [first, last] = [marks.at(0), marks.at(-1)];
	let pages = 0;
	let bytes = run.headers.length;
	const add = async (from: number, to: number) => {
		for await (const batch of batchesBetween(cut, from, to)) {
			pages += 1;
			bytes += sizeOfPage(batch);
		}
	};
	await add(start, first?.decoded ?? end);
	const entrances = marks.map((mark) => ({
		...mark,
		pages: run.sequence + pages + mark.pages - first!.pages,
		bytes: run.at + bytes + mark.bytes - first!.bytes,
	}));
	if (last) {
		pages += last.pages - first!.pages;
		bytes += last.bytes - first!.bytes;
		await add(last.decoded, end);
	}
	return { entrances, pages, bytes };
}

async function* write(runs: Run[], from: number, to: number): AsyncGenerator<Buffer> {
	for (const [nth, run] of runs.entries()) {
		const { cut, stream, end } = run;
		const isLast = runs.at(nth + 1)?.stream !== stream;
		if (run.at + run.bytes <= from || run.at >= to) continue;
		const entrance = run.entrances.findLast(({ bytes }) => bytes <= from);
		let at = entrance?.bytes ?? run.at;
		let sequence = entrance?.pages ?? run.sequence;
		const part = (piece: Buffer) => {
			at += piece.length;
			const before = at - piece.length;
			return piece.subarray(Math.max(0, from - before), Math.max(0, to - before));
		};
		if (!entrance && run.headers.length > 0) yield part(run.headers);
		for await (const batch of batchesBetween(cut, entrance?.decoded ?? run.start, end)) {
			const ends = isLast && batch.decoded === end;
			const granule = ends ? stream.due : run.granule + batch.decoded - run.start;
			const flags = ends ? flag.ends : 0;
			yield part(writePage({ ...batch, flags, granule, serial: stream.serial, sequence }));
			sequence += 1;
			if (at >= to) return;
		}
		if (at !== run.at + run.bytes) throw hasLess();
	}
}
