import { isOpusHead, preSkipOf, tagsOf } from './opus.mts';
import { flag, OggError, sizeOfPage, type OggPage } from './page.mts';
import { batchesOf, Packets, readPages } from './packets.mts';

/** A page from which a link can be read on: no packet began before it. */
export interface Mark {
	/** Where it begins in the file. */
	offset: number;
	/** Samples decoded before it, from the beginning of the link. */
	decoded: number;
	/** The pages that the packets before it are written on, and their bytes. */
	pages: number;
	bytes: number;
}

/** One stream of Opus in a file that chains several, or has just one. */
export interface Link {
	serial: number;
	/** Its header and its comments, each a packet that fits on a page. */
	head: Buffer;
	tags: Buffer;
	/** Samples that are heard, at 48 kHz. */
	played: number;
	/** In order: the first one is its first page of audio, the last one its end. */
	marks: Mark[];
}

// Of all headers of a file, which are held in memory: a picture in the comments is left out.
const MAX_HEADER_BYTES = 16 * 1024 * 1024;
/** What a link takes in memory beside its headers. */
const LINK_BYTES = 1024;

// What is read in vain to find a place. A link of two hours has some 300 marks then.
const MARK_BYTES = 64 * 1024;

interface OpenLink extends Omit<Link, 'played' | 'tags'> {
	tags?: Buffer;
	packets: Packets;
	end: Mark;
	/** Granule position of the sample that the link begins with. */
	origin?: number;
	trimmed: number;
}

/** Finds the Opus streams of a file, in order. Throws an OggError when it is no Ogg Opus. */
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
			// Of streams side by side, which begin before the first one goes on, the first one counts.
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
		// Comments longer than a page are left out, because they are no words of the recording. Audio
		// begins on a page of its own (RFC 7845, section 3).
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
	// A recording that was cut out of a longer one may begin at any position.
	const isLast = (page.flags & flag.ends) !== 0;
	link.origin ??= isLast ? 0 : Math.max(0, page.granule - end.decoded);
	const surplus = end.decoded - (page.granule - link.origin);
	if (isLast && surplus > 0 && surplus < end.decoded - before) link.trimmed = surplus;
}
