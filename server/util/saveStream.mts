import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

export interface Saved {
	bytes: number;
	/** 64 lowercase hexadecimal digits. */
	sha256: string;
}

/**
 * Saves a stream as a new file, flushed to the disk, with its size and hash.
 *
 * @throws Errors of the source or the disk. The partial file is removed then.
 */
export async function saveStream(
	path: string,
	source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Saved> {
	const hash = createHash('sha256');
	let bytes = 0;
	const save = async (pieces: AsyncIterable<Uint8Array>) => {
		const file = await open(path, 'wx');
		try {
			for await (const piece of pieces) {
				hash.update(piece);
				bytes += piece.length;
				await file.appendFile(piece);
			}
			await file.sync();
		} catch (error) {
			// On a full disk, the partial file would take the remaining space.
			await rm(path, { force: true }).catch(() => {});
			throw error;
		} finally {
			await file.close();
		}
	};
	await pipeline(source, save);
	return { bytes, sha256: hash.digest('hex') };
}
