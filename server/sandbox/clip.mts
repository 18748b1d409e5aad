import { preSkipOf, samplesPerMs } from '../audio/opus.mts';
import {
	flag,
	packed,
	readPage,
	sizeOfPage,
	writePage,
	type NewPage,
	type Packed,
	type OggPage,
} from '../audio/page.mts';

/** A parsed Ogg Opus file with one stream. */
export interface Clip {
	head: Buffer;
	tags: Buffer;
	/** Its full pages of audio. */
	pages: OggPage[];
}

// Packets of the clip: 20 ms each, and short enough for one segment of their page.
const packetSamples = 20 * samplesPerMs;

/** Parses an Ogg Opus file with one stream. */
export function readClip(file: Buffer): Clip {
	const pages: OggPage[] = [];
	for (let at = 0; at < file.length; at += sizeOfPage(pages.at(-1)!)) {
		pages.push(readPage(file, at)!);
	}
	const [head, tags, ...audio] = pages;
	return { head: head.body, tags: tags.body, pages: audio.slice(0, -1) };
}

/** A stream planned by `planAudio`. */
export interface PlannedAudio {
	/** Exact size in bytes. */
	bytes: number;
	/** Generates a range of its bytes; `to` is exclusive. */
	read: (from: number, to: number) => Generator<Buffer>;
}

/** Plans audio of exactly `durationMs` (above 0): an Ogg stream that repeats the clip. */
export function planAudio(clip: Clip, durationMs: number, serial: number): PlannedAudio {
	const end = preSkipOf(clip.head) + durationMs * samplesPerMs;
	const pages: NewPage[] = [];
	const add = (flags: number, granule: number, { lacing, body }: Packed) =>
		pages.push({ flags, granule, serial, sequence: pages.length, lacing, body });
	add(flag.begins, 0, packed(clip.head));
	add(0, 0, packed(clip.tags));
	for (let granule = 0, nth = 0; granule < end; nth += 1) {
		const page = clip.pages[nth % clip.pages.length];
		const lacing = page.lacing.subarray(0, Math.ceil((end - granule) / packetSamples));
		const bytes = lacing.reduce((sum, size) => sum + size, 0);
		granule = Math.min(end, granule + lacing.length * packetSamples);
		const body = page.body.subarray(0, bytes);
		add(granule === end ? flag.ends : 0, granule, { lacing, body });
	}
	return {
		bytes: pages.reduce((sum, page) => sum + sizeOfPage(page), 0),
		*read(from, to) {
			let at = 0;
			for (const page of pages) {
				const start = at;
				at += sizeOfPage(page);
				if (at > from && start < to) {
					yield writePage(page).subarray(Math.max(0, from - start), to - start);
				}
			}
		},
	};
}
