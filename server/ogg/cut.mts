import { preSkipOf, samplesOf, samplesPerMs, withPreSkip } from './opus.mts';
import { flag, OggError, segmentsOf, writePage } from './page.mts';
import { Packets, readPages, type Link } from './scan.mts';

/** A part of a link, in heard samples at 48 kHz. */
export interface Cut {
	link: Link;
	from: number;
	to: number;
}

// What a decoder needs to hear before what it plays is right (RFC 7845, section 4.2).
const prerollSamples = 80 * samplesPerMs;
const packetsPerPage = 50;
const mostSegments = 255;

/**
 * Writes a part of a link as an Ogg Opus stream of its own, packet by packet as they were, to the
 * sample: what comes before the part in its first packets, and as much as a decoder needs to hear
 * first, is skipped by the player (pre-skip), what comes behind it is cut off by the last position.
 * `read` reads the link's file from an offset on.
 */
export async function* writeCut(
	{ link, from, to }: Cut,
	serial: number,
	read: (offset: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
	const firstHeard = preSkipOf(link.head) + from;
	const end = preSkipOf(link.head) + to;
	const wantedFrom = from === 0 ? 0 : Math.max(0, firstHeard - prerollSamples);
	const entrance = link.entrances.findLast(({ decoded }) => decoded <= wantedFrom);
	if (!entrance) throw new OggError('cannot be cut there');

	let pages = 0;
	const page = (packets: Buffer[], granule: number, flags = 0) => {
		const sequence = pages;
		pages += 1;
		return writePage({ flags, granule, serial, sequence, packets });
	};
	let decoded = entrance.decoded;
	/** Samples decoded before the first packet that is written. */
	let origin: number | undefined;
	let packets: Buffer[] = [];
	let segments = 0;
	reading: for await (const ended of packetsFrom(link, entrance.offset, read)) {
		for (const packet of ended) {
			const before = decoded;
			decoded += samplesOf(packet);
			if (decoded <= wantedFrom) continue;
			if (origin === undefined) {
				origin = before;
				yield page([withPreSkip(link.head, firstHeard - origin)], 0, flag.begins);
				// Comments longer than a page are left out, as they are no words of the recording.
				const fits = segmentsOf(link.tags.length) <= mostSegments;
				yield page([fits ? link.tags : noTags], 0);
			}
			const needed = segmentsOf(packet.length);
			if (packets.length === packetsPerPage || segments + needed > mostSegments) {
				yield page(packets, before - origin);
				packets = [];
				segments = 0;
			}
			packets.push(packet);
			segments += needed;
			if (decoded >= end) break reading;
		}
	}
	if (origin === undefined) throw new OggError('has less in it than before');
	yield page(packets, Math.min(end, decoded) - origin, flag.ends);
}

// No vendor, no comments (RFC 7845, section 5.2).
const noTags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);

/** The packets that end on each page, page by page. */
async function* packetsFrom(
	{ serial, entrances: [first] }: Link,
	offset: number,
	read: (offset: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer[]> {
	const packets = new Packets();
	let isBehindTags = offset !== first.offset;
	for await (const { page } of readPages(read(offset), offset)) {
		if (page.serial !== serial) continue;
		const ended = packets.next(page);
		// The first page of audio may be the last one of the comments.
		if (!isBehindTags && ended[0]?.subarray(0, 8).toString('latin1') === 'OpusTags') ended.shift();
		isBehindTags = true;
		yield ended;
		if (page.flags & flag.ends) return;
	}
}
