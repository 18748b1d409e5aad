import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { restrict, writePrivate } from '../../util/restrict.mts';
import { asError } from '../../util/errors.mts';
import { throwIfFull } from '../../util/failures.mts';

/** Length of 256 random bits as text. */
const SECRET_LENGTH = 43;

/**
 * The secret that signs sessions, from the file at `path`. Creates the file if it is missing or too
 * short. Deleting it ends all sessions.
 *
 * @throws Error that says what to do if the file can't be read or created.
 */
export function sessionSecret(path: string): string {
	try {
		// A full disk may have left an empty file, which wouldn't be secret.
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
