import { crc32 } from 'node:zlib';
import * as yauzl from 'yauzl';
import { ExportError, pathProblem, withinExport, type Export } from './export.mts';
import type { ExportFile, Refused } from './export.mts';

/** Maximum ratio of uncompressed to compressed size. Transcripts have about 4. */
const MAX_RATIO = 100;
const SMALL_BYTES = 1024 * 1024;
/** Size of a file's header, without its name. */
const HEADER_BYTES = 30;

/** An export as a zip of any size. Rejects if it isn't a zip. */
export async function openZip(path: string): Promise<Export> {
	// Names are decoded below: an invalid one would end the list otherwise.
	const zip = await yauzl.openPromise(path, { autoClose: false, decodeStrings: false });
	return { list: () => listZip(zip), close: () => zip.close() };
}

async function* listZip(zip: yauzl.ZipFile): AsyncGenerator<ExportFile | Refused> {
	try {
		for await (const entry of zip.eachEntry()) {
			const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
			const path = yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
			const problem = pathProblem(path);
			const inside = problem === undefined ? withinExport(path) : path;
			if (inside === undefined || inside.endsWith('/')) continue;
			const unfit = problem ?? entryProblem(entry);
			yield unfit === undefined ? new FileInZip(zip, inside, entry) : { path, problem: unfit };
		}
	} catch (error) {
		throw new ExportError(
			`The zip cannot be read: ${(error as Error).message}. Nothing was imported. Download the export again, from the service's app`,
		);
	}
}

function entryProblem(entry: yauzl.Entry): string | undefined {
	if (entry.isEncrypted()) return 'is encrypted';
	if (!entry.canDecodeFileData())
		return `uses an unsupported compression method (${entry.compressionMethod})`;
	if (entry.uncompressedSize > SMALL_BYTES + MAX_RATIO * entry.compressedSize)
		return `unpacks to more than ${MAX_RATIO} times its size in the zip`;
	// A zip made on Unix also has the file's type; 0 is a plain file.
	const isOfUnix = entry.versionMadeBy >> 8 === 3;
	const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
	return isOfUnix && kind !== 0 && kind !== 0o100000
		? "is a link, or isn't a plain file"
		: undefined;
}

type Place = Pick<
	yauzl.Entry,
	| 'relativeOffsetOfLocalHeader'
	| 'compressedSize'
	| 'uncompressedSize'
	| 'compressionMethod'
	| 'generalPurposeBitFlag'
	| 'crc32'
> & { headerBytes: number };

/** Only the data needed to find the file: there may be a hundred thousand. */
class FileInZip implements ExportFile {
	readonly path: string;
	readonly bytes: number;
	readonly #zip: yauzl.ZipFile;
	readonly #place: Place;

	constructor(zip: yauzl.ZipFile, path: string, entry: yauzl.Entry) {
		this.#zip = zip;
		this.path = path;
		this.bytes = entry.uncompressedSize;
		this.#place = {
			relativeOffsetOfLocalHeader: entry.relativeOffsetOfLocalHeader,
			compressedSize: entry.compressedSize,
			uncompressedSize: entry.uncompressedSize,
			compressionMethod: entry.compressionMethod,
			generalPurposeBitFlag: entry.generalPurposeBitFlag,
			crc32: entry.crc32,
			headerBytes: HEADER_BYTES + entry.fileNameLength,
		};
	}

	get inZip(): { start: number; end: number } {
		const { relativeOffsetOfLocalHeader: start, compressedSize } = this.#place;
		return { start, end: start + this.#place.headerBytes + compressedSize };
	}

	async *read(): AsyncGenerator<Buffer> {
		let crc = 0;
		try {
			const entry = Object.assign(new yauzl.Entry(), this.#place);
			const stream: AsyncIterable<Buffer> = await this.#zip.openReadStreamPromise(entry);
			for await (const piece of stream) {
				crc = crc32(piece, crc);
				yield piece;
			}
		} catch (error) {
			throw new ExportError(`cannot be unpacked: ${(error as Error).message}`);
		}
		if (crc !== this.#place.crc32)
			throw new ExportError('has a different checksum than the zip says');
	}
}
