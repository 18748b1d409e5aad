// Loops by index here, as iterators and callbacks take several times as long.

/** Where the fields of an Ogg page stand (RFC 3533, section 6). */
const field = {
	version: 4,
	flags: 5,
	granule: 6,
	serial: 14,
	sequence: 18,
	checksum: 22,
	segments: 26,
};
const headerBytes = 27;
const capture = Buffer.from('OggS');

/** The longest a page can be. */
export const longestPage = headerBytes + 255 + 255 * 255;

/** What the flags of a page say. */
export const flag = { continued: 1, begins: 2, ends: 4 };

/** Something that is no Ogg Opus; its message says where. */
export class OggError extends Error {}

/** A page as it stands in a file. */
export interface Page {
	flags: number;
	/** Samples at 48 kHz up to the last packet that ends on it; -1 when none does. */
	granule: number;
	serial: number;
	/** The sizes of its segments; one below 255 ends a packet. */
	segments: Buffer;
	body: Buffer;
	/** Its length with its header. */
	bytes: number;
}

/**
 * Reads the page that begins at `at`; undefined when it does not end inside of `data`. Throws an
 * OggError when none begins there.
 */
export function readPage(data: Buffer, at: number): Page | undefined {
	if (data.length < at + headerBytes) return undefined;
	if (!data.subarray(at, at + 4).equals(capture) || data[at + field.version] !== 0) {
		throw new OggError('is no Ogg from end to end');
	}
	const body = at + headerBytes + data[at + field.segments];
	const segments = data.subarray(at + headerBytes, body);
	let end = body;
	for (let nth = 0; nth < segments.length; nth += 1) end += segments[nth];
	if (data.length < end) return undefined;
	return {
		flags: data[at + field.flags],
		granule: Number(data.readBigInt64LE(at + field.granule)),
		serial: data.readUInt32LE(at + field.serial),
		segments,
		body: data.subarray(body, end),
		bytes: end - at,
	};
}

/** What a page to be written holds: whole packets, at most 255 segments of them. */
export interface NewPage {
	flags: number;
	granule: number;
	serial: number;
	sequence: number;
	packets: Buffer[];
}

/** Segments that a packet of this length takes. */
export function segmentsOf(bytes: number): number {
	return Math.floor(bytes / 255) + 1;
}

/** Writes a page with its checksum. */
export function writePage({ flags, granule, serial, sequence, packets }: NewPage): Buffer {
	let segments = 0;
	let bytes = headerBytes;
	for (const { length } of packets) {
		segments += segmentsOf(length);
		bytes += segmentsOf(length) + length;
	}
	const page = Buffer.allocUnsafe(bytes);
	capture.copy(page);
	page[field.version] = 0;
	page[field.flags] = flags;
	page.writeBigInt64LE(BigInt(granule), field.granule);
	page.writeUInt32LE(serial >>> 0, field.serial);
	page.writeUInt32LE(sequence, field.sequence);
	page[field.segments] = segments;
	let at = headerBytes;
	let body = headerBytes + segments;
	for (const packet of packets) {
		const last = at + segmentsOf(packet.length) - 1;
		page.fill(255, at, last);
		page[last] = packet.length % 255;
		at = last + 1;
		packet.copy(page, body);
		body += packet.length;
	}
	sealPage(page);
	return page;
}

/** Writes the checksum of a page into it. */
export function sealPage(page: Buffer): void {
	page.writeUInt32LE(0, field.checksum);
	page.writeUInt32LE(checksum(page), field.checksum);
}

const polynomial = 0x04c11db7;
const checksumTable = Uint32Array.from({ length: 256 }, (_, byte) => {
	let value = byte << 24;
	for (let bit = 0; bit < 8; bit += 1) {
		value = value & 0x80000000 ? (value << 1) ^ polynomial : value << 1;
	}
	return value;
});

/** The CRC-32 of an Ogg page: not reflected, unlike the one of zlib. */
function checksum(page: Buffer): number {
	let value = 0;
	for (let at = 0; at < page.length; at += 1) {
		value = (value << 8) ^ checksumTable[(value >>> 24) ^ page[at]];
	}
	return value >>> 0;
}
