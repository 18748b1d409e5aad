// Opens the target folder of an export, and manages the export's own files in it.
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Folder, isWithin } from '../archive/folder.mts';
import { type HeldLock, tryLock } from '../archive/lock.mts';
import { CannotStart } from '../util/commandLine.mts';
import { onWindowsAgain } from '../util/onWindowsAgain.mts';

/** The export's own folder. Obsidian and most others hide it. */
const OWN = '.lifelog-export';
export const STATE = `${OWN}/files.json`;
export const DRAFTS = `${OWN}/drafts`;

/**
 * Creates a folder if needed, and locks out other exports.
 *
 * @returns Its real path.
 * @throws CannotStart if the folder isn't writable or mustn't be used.
 */
export async function enter(
	path: string,
	archive: Folder,
): Promise<{ root: string; lock: HeldLock }> {
	const root = await realPathOf(resolve(path));
	if (archive.holds(root) || isWithin(root, archive.root)) {
		throw new CannotStart(
			`${path} is the archive's folder, inside of it or around it. Export to another folder`,
		);
	}
	await mkdir(root, { recursive: true });
	const own = join(root, OWN);
	await mkdir(own).catch(unlessThere);
	if (!(await lstat(own)).isDirectory()) {
		throw new CannotStart(`${own} isn't a folder. Move it away`);
	}
	const lock = tryLock(own, 'run');
	if (!lock) {
		throw new CannotStart(`Another export is writing to ${path}. Export again when it has ended`);
	}
	return { root, lock };
}

/** The real path of an existing or a new folder. */
async function realPathOf(path: string): Promise<string> {
	const real = await realpath(path).catch(unlessMissing);
	if (real !== undefined || dirname(path) === path) return real ?? path;
	return join(await realPathOf(dirname(path)), basename(path));
}

/** Removes the drafts of a killed export. */
export async function clearDrafts(root: string): Promise<void> {
	const drafts = join(root, DRAFTS);
	await onWindowsAgain(() => rm(drafts, { recursive: true, force: true }));
	await mkdir(drafts);
}

function unlessThere(error: NodeJS.ErrnoException): void {
	if (error.code !== 'EEXIST') throw error;
}

export function unlessMissing(error: NodeJS.ErrnoException): undefined {
	if (!['ENOENT', 'ENOTDIR'].includes(error.code ?? '')) throw error;
}
