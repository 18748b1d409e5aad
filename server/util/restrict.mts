import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Lets only the owner of a file read it. Does nothing if there is no such file, or its rights can't be changed. */
export function restrict(path: string): void {
	try {
		chmodSync(path, 0o600);
	} catch {
		// Another user's file, or a file system without rights.
	}
}

/** Writes a file that only its owner can read: all of it or, such as on a full disk, nothing. */
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
