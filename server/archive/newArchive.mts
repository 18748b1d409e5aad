// Creates the folder of an archive, and removes it again if the run fails.
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockPath } from './lock.mts';

/** Creates the folder if needed; returns whether it is new. */
export async function makeFolder(folder: string): Promise<boolean> {
	return (await mkdir(folder, { recursive: true })) !== undefined;
}

/** Makes it an archive by creating `days/`. The caller holds the run lock. */
export async function makeDays(folder: string): Promise<void> {
	await mkdir(join(folder, 'days'), { recursive: true });
}

/** Removes what a run created in a new folder. The caller holds the run lock. */
export async function removeNew(folder: string): Promise<void> {
	for (const name of ['report.json', 'report.md']) await rm(join(folder, name), { force: true });
	await rmdir(join(folder, 'days')).catch(() => {});
}

/** Removes the locks, and the folder if it is empty. */
export async function removeLocks(folder: string): Promise<void> {
	for (const name of ['run', 'write']) await rm(lockPath(folder, name), { force: true });
	await rmdir(folder).catch(() => {});
}
