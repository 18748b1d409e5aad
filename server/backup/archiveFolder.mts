// Opens and locks the folder of an archive for a run.
import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DRAFTS } from '../archive/layout.mts';
import { type HeldLock, lockPath, tryLock } from '../archive/lock.mts';
import { makeDays, makeFolder, removeLocks, removeNew } from '../archive/newArchive.mts';
import { otherRunSince } from '../archive/otherRun.mts';
import { CannotStart, commandName } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';
import { mayBeArchive } from './run.mts';

export interface OpenedFolder {
	folder: string;
	/** Whether the folder didn't exist before. */
	isNew: boolean;
	/** Whether the service has answered since. */
	hasBegun: boolean;
}

/** Creates the folder if needed, and checks that everything in it is writable. */
export async function openFolder(folder: string): Promise<OpenedFolder> {
	const isNew = await makeFolder(folder);
	if (!(await mayBeArchive(folder))) {
		throw new CannotStart(
			`${folder} has files in it and is not an archive. Choose an empty folder, or a new one. If it is the app's export, convert it: ${commandName} import "${folder}" <folder of the archive>`,
		);
	}
	await requireWritable(folder);
	return { folder, isNew, hasBegun: false };
}

/**
 * Runs `work` while no other run writes to the archive. Removes a new folder again if the service
 * never answers.
 */
export async function runAlone<Result>(
	opened: OpenedFolder,
	service: { hasAnswered: boolean },
	force: boolean,
	run: () => Promise<Result>,
): Promise<Result> {
	const lock = await lockForRun(opened, force);
	try {
		return await run();
	} finally {
		opened.hasBegun ||= service.hasAnswered;
		const isUnused = opened.isNew && !opened.hasBegun;
		if (isUnused) await removeNew(opened.folder);
		lock.release();
		if (isUnused) await removeLocks(opened.folder);
	}
}

/** Takes the run lock. Rejects if another run holds it. */
async function lockForRun({ folder, hasBegun }: OpenedFolder, force: boolean): Promise<HeldLock> {
	// If the disk was removed since the last run, only its mount point exists.
	if (hasBegun) await access(join(folder, 'days'));
	const lock = tryLock(folder, 'run');
	if (!lock) {
		throw new CannotStart(
			'Another run is writing to this archive (archive or import). Wait until it has ended',
		);
	}
	const since = force ? undefined : await otherRunSince(folder);
	if (since !== undefined) {
		lock.release();
		throw new CannotStart(
			`Full archive in n8n has been writing to this archive since ${since}. Wait until it has ended. If it was stopped, start with --force`,
		);
	}
	await makeDays(folder);
	return lock;
}

/** Rejects if a folder of the archive isn't writable, for example another user's. */
async function requireWritable(folder: string): Promise<void> {
	const levels = { days: 1, lifelogs: 4, chats: 4, audio: 5, [DRAFTS]: 2 };
	const { W_OK, X_OK } = constants;
	const { dev } = await stat(folder);
	const check = async (path: string, depth: number, mode = W_OK | X_OK): Promise<void> => {
		const found = await stat(path).catch(() => undefined);
		if (found && found.dev !== dev) {
			throw new CannotStart(
				`${path} is on another disk than the archive, so files can't be moved there. Put all of it on one disk`,
			);
		}
		await access(path, mode).catch((error: unknown) => {
			const { code } = asError(error);
			if (code === 'ENOENT') return;
			if (code === 'EROFS') throw error;
			const user = process.getuid?.();
			const [who, how] =
				user === undefined
					? ['you', 'Change the permissions of the folder']
					: [`user ${user}, who runs this`, `Run sudo chown -R ${user} "${folder}"`];
			throw new CannotStart(`${path} can't be written by ${who} (${code}). ${how}`);
		});
		if (depth === 0) return;
		const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			if (entry.isDirectory()) await check(join(path, entry.name), depth - 1);
		}
	};
	await check(folder, 0);
	for (const name of ['run', 'write']) await check(lockPath(folder, name), 0, W_OK);
	for (const [name, depth] of Object.entries(levels)) await check(join(folder, name), depth - 1);
}
