import { isOpusHead, preSkipOf, samplesOf } from './opus.mts';
import { flag, longestPage, OggError, readPage, type Page } from './page.mts';

/** A page from which a link can be read on: no packet began before it. */
export interface Entrance {
	/** Where it stands in the file. */
	offset: number;
	/** Samples decoded before it, from the beginning of the link. */
	decoded: number;
}

/** One stream of Opus in a file that chains several, or has just one. */
export interface Link {
	serial: number;
	/** Its header and its comments, each a packet. */
	head: Buffer;
	tags: Buffer;
	/** Samples that are heard, at 48 kHz. */
	played: number;
	/** Where it can be read from, in order; the first one is its first page of audio. */
	entrances: Entrance[];
}

// A quarter of a megabyte is read in a moment; a link of two hours has a hundred entrances then.
const entranceBytes = 256 * 1024;

/**
 * Reads the pages of a file that comes in pieces, each with where it stands. Throws an OggError for
 * what is no Ogg from end to end.
 */
export async function* readPages(
	source: AsyncIterable<Buffer>,
	startOffset = 0,
): AsyncGenerator<{ page: Page; offset: number }> {
	let rest: Buffer = Buffer.alloc(0);
	let offset = startOffset;
	for await (const piece of source) {
		const data = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
		let at = 0;
		for (let page = readPage(data, at); page; page = readPage(data, at)) {
			yield { page, offset };
			at += page.bytes;
			offset += page.bytes;
		}
		rest = data.subarray(at);
		if (rest.length > longestPage) throw new OggError('is no Ogg from end to end');
	}
	if (rest.length > 0) throw new OggError('ends in the middle of a page');
}

/** Puts the packets of one stream together, page by page. */
export class Packets {
	#begun: Buffer[] = [];

	/** The packets that end on the next page, in order. */
	next({ flags, segments, body }: Page): Buffer[] {
		// What was begun on a page that is missing cannot be ended.
		const isOrphan = (flags & flag.continued) !== 0 && this.#begun.length === 0;
		if ((flags & flag.continued) === 0) this.#begun = [];
		const packets: Buffer[] = [];
		let from = 0;
		let to = 0;
		let isFirst = true;
		for (const size of segments) {
			to += size;
			if (size === 255) continue;
			const part = body.subarray(from, to);
			const packet = this.#begun.length > 0 ? Buffer.concat([...this.#begun, part]) : part;
			if (!(isFirst && isOrphan)) packets.push(packet);
			this.#begun = [];
			isFirst = false;
			from = to;
		}
		if (to > from && !(isFirst && isOrphan)) this.#begun.push(body.subarray(from, to));
		return packets;
	}
}

interface OpenLink extends Pick<Link, 'serial' | 'entrances'> {
	packets: Packets;
	headers: Buffer[];
	decoded: number;
	/** Granule position of the sample that the link begins with. */
	origin: number | undefined;
	trimmed: number;
}

/** Finds the Opus streams of a file, in order. Throws an OggError when it is no Ogg Opus. */
export async function scanLinks(source: AsyncIterable<Buffer>): Promise<Link[]> {
	const links: OpenLink[] = [];
	let open: OpenLink | undefined;
	for await (const { page, offset } of readPages(source)) {
		if (page.flags & flag.begins) {
			const packets = new Packets();
			const [head] = packets.next(page);
			// Of streams that lie side by side the first one of Opus is read.
			if (!head || !isOpusHead(head) || open) continue;
			open = beginLink(page.serial, head, packets);
			links.push(open);
		} else if (open?.serial === page.serial) {
			addPage(open, page, offset);
		}
		if (open?.serial === page.serial && page.flags & flag.ends) open = undefined;
	}
	const heard = links.filter(
		({ headers, entrances }) => headers.length === 2 && entrances.length > 0,
	);
	if (heard.length === 0) throw new OggError('has no Opus in it');
	return heard.map(({ serial, headers: [head, tags], decoded, trimmed, entrances }) => ({
		serial,
		head,
		tags,
		played: Math.max(0, decoded - trimmed - preSkipOf(head)),
		entrances,
	}));
}

function beginLink(serial: number, head: Buffer, packets: Packets): OpenLink {
	const headers = [Buffer.from(head)];
	return { serial, packets, headers, entrances: [], decoded: 0, origin: undefined, trimmed: 0 };
}

function addPage(link: OpenLink, page: Page, offset: number): void {
	const packets = link.packets.next(page);
	if (link.headers.length === 1) {
		const tags = packets.shift();
		if (!tags) return;
		link.headers.push(Buffer.from(tags));
		if (packets.length === 0) return;
	}
	const isEntrance = (page.flags & flag.continued) === 0;
	const last = link.entrances.at(-1);
	if (!last || (isEntrance && offset - last.offset >= entranceBytes)) {
		link.entrances.push({ offset, decoded: link.decoded });
	}
	const samples = packets.reduce((sum, packet) => sum + samplesOf(packet), 0);
	link.decoded += samples;
	if (page.granule < 0) return;
	// A recording that was cut out of a longer one may begin at any position.
	const isLast = (page.flags & flag.ends) !== 0;
	link.origin ??= isLast ? 0 : Math.max(0, page.granule - link.decoded);
	const surplus = link.decoded - (page.granule - link.origin);
	if (isLast && surplus > 0 && surplus < samples) link.trimmed = surplus;
}
