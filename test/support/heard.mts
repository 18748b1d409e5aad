import { readOgg } from './ogg.mts';

/** The packets of one stream of a chain. */
interface Link {
	packets: Buffer[];
	/** What a player skips at its beginning. */
	preSkipMs: number;
	playedMs: number;
}

const PACKET_MS = 20;
/** A sample: positions are whole ones. */
const SAMPLE_MS = 1 / 48;

function linksOf(file: Buffer): Link[] {
	const links: Link[] = [];
	for (const { begins, ends, granule, packets } of readOgg(file)) {
		if (begins) {
			links.push({ packets: [], preSkipMs: packets[0].readUInt16LE(10) / 48, playedMs: 0 });
		} else if (!packets[0]?.subarray(0, 8).equals(Buffer.from('OpusTags'))) {
			links.at(-1)!.packets.push(...packets);
		}
		if (ends) links.at(-1)!.playedMs = granule / 48 - links.at(-1)!.preSkipMs;
	}
	return links;
}

/** How long a chain of Ogg Opus plays, in milliseconds. */
export function playedMsOf(file: Buffer): number {
	return linksOf(file).reduce((sum, { playedMs }) => sum + playedMs, 0);
}

/**
 * The packets that are heard of a chain of Ogg Opus with packets of 20 ms, between two times of it in
 * milliseconds. What a player decodes and skips is not among them.
 */
export function heardPackets(file: Buffer, fromMs = 0, toMs = Infinity): string[] {
	const heard: string[] = [];
	let linkMs = 0;
	for (const { packets, preSkipMs, playedMs } of linksOf(file)) {
		for (const [index, packet] of packets.entries()) {
			const beginMs = linkMs + Math.max(0, index * PACKET_MS - preSkipMs);
			const endMs = linkMs + Math.min(playedMs, (index + 1) * PACKET_MS - preSkipMs);
			if (Math.min(endMs, toMs) - Math.max(beginMs, fromMs) > 1.5 * SAMPLE_MS) {
				heard.push(packet.toString('base64'));
			}
		}
		linkMs += playedMs;
	}
	return heard;
}

/**
 * Whether packets are those of some parts, one behind the other: of each part, the first and the last
 * packet may be left out, because parts meet between whole packets.
 */
export function areJoined(packets: string[], parts: string[][]): boolean {
	let at = 0;
	for (const part of parts) {
		const inner = part.slice(1, -1);
		const isAt = (from: number) => inner.every((packet, nth) => packets[from + nth] === packet);
		// Behind the last packet of the part before, and the first one of this.
		const found = [0, 1, 2].find((between) => isAt(at + between));
		if (found === undefined) return false;
		at += found + inner.length;
	}
	return packets.length - at <= 1;
}
