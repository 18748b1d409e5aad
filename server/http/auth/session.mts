import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { restrict, writePrivate } from '../../util/restrict.mts';
import { asError } from '../../util/errors.mts';
import { throwIfFull } from '../../util/failures.mts';

/** Characters of 256 random bits. */
const SECRET_LENGTH = 43;

/**
 * The secret that signs sessions, from the file at `path`, which is made if it's missing or too short.
 * If the file is deleted, all sessions end.
 *
 * @throws Error that says what to do if the file can neither be read nor made.
 */
export function sessionSecret(path: string): string {
	try {
		// A disk that was full may have left an empty file, which has nothing secret.
		if (!existsSync(path) || readFileSync(path).length < SECRET_LENGTH) {
			writePrivate(path, `${randomBytes(32).toString('base64url')}\n`);
		}
		restrict(path);
		return readFileSync(path, 'utf8').trim();
	} catch (error) {
		throwIfFull(asError(error));
		throw new Error(
			`${path} can't be written or read (${asError(error).message}): choose a folder for the index that can be written, with --index`,
			{ cause: error },
		);
	}
}
