// The folder of an archive that is made, and taken back if nothing comes of it.
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockPath } from './lock.mts';

/** Makes the folder if needed; returns whether there was none. */
export async function makeFolder(folder: string): Promise<boolean> {
	return (await mkdir(folder, { recursive: true })) !== undefined;
}

/** Makes it an archive, which has a folder of days. The caller holds the run lock. */
export async function makeDays(folder: string): Promise<void> {
	await mkdir(join(folder, 'days'), { recursive: true });
}

/** Removes what a run made in a new folder. The caller holds the run lock. */
export async function removeNew(folder: string): Promise<void> {
	for (const name of ['report.json', 'report.md']) await rm(join(folder, name), { force: true });
	await rmdir(join(folder, 'days')).catch(() => {});
}

/** Removes the locks, and the folder if nothing else is in it. */
export async function removeLocks(folder: string): Promise<void> {
	for (const name of ['run', 'write']) await rm(lockPath(folder, name), { force: true });
	await rmdir(folder).catch(() => {});
}
