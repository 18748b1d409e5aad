// How an export enters a folder, and what it keeps in it.
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Folder, isWithin } from '../archive/folder.mts';
import { type HeldLock, tryLock } from '../archive/lock.mts';
import { CannotStart } from '../util/commandLine.mts';
import { onWindowsAgain } from '../util/onWindowsAgain.mts';

/** The export's own folder in the folder. Obsidian and most others don't show it. */
const OWN = '.lifelog-export';
export const STATE = `${OWN}/files.json`;
export const DRAFTS = `${OWN}/drafts`;

/**
 * Makes a folder, if it isn't there, and keeps other exports out of it.
 *
 * @returns Its real path.
 * @throws CannotStart for one in which nothing may be written.
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

/** The real path of what is there, or will be. */
async function realPathOf(path: string): Promise<string> {
	const real = await realpath(path).catch(unlessMissing);
	if (real !== undefined || dirname(path) === path) return real ?? path;
	return join(await realPathOf(dirname(path)), basename(path));
}

/** Removes the drafts of an export that was killed. */
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
