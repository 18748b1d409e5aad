import { isOpusHead, preSkipOf, tagsOf } from './opus.mts';
import { flag, OggError, sizeOfPage, type OggPage } from './page.mts';
import { batchesOf, Packets, readPages } from './packets.mts';

/** A page where reading a link can start: no packet continues from before. */
export interface Mark {
	/** Position in the file. */
	offset: number;
	/** Samples decoded before it, from the link's start. */
	decoded: number;
	/** Number and bytes of the pages before it. */
	pages: number;
	bytes: number;
}

/** An Opus stream in a file, which may chain several. */
export interface Link {
	serial: number;
	/** Header and comments, each a packet that fits on a page. */
	head: Buffer;
	tags: Buffer;
	/** Audible samples at 48 kHz. */
	played: number;
	/** In order, from the first page of audio to the end of the last page. */
	marks: Mark[];
}

// For all headers of a file, which stay in memory. A picture in the comments isn't kept.
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** Memory for a link besides its headers. */
const LINK_BYTES = 1024;

// Maximum bytes to skip when seeking. A link of two hours then has about 300 marks.
const MARK_BYTES = 64 * 1024;

interface OpenLink extends Omit<Link, 'played' | 'tags'> {
	tags?: Buffer;
	packets: Packets;
	end: Mark;
	/** Granule position of the link's first sample. */
	origin?: number;
	trimmed: number;
}

/** Finds the Opus streams of a file, in order. Throws an OggError if it isn't Ogg Opus. */
export async function scanLinks(source: AsyncIterable<Buffer>): Promise<Link[]> {
	const links: OpenLink[] = [];
	let open: OpenLink | undefined;
	let held = 0;
	const hold = (bytes: number) => {
		held += bytes;
		if (held > MAX_HEADER_BYTES) throw new OggError('has headers above 16 MiB');
	};
	for await (const { page, offset } of readPages(source)) {
		if (page.flags & flag.begins) {
			const { body: head } = new Packets().next(page);
			// Of multiplexed streams, which all start before any continues, only the first is used.
			if (!isOpusHead(head) || (open && !open.tags)) continue;
			open = beginLink(page.serial, head);
			links.push(open);
			hold(LINK_BYTES + head.length);
		} else if (open?.serial === page.serial) {
			const hadTags = open.tags !== undefined;
			addPage(open, page, offset);
			if (!hadTags) hold(open.tags?.length ?? 0);
		}
		if (open?.serial === page.serial && page.flags & flag.ends) open = undefined;
	}
	const heard = links.filter(({ end }) => end.decoded > 0);
	if (heard.length === 0) throw new OggError('contains no Opus audio');
	return heard.map(({ serial, head, tags, end, trimmed, marks }) => ({
		serial,
		head,
		tags: tagsOf(tags),
		played: Math.max(0, end.decoded - trimmed - preSkipOf(head)),
		marks: [...marks, end],
	}));
}

function beginLink(serial: number, head: Buffer): OpenLink {
	const end = { offset: Infinity, decoded: 0, pages: 0, bytes: 0 };
	return { serial, head: Buffer.from(head), packets: new Packets(), end, marks: [], trimmed: 0 };
}

function addPage(link: OpenLink, page: OggPage, offset: number): void {
	const isContinued = (page.flags & flag.continued) !== 0;
	if (!link.tags) {
		const segments = page.lacing.findIndex((size) => size < 255) + 1;
		if (segments === 0) return;
		// Comments longer than a page are skipped: they aren't part of the sound. Audio starts on a new
		// page (RFC 7845, section 3).
		const bytes = (segments - 1) * 255 + page.lacing[segments - 1];
		link.tags = tagsOf(isContinued ? undefined : page.body.subarray(0, bytes));
		return;
	}
	const { end } = link;
	const last = link.marks.at(-1);
	if (!last || (!isContinued && offset - last.offset >= MARK_BYTES)) {
		link.marks.push({ ...end, offset });
	}
	const before = end.decoded;
	for (const batch of batchesOf(link.packets.next(page), end.decoded)) {
		end.decoded = batch.decoded;
		end.pages += 1;
		end.bytes += sizeOfPage(batch);
	}
	if (page.granule < 0) return;
	// A recording cut out of a longer one may start at any position.
	const isLast = (page.flags & flag.ends) !== 0;
	link.origin ??= isLast ? 0 : Math.max(0, page.granule - end.decoded);
	const surplus = end.decoded - (page.granule - link.origin);
	if (isLast && surplus > 0 && surplus < end.decoded - before) link.trimmed = surplus;
}
