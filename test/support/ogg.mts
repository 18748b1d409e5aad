/** A page of an Ogg stream as its specification words it (RFC 3533), read without the server's help. */
export interface OggPage {
	serial: number;
	sequence: number;
	granule: number;
	begins: boolean;
	ends: boolean;
	/** Whether its checksum is right. */
	isIntact: boolean;
	packets: Buffer[];
}

/** Takes a file apart whose packets do not go over pages. Throws for what is no Ogg. */
export function readOgg(file: Buffer): OggPage[] {
	const pages: OggPage[] = [];
	for (let at = 0; at < file.length;) {
		if (file.toString('latin1', at, at + 4) !== 'OggS') throw new Error(`No page at ${at}`);
		const sizes = [...file.subarray(at + 27, at + 27 + file[at + 26])];
		const body = at + 27 + sizes.length;
		const length = body - at + sizes.reduce((sum, size) => sum + size, 0);
		const packets: Buffer[] = [];
		let from = body;
		let to = body;
		for (const size of sizes) {
			to += size;
			if (size === 255) continue;
			packets.push(file.subarray(from, to));
			from = to;
		}
		if (from !== to) throw new Error('A packet goes over pages');
		const page = Buffer.from(file.subarray(at, at + length));
		const stated = page.readUInt32LE(22);
		page.writeUInt32LE(0, 22);
		pages.push({
			serial: page.readUInt32LE(14),
			sequence: page.readUInt32LE(18),
			granule: Number(page.readBigInt64LE(6)),
			begins: (page[5] & 2) !== 0,
			ends: (page[5] & 4) !== 0,
			get isIntact() {
				return crc(page) === stated;
			},
			packets,
		});
		at += length;
	}
	return pages;
}

/** What a byte adds to the checksum, bit by bit as the specification words it. */
const ADDS = Int32Array.from({ length: 256 }, (_, byte) => {
	let register = byte << 24;
	for (let bit = 0; bit < 8; bit += 1) {
		register = (register << 1) ^ (register < 0 ? 0x04c11db7 : 0);
	}
	return register;
});

function crc(page: Buffer): number {
	let register = 0;
	for (const byte of page) register = (register << 8) ^ ADDS[(register >>> 24) ^ byte];
	return register >>> 0;
}

/** A stream of Opus to be written. */
export interface NewStream {
	serial: number;
	preSkip: number;
	/** Packets of 20 ms. */
	packets: Buffer[];
	perPage: number;
	/** Position of its first sample, as of a recording that was cut out of a longer one. */
	origin?: number;
	/** Samples cut off at its end. */
	trim?: number;
}

/** Writes a stream, its packets over pages where they are long. */
export function writeOgg({
	serial,
	preSkip,
	packets,
	perPage,
	origin = 0,
	trim = 0,
}: NewStream): Buffer {
	const head = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
	head.writeUInt16LE(preSkip, 10);
	const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
	const pages: Buffer[] = [];
	const add = (flags: number, granule: number, sizes: number[], body: Buffer) => {
		const page = Buffer.concat([Buffer.alloc(27), Buffer.from(sizes), body]);
		page.write('OggS', 'latin1');
		page[5] = flags;
		page.writeBigInt64LE(BigInt(granule), 6);
		page.writeUInt32LE(serial, 14);
		page.writeUInt32LE(pages.length, 18);
		page[26] = sizes.length;
		page.writeUInt32LE(crc(page), 22);
		pages.push(page);
	};
	add(2, 0, [head.length], head);
	add(0, 0, [tags.length], tags);
	for (let from = 0; from < packets.length; from += perPage) {
		const part = packets.slice(from, from + perPage);
		const sizes = part.flatMap(({ length }) => [
			...Array(Math.floor(length / 255)).fill(255),
			length % 255,
		]);
		const isLast = from + perPage >= packets.length;
		const granule = origin + (from + part.length) * 960 - (isLast ? trim : 0);
		const body = Buffer.concat(part);
		const flags = isLast ? 4 : 0;
		if (sizes[0] === 255 && sizes.length > 1) {
			// Its first packet begins on a page of its own, which none ends on.
			add(0, -1, [255], body.subarray(0, 255));
			add(flags | 1, granule, sizes.slice(1), body.subarray(255));
		} else {
			add(flags, granule, sizes, body);
		}
	}
	return Buffer.concat(pages);
}
