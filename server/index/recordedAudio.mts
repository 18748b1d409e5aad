// The audio of one recording, as the archive keeps it.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { asFileError, FileError, ignoreFileError, type Folder } from '../archive/folder.mts';
import { type AudioFile, RECORDINGS } from '../archive/layout.mts';
import type { Span } from '../util/spans.mts';
import type { Rows } from './rows.mts';

/** As much longer or shorter may be what codecs make of a recording. */
const TOLERANCE_MS = 1000;

/**
 * Finds the audio of a recording: the file that begins with it and is as long.
 *
 * @returns undefined if there is none, or if two recordings can't be told apart by their times.
 */
export async function findRecordedAudio(
	folder: Folder,
	rows: Rows,
	{ startMs, endMs }: Span,
): Promise<AudioFile | undefined> {
	const offBy = (file: AudioFile) => Math.abs(file.endMs - endMs);
	const [first, second] = rows
		.audioBetween(startMs, endMs)
		.filter(({ path, startMs: from }) => path.split('/')[1] === RECORDINGS && from === startMs)
		.sort((a, b) => offBy(a) - offBy(b));
	if (!first || offBy(first) > TOLERANCE_MS) return undefined;
	if (second && offBy(second) === offBy(first)) return undefined;
	const bytes = await folder.sizeOf(first.path).catch(ignoreFileError);
	return bytes === first.bytes ? first : undefined;
}

/**
 * Copies audio out of the archive.
 *
 * @throws FileError if it can't be read, or isn't as its day says.
 */
export async function copyAudio(
	folder: Folder,
	{ path, bytes, sha256 }: AudioFile,
	to: string,
	signal?: AbortSignal,
): Promise<void> {
	const file = await folder.open(path);
	const hash = createHash('sha256');
	let size = 0;
	try {
		const pieces = file.createReadStream({ autoClose: false });
		const read = async function* () {
			try {
				for await (const piece of pieces) {
					hash.update(piece);
					size += (piece as Buffer).length;
					yield piece;
				}
			} catch (error) {
				throw asFileError(error);
			}
		};
		await pipeline(read, createWriteStream(to), { signal });
	} finally {
		await file.close();
	}
	if (size !== bytes || hash.digest('hex') !== sha256) {
		throw new FileError("isn't as its day manifest says");
	}
}
