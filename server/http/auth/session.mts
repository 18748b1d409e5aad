import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { restrict, writePrivate } from '../../util/restrict.mts';
import { DAY_MS } from '../../util/durations.mts';
import { asError } from '../../util/errors.mts';
import { throwIfFull } from '../../util/failures.mts';

/** How long a session lasts: 30 days. */
export const SESSION_MS = 30 * DAY_MS;
/** Characters of 256 random bits. */
const SECRET_LENGTH = 43;

/**
 * The secret that signs sessions: derived from the key's hash and from the file at `path`, which is
 * made if it's missing or too short. A new key, or a deleted file, ends all sessions.
 *
 * @throws Error that says what to do if the file can neither be read nor made.
 */
export function sessionSecret(keyHash: Buffer, path: string): string {
	try {
		// A disk that was full may have left an empty file, which adds nothing secret.
		if (!existsSync(path) || readFileSync(path).length < SECRET_LENGTH) {
			writePrivate(path, `${randomBytes(32).toString('base64url')}\n`);
		}
		restrict(path);
		return createHmac('sha256', readFileSync(path)).update(keyHash).digest('base64url');
	} catch (error) {
		throwIfFull(asError(error));
		throw new Error(
			`${path} can't be written or read (${asError(error).message}): choose a folder for the index that can be written, with --index`,
			{ cause: error },
		);
	}
}
