import { createHash } from 'node:crypto';
import { KeyError, keySource } from '../../util/keySource.mts';

/** Variable with the owner's key. */
export const KEY_VARIABLE = 'LIFELOG_SERVER_KEY';

/** With a shorter key, a server only serves its own machine. */
export const SAFE_LENGTH = 32;

/** SHA-256 of a key or a link. A fast hash is sufficient: 256 random bits can't be guessed. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Checks the owner's key. @throws KeyError if it is invalid in a header. */
export function checkGivenKey(given: string): void {
	const source = keySource(KEY_VARIABLE);
	if (given === '') {
		throw new KeyError(`The key in ${source} is empty. Set one, or remove the variable`);
	}
	if (!/^[\x21-\x7e]+$/.test(given)) {
		throw new KeyError(
			`The key in ${source} must contain only ASCII letters, digits and signs, without blanks, because it is sent in a header`,
		);
	}
}
