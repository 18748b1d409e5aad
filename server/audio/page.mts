// Loops use indexes here: iterators and callbacks are several times slower.

/** Offsets of the fields in an Ogg page (RFC 3533, section 6). */
const field = {
	version: 4,
	flags: 5,
	granule: 6,
	serial: 14,
	sequence: 18,
	checksum: 22,
	segments: 26,
};
const HEADER_BYTES = 27;
const CAPTURE = Buffer.from('OggS');

export const maxPageBytes = HEADER_BYTES + 255 + 255 * 255;

export const flag = { continued: 1, begins: 2, ends: 4 };

/** The data isn't Ogg Opus. The message says where. */
export class OggError extends Error {}

/** Whole packets of a page. */
export interface Packed {
	/** Sizes of their segments. A size below 255 ends a packet. */
	lacing: Buffer;
	body: Buffer;
}

/** A page of a file. Its last packet may continue on the next page. */
export interface OggPage extends Packed {
	flags: number;
	/** Samples at 48 kHz up to the end of the last complete packet; -1 without one. */
	granule: number;
	serial: number;
}

export function sizeOfPage({ lacing, body }: Packed): number {
	return HEADER_BYTES + lacing.length + body.length;
}

/**
 * Reads the page at `at`; undefined if `data` ends inside it. Throws an OggError if no page starts
 * there.
 */
export function readPage(data: Buffer, at: number): OggPage | undefined {
	if (data.length < at + HEADER_BYTES) return undefined;
	if (!data.subarray(at, at + 4).equals(CAPTURE) || data[at + field.version] !== 0) {
		throw new OggError("isn't Ogg from beginning to end");
	}
	const body = at + HEADER_BYTES + data[at + field.segments];
	const lacing = data.subarray(at + HEADER_BYTES, body);
	let end = body;
	for (let nth = 0; nth < lacing.length; nth += 1) end += lacing[nth];
	if (data.length < end) return undefined;
	return {
		flags: data[at + field.flags],
		granule: Number(data.readBigInt64LE(at + field.granule)),
		serial: data.readUInt32LE(at + field.serial),
		lacing,
		body: data.subarray(body, end),
	};
}

/** A packet for a page, with at most 65,024 bytes. */
export function packed(packet: Buffer): Packed {
	const lacing = Buffer.alloc(Math.floor(packet.length / 255) + 1, 255);
	lacing[lacing.length - 1] = packet.length % 255;
	return { lacing, body: packet };
}

/** Content of a new page, with at most 255 segments. */
export interface NewPage extends Packed {
	flags: number;
	granule: number;
	serial: number;
	sequence: number;
}

export function writePage(content: NewPage): Buffer {
	const { flags, granule, serial, sequence, lacing, body } = content;
	const page = Buffer.allocUnsafe(sizeOfPage(content));
	CAPTURE.copy(page);
	page[field.version] = 0;
	page[field.flags] = flags;
	page.writeBigInt64LE(BigInt(granule), field.granule);
	page.writeUInt32LE(serial >>> 0, field.serial);
	page.writeUInt32LE(sequence, field.sequence);
	page.writeUInt32LE(0, field.checksum);
	page[field.segments] = lacing.length;
	lacing.copy(page, HEADER_BYTES);
	body.copy(page, HEADER_BYTES + lacing.length);
	page.writeUInt32LE(checksum(page), field.checksum);
	return page;
}

const POLYNOMIAL = 0x04c11db7;
const checksumTable = Uint32Array.from({ length: 256 }, (_, byte) => {
	let value = byte << 24;
	for (let bit = 0; bit < 8; bit += 1) {
		value = value & 0x80000000 ? (value << 1) ^ POLYNOMIAL : value << 1;
	}
	return value;
});

/** The CRC-32 of an Ogg page. Unlike zlib's, it isn't reflected. */
function checksum(page: Buffer): number {
	let value = 0;
	for (let at = 0; at < page.length; at += 1) {
		value = (value << 8) ^ checksumTable[(value >>> 24) ^ page[at]];
	}
	return value >>> 0;
}
