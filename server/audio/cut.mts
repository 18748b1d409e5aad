import { areAlike, preSkipOf, samplesPerMs, withPreSkip } from './opus.mts';
import { flag, OggError, packed, sizeOfPage, writePage } from './page.mts';
import { batchesOf, Packets, readPages, type Batch } from './packets.mts';
import type { Link, Mark } from './scan.mts';

/** A part of a link, in heard samples at 48 kHz. */
export interface Cut {
	link: Link;
	from: number;
	to: number;
	/** Reads the link's file from an offset on. */
	read: (offset: number) => AsyncIterable<Buffer>;
}

/** Ogg Opus that is ready to be written. */
export interface Planned {
	bytes: number;
	/** Writes its bytes from one on up to another, which is left out. */
	write: (from?: number, to?: number) => AsyncGenerator<Buffer>;
}

/** A logical stream that is written. */
interface Stream {
	serial: number;
	head: Buffer;
	/** Samples of the packets that it has. */
	granule: number;
	/** Samples that it is to have, pre-skip included: never more than these. */
	due: number;
	pages: number;
}

/** Packets of one link, one behind the other, in a stream. */
interface Run {
	cut: Cut;
	stream: Stream;
	/** Samples decoded before the first and after the last of them, from the beginning of the link. */
	start: number;
	end: number;
	/** Those of the stream before it. */
	granule: number;
	sequence: number;
	/** The pages before the packets: header and comments, where it begins a stream. */
	headers: Buffer;
	/** Where it begins in what is written, and how long it is, both in bytes. */
	at: number;
	bytes: number;
	/** From where it can be written, too: each with what is written before. */
	entrances: Mark[];
}

// What a decoder needs to hear before what it plays is right (RFC 7845, section 4.2).
const PREROLL_SAMPLES = 80 * samplesPerMs;

/**
 * Plans parts of links as Ogg Opus, packet by packet as they were: one stream of parts that are
 * decoded alike, or else a chain of such streams. A stream is as long as its parts, to the sample: what
 * a decoder needs to hear before the first part is skipped by the player (pre-skip), what follows the
 * last one is cut off by the last position. Where two parts meet, whole packets are left out or added:
 * a part begins up to two packets early or late, and never more than one remains added.
 *
 * @param firstSerial Of the first stream; the others follow.
 * @throws OggError if a file isn't as it was when its links were found.
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

/** The last boundary between two packets before a place, or the first one after it. */
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

/** How long a run is: between its first and its last mark nothing is read for that. */
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
