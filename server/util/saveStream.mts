import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** What was saved. */
export interface Saved {
	bytes: number;
	/** 64 lowercase hexadecimal digits. */
	sha256: string;
}

/**
 * Saves a stream as a new file, flushed to the disk, and counts and hashes it on the way.
 *
 * @throws What the source or the disk fails with; nothing of the file is left then.
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
			// On a full disk, what is written of it would take the rest.
			await rm(path, { force: true }).catch(() => {});
			throw error;
		} finally {
			await file.close();
		}
	};
	await pipeline(source, save);
	return { bytes, sha256: hash.digest('hex') };
}
