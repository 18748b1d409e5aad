import { createHash } from 'node:crypto';
import { KeyError, keySource } from '../../util/keySource.mts';

/** The variable with the key that the owner gave. */
export const KEY_VARIABLE = 'LIFELOG_SERVER_KEY';

/** Characters below which a server serves its own machine only. */
export const SAFE_LENGTH = 32;

/** SHA-256 of a key or a link. A fast hash will do: what has 256 random bits can't be guessed from it. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/**
 * Checks the key that the owner gave.
 *
 * @throws KeyError for one that no header can carry.
 */
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
