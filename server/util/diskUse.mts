import { opendir, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Disk usage of an archive, in bytes. */
export interface DiskUse {
	archive: number;
	index: number;
	/** Free space. */
	free: number;
}

/**
 * Measures a folder, with the index separately. Files that disappear meanwhile aren't counted.
 *
 * @param index The file of the index. Names of its other files start with its name.
 */
export async function diskUse(folder: string, index: string): Promise<DiskUse> {
	const use = { archive: 0, index: 0 };
	for await (const { path, bytes } of filesIn(dirname(index), false)) {
		if (basename(path).startsWith(basename(index))) use.index += bytes;
	}
	for await (const { path, bytes } of filesIn(folder, true)) {
		if (!path.startsWith(index)) use.archive += bytes;
	}
	const { bavail, bsize } = await statfs(folder);
	return { ...use, free: bavail * bsize };
}

async function* filesIn(
	folder: string,
	recursive: boolean,
): AsyncGenerator<{ path: string; bytes: number }> {
	for await (const entry of await opendir(folder, { recursive })) {
		const path = join(entry.parentPath, entry.name);
		if (entry.isFile()) yield { path, bytes: (await stat(path).catch(() => undefined))?.size ?? 0 };
	}
}
