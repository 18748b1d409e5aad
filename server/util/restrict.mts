import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Makes a file readable only by its owner. Does nothing if it doesn't exist, or its permissions
 * can't be changed.
 */
export function restrict(path: string): void {
	try {
		chmodSync(path, 0o600);
	} catch {
		// Another user's file, or a file system without permissions.
	}
}

/** Writes a file that only its owner can read. A failure, such as a full disk, leaves no partial file. */
export function writePrivate(path: string, text: string): void {
	const draft = `${path}.new`;
	try {
		rmSync(draft, { force: true });
		writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
		renameSync(draft, path);
	} catch (error) {
		rmSync(draft, { force: true });
		throw error;
	}
}
