import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another program holds a lock. The message says what to do. */
export class LockedError extends Error {}

const RETRY_MS = 20;
const MAX_WAIT_MS = 60_000;
const SQLITE_BUSY = 5;
const SQLITE_NOT_A_DATABASE = 26;

/** A lock that is held until it is released or the process ends. */
export interface HeldLock {
	release: () => void;
}

/** The file of a lock. It remains after the release. */
export const lockPath = (folder: string, name: string): string =>
	join(folder, `.lifelog-${name}.lock`);

/**
 * Takes a lock on an archive; undefined if another holder has it. The lock is SQLite's, on the file
 * `.lifelog-<name>.lock`. The operating system releases it with the process, so a lock is never stale.
 *
 * @param folder The folder of the archive, which must be writable.
 * @throws Error with `code` EACCES if another user owns the file.
 */
export function tryLock(folder: string, name: string): HeldLock | undefined {
	const path = lockPath(folder, name);
	// SQLite would open it read-only, and let several processes in.
	if (existsSync(path)) accessSync(path, constants.W_OK);
	const database = new DatabaseSync(path);
	try {
		database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
	} catch (error) {
		database.close();
		const code = Number((error as { errcode?: number }).errcode) & 0xff;
		if (code === SQLITE_BUSY) return undefined;
		if (code === SQLITE_NOT_A_DATABASE) throw new LockedError(`${path} is not a lock. Remove it`);
		throw error;
	}
	return { release: () => database.isOpen && database.close() };
}

/**
 * Runs `work` while no other program writes to the archive. Keep it short: one write.
 *
 * @throws LockedError if another program has been writing for a minute.
 */
export async function withWriteLock<Result>(
	folder: string,
	work: () => Promise<Result>,
): Promise<Result> {
	const giveUpAt = performance.now() + MAX_WAIT_MS;
	let lock = tryLock(folder, 'write');
	while (!lock) {
		if (performance.now() > giveUpAt) {
			throw new LockedError('Another program has been writing to this archive for a minute');
		}
		await sleep(RETRY_MS);
		lock = tryLock(folder, 'write');
	}
	try {
		return await work();
	} finally {
		lock.release();
	}
}
