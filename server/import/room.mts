import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Folder } from '../archive/folder.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import { ExportError, type ExportFile } from './export.mts';

/** Minimum free disk space after an import, in bytes. */
const RESERVE_BYTES = 1e9;

/** The disk is full, which ends an import. */
class NoRoomError extends Error {}

/**
 * Rejects an export that can't fit on the disk, even if the archive already had as much of it as
 * possible.
 *
 * @param to The folder of the archive, which may not exist yet.
 * @throws ExportError with the required space.
 */
export async function refuseTooLarge(files: ExportFile[], to: string): Promise<void> {
	const bytes = sumOf(files);
	const free = await freeOn(to);
	if (bytes + RESERVE_BYTES <= free) return;
	const archive = await Folder.open(to).catch(() => undefined);
	if (bytes + RESERVE_BYTES <= free + (archive ? await bytesOf(archive) : 0)) return;
	throw new ExportError(
		`The export has ${inGb(bytes)} of files, and the disk of the archive has ${inGb(free)} free, of which 1 GB must stay free. Nothing was imported. Make room, or choose another disk`,
	);
}

/** Checks that a file fits on the archive's disk. @throws NoRoomError if less than 1 GB would be free. */
export async function demandRoom(folder: string, bytes: number): Promise<void> {
	if (bytes + RESERVE_BYTES <= (await freeOn(folder))) return;
	throw new NoRoomError(
		'The disk of the archive is almost full: 1 GB must stay free. The archive is intact. Make room, then import again: the import continues from there',
	);
}

/** Bytes that may be written to the archive's disk. */
export const roomIn = async (folder: string): Promise<number> =>
	Math.max(0, (await freeOn(folder)) - RESERVE_BYTES);

/** Free bytes on the disk of a folder, which may not exist yet. */
async function freeOn(path: string): Promise<number> {
	try {
		const { bavail, bsize } = await statfs(path);
		return bavail * bsize;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== 'ENOENT' || dirname(path) === path) throw error;
		return await freeOn(dirname(resolve(path)));
	}
}

/** Total bytes of the files that an archive's days name. */
async function bytesOf(archive: Folder): Promise<number> {
	let bytes = 0;
	for (const [day, names] of await manifestNames(archive)) {
		const { newest } = await readManifests(archive, day, names);
		if (!newest) continue;
		const { lifelogs, chats, audio } = newest;
		const entries = [...Object.values(lifelogs), ...Object.values(chats)];
		bytes += sumOf([...audio, ...entries.flatMap(({ files }) => files)]);
	}
	return bytes;
}

const sumOf = (files: { bytes: number }[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);

const inGb = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
