import { chmodSync } from 'node:fs';

/** Lets only the owner of a file read it. Does nothing if there is no such file, or its rights can't be changed. */
export function restrict(path: string): void {
	try {
		chmodSync(path, 0o600);
	} catch {
		// Another user's file, or a file system without rights.
	}
}
