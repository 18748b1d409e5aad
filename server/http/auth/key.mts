import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { KeyError, keySource } from '../../util/keySource.mts';
import { restrict, writePrivate } from '../../util/restrict.mts';

/** The key that a server answers to. */
export interface ServerKey {
	/** The key itself where it is known: given by its owner, or made just now. */
	text?: string;
	/** Whether it was made just now, and is to be told once. */
	isNew: boolean;
	/** SHA-256 of the key. */
	hash: Buffer;
	/** Keeps the hash of a new one; to be called when it is told, as it is not to be had again. */
	keep?: () => void;
	/** Whether a request's key is this one. Takes the same time for every other. */
	accepts: (key: string) => boolean;
}

/** Characters below which a server serves its own machine only. */
export const SAFE_LENGTH = 32;

/**
 * The key given by its owner; without one, that of which the file at `path` keeps the hash; without
 * a file, a new one. Throws a KeyError for a given key that no header can carry, and for a file that
 * holds no hash.
 */
export function loadKey(given: string | undefined, path: string): ServerKey {
	if (given !== undefined) {
		const source = keySource('LIFELOG_SERVER_KEY');
		if (given === '') {
			throw new KeyError(
				`The key in ${source} is empty. Set one, or remove the variable to have one made`,
			);
		}
		if (!/^[\x21-\x7e]+$/.test(given)) {
			throw new KeyError(
				`The key in ${source} must contain only ASCII letters, digits and signs, without blanks, because it is sent in a header`,
			);
		}
		const hash = hashOf(given);
		return { text: given, isNew: false, hash, accepts: isKeyWith(hash) };
	}
	// A disk that was full may have left an empty file.
	if (existsSync(path) && readFileSync(path, 'utf8') !== '') {
		restrict(path);
		const hash = readFileSync(path, 'utf8').trim();
		if (!/^[0-9a-f]{64}$/.test(hash)) {
			throw new KeyError(`${path} contains no hash of a key: delete it to have a new key made`);
		}
		const bytes = Buffer.from(hash, 'hex');
		return { isNew: false, hash: bytes, accepts: isKeyWith(bytes) };
	}
	const text = randomBytes(32).toString('base64url');
	const hash = hashOf(text);
	const keep = () => writePrivate(path, `${hash.toString('hex')}\n`);
	return { text, isNew: true, hash, keep, accepts: isKeyWith(hash) };
}

// A key of 256 random bits cannot be guessed from its hash, so the hash may be a fast one.
const hashOf = (key: string) => createHash('sha256').update(key).digest();
const isKeyWith = (hash: Buffer) => (key: string) => timingSafeEqual(hashOf(key), hash);
