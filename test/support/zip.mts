import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';

/** A file of a zip to be written. */
export interface ZipFile {
	/** As it stands in the zip, whatever it may be. */
	name: string;
	content?: string | Buffer;
	/** Zeros in place of contents, which take no place on the disk. */
	zeros?: number;
	deflate?: boolean;
	/** Put over what would be said of it. */
	crc?: number;
	flags?: number;
	method?: number;
	/** Unix's kind and rights, e.g. 0o120777 of a link. */
	mode?: number;
	/** Where it begins in the zip, put over where it does. */
	offset?: number;
}

const fieldOfZip64 = 1;
const unix = 3 << 8;

/**
 * Writes a zip in its newest form (zip64), which others write only from 65,536 files or 4 GiB on:
 * with any names, and as large as a disk would not hold.
 */
export function writeZip(path: string, files: Iterable<ZipFile>): void {
	const file = openSync(path, 'w');
	let at = 0;
	const pending: Buffer[] = [];
	let pendingBytes = 0;
	const flush = () => {
		writeSync(file, Buffer.concat(pending.splice(0)), 0, null, at - pendingBytes);
		pendingBytes = 0;
	};
	const write = (...pieces: Buffer[]) => {
		for (const piece of pieces) {
			pending.push(piece);
			pendingBytes += piece.length;
			at += piece.length;
		}
		if (pendingBytes > 1 << 20) flush();
	};
	const directory: Buffer[] = [];
	for (const { name, content = '', zeros, deflate, crc, flags = 0x800, method, ...more } of files) {
		const plain = Buffer.from(content);
		const packed = deflate ? deflateRawSync(plain) : plain;
		const about = Buffer.alloc(22);
		about.writeUInt16LE(45, 0);
		about.writeUInt16LE(flags, 2);
		about.writeUInt16LE(method ?? (deflate ? 8 : 0), 4);
		about.writeUInt32LE(crc ?? crc32(plain), 10);
		about.writeUInt32LE(0xffff_ffff, 14);
		about.writeUInt32LE(0xffff_ffff, 18);
		const sizes = numbers(zeros ?? plain.length, zeros ?? packed.length);
		const nameBytes = Buffer.from(name);
		const { mode, offset = at } = more;
		const lengths = (extra: Buffer) => shorts(nameBytes.length, extra.length);
		const local = extraField(sizes);
		write(signature(0x04034b50), about, lengths(local), nameBytes, local, packed);
		if (zeros !== undefined) {
			flush();
			at += zeros;
		}
		const central = extraField(Buffer.concat([sizes, numbers(offset)]));
		const rest = Buffer.alloc(14);
		rest.writeUInt32LE(((mode ?? 0o100644) << 16) >>> 0, 6);
		rest.writeUInt32LE(0xffff_ffff, 10);
		directory.push(
			Buffer.concat([
				...[signature(0x02014b50), shorts(unix | 45), about, lengths(central), rest],
				...[nameBytes, central],
			]),
		);
	}
	const start = at;
	for (const entry of directory) write(entry);
	const end = at;
	const count = directory.length;
	const bytes = end - start;
	write(signature(0x06064b50), numbers(44), shorts(45, 45), Buffer.alloc(8));
	write(numbers(count, count, bytes, start));
	write(signature(0x07064b50), Buffer.alloc(4), numbers(end), Buffer.from([1, 0, 0, 0]));
	write(signature(0x06054b50), Buffer.alloc(4), Buffer.alloc(12, 0xff), Buffer.alloc(2));
	flush();
	ftruncateSync(file, at);
	closeSync(file);
}

function signature(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32LE(value);
	return bytes;
}

function shorts(...values: number[]): Buffer {
	const bytes = Buffer.alloc(2 * values.length);
	for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
	return bytes;
}

function numbers(...values: number[]): Buffer {
	const bytes = Buffer.alloc(8 * values.length);
	for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index);
	return bytes;
}

const extraField = (data: Buffer) => Buffer.concat([shorts(fieldOfZip64, data.length), data]);

/** The files of a zip, by their paths. Text is read as such, anything else as bytes. */
export async function unzip(zip: Buffer): Promise<Record<string, string>> {
	const files: Record<string, string> = {};
	const opened = await fromBufferPromise(zip);
	for await (const entry of opened.eachEntry()) {
		const pieces: Buffer[] = [];
		for await (const piece of await opened.openReadStreamPromise(entry)) pieces.push(piece);
		const encoding = entry.fileName.endsWith('.md') ? 'utf8' : 'latin1';
		files[entry.fileName] = Buffer.concat(pieces).toString(encoding);
	}
	return files;
}
