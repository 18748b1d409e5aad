import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The key that a server answers to. */
export interface ServerKey {
	/** The key itself where it is known: given by its owner, or made just now. */
	text?: string;
	/** Whether it was made just now, and is to be told once. */
	isNew: boolean;
	/** Keeps the hash of a new one; to be called when it is told, as it is not to be had again. */
	keep?: () => void;
	/** Whether a request's key is this one. Takes the same time for every other. */
	accepts: (key: string) => boolean;
}

/** A key that cannot be used; its message says what to do. */
export class KeyError extends Error {}

/** Characters below which a server serves its own machine only. */
export const safeLength = 32;

/**
 * The key given by its owner; without one, that of which the file at `path` keeps the hash; without
 * a file, a new one. Throws a KeyError for a given key that no header can carry, and for a file that
 * holds no hash.
 */
export function loadKey(given: string | undefined, path: string): ServerKey {
	if (given !== undefined) {
		if (!/^[\x21-\x7e]+$/.test(given)) {
			throw new KeyError(
				'LIFELOG_SERVER_KEY must be letters, digits and signs of ASCII, at least one and no blanks: a header cannot carry others',
			);
		}
		return { text: given, isNew: false, accepts: isKeyWith(hashOf(given)) };
	}
	if (existsSync(path)) {
		const hash = readFileSync(path, 'utf8').trim();
		if (!/^[0-9a-f]{64}$/.test(hash)) {
			throw new KeyError(`${path} holds no hash of a key: delete it to have a new key made`);
		}
		return { isNew: false, accepts: isKeyWith(Buffer.from(hash, 'hex')) };
	}
	const text = randomBytes(32).toString('base64url');
	const hash = hashOf(text);
	const keep = () => writeFileSync(path, `${hash.toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
	return { text, isNew: true, keep, accepts: isKeyWith(hash) };
}

// A key of 256 random bits cannot be guessed from its hash, so the hash may be a fast one.
const hashOf = (key: string) => createHash('sha256').update(key).digest();
const isKeyWith = (hash: Buffer) => (key: string) => timingSafeEqual(hashOf(key), hash);
