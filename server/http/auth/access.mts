// Who may use the server: keys, and the sessions of browsers.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DAY_MS } from '../../util/durations.mts';
import { ApiError } from '../../util/errors.mts';
import { keySource } from '../../util/keySource.mts';
import { writePrivate } from '../../util/restrict.mts';
import {
	FIRST,
	firstKey,
	type AccessFile,
	type StoredKey,
	type StoredSession,
} from './accessFile.mts';
import { hashOf, KEY_VARIABLE } from './key.mts';
import { useLink } from './link.mts';

/** Who sent a request. */
export interface Visitor {
	/** Whether the key, or that of the session, may change anything. */
	canChange: boolean;
	/** Whether it's a session that began with a link: only these make and remove keys. */
	isOwner: boolean;
	/** The ID of the session; missing for a key. */
	session?: string;
}

/** How long a session lasts: 30 days. */
export const SESSION_MS = 30 * DAY_MS;
/** How often the time of the last use is written. */
const WRITE_USE_MS = 3_600_000;

/** Keys and sessions, kept in memory and in a file beside the index, with hashes instead of keys. */
export class Access {
	/** Signs the cookies of sessions. */
	readonly secret: string;
	readonly #index: string;
	readonly #file: AccessFile;
	readonly #given: StoredKey | undefined;
	#writtenAt = 0;

	/**
	 * @param index The file of the index.
	 * @param file What `readAccessFile` read.
	 * @param given The key that the owner gave; it takes the place of that of the first start.
	 */
	constructor(index: string, file: AccessFile, given: string | undefined, secret: string) {
		this.secret = secret;
		this.#index = index;
		this.#file = file;
		this.#given = given === undefined ? undefined : givenKey(given, secret);
	}

	/** The path of the file with hashes of keys. */
	static fileOf = (index: string) => `${index}.key`;

	/** The keys that are accepted. */
	get keys(): readonly StoredKey[] {
		if (!this.#given) return this.#file.keys;
		return [this.#given, ...this.#file.keys.filter(({ id }) => id !== FIRST)];
	}

	/** The sessions that are valid. */
	get sessions(): readonly StoredSession[] {
		const keys = new Set(this.keys.map(({ id }) => id));
		return this.#file.sessions.filter(
			({ startedAt, key }) =>
				startedAt + SESSION_MS > Date.now() && (key === null || keys.has(key)),
		);
	}

	isGiven(id: string): boolean {
		return id === this.#given?.id;
	}

	/** Who has a key; undefined for one that isn't accepted. */
	visitorOfKey(key: string): Visitor | undefined {
		const found = this.#find(key);
		if (!found) return undefined;
		this.#use(found);
		return { canChange: !found.isReadOnly, isOwner: false };
	}

	/** Whose session it is; undefined for one that has ended. */
	visitorOfSession(id: string): Visitor | undefined {
		const session = this.sessions.find((each) => each.id === id);
		if (!session) return undefined;
		this.#use(session);
		const key = this.keys.find((each) => each.id === session.key);
		return { canChange: !key?.isReadOnly, isOwner: session.key === null, session: id };
	}

	/**
	 * Begins a session with a key or a link, and returns its ID; undefined for one that isn't good.
	 *
	 * @param before The session that the browser had until now, which ends then.
	 */
	signIn({ key, link }: { key?: string; link?: string }, before?: string): string | undefined {
		const from = key === undefined ? null : this.#find(key)?.id;
		if (from === undefined) return undefined;
		const now = Date.now();
		if (from === null && !useLink(this.#index, link ?? '', now)) return undefined;
		const id = randomId();
		const others = this.#file.sessions.filter((each) => each.id !== before);
		this.#file.sessions = [...others, { id, key: from, startedAt: now, usedAt: now }];
		// On a full disk it lasts until the server is stopped.
		this.#tryWrite();
		return id;
	}

	/** Makes a key. It can't be read again. */
	makeKey(name: string, isReadOnly: boolean): { id: string; key: string } {
		const { key, hash } = newKey();
		const id = randomId();
		const more = { createdAt: Date.now(), usedAt: null };
		this.#add({ ...{ id, name, hash, isReadOnly }, ...more });
		return { id, key };
	}

	/** Makes a first key, unless one exists. */
	makeFirstKey(): string | undefined {
		if (this.keys.length > 0) return undefined;
		const { key, hash } = newKey();
		this.#add(firstKey(hash, Date.now()));
		return key;
	}

	/**
	 * Removes a key and ends its sessions.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 for the key that the owner gave.
	 */
	removeKey(id: string): void {
		if (this.isGiven(id)) {
			const what = `This key is the one in ${keySource(KEY_VARIABLE)}`;
			throw new ApiError(409, `${what}. Change it there, and start the server again`);
		}
		if (!this.keys.some((each) => each.id === id)) throw new ApiError(404, 'Key not found');
		this.#file.keys = this.#file.keys.filter((each) => each.id !== id);
		this.#file.sessions = this.#file.sessions.filter(({ key }) => key !== id);
		this.#write();
	}

	/** Ends a session, or all of them. */
	endSessions(id?: string): void {
		this.#file.sessions = this.#file.sessions.filter((each) => id !== undefined && each.id !== id);
		this.#write();
	}

	/** Keeps where links lead, for `lifelog-server link`. */
	setAddress(address: string): void {
		this.#file.address = address;
		this.#write();
	}

	/** Keeps when keys and sessions were used last. */
	close(): void {
		if (this.#writtenAt > 0) this.#tryWrite();
	}

	#find(key: string): StoredKey | undefined {
		const hash = hashOf(key);
		return this.keys.find((each) => timingSafeEqual(Buffer.from(each.hash, 'hex'), hash));
	}

	#use(used: StoredKey | StoredSession): void {
		used.usedAt = Date.now();
		if (used.usedAt - this.#writtenAt > WRITE_USE_MS) this.#tryWrite();
	}

	#add(key: StoredKey): void {
		this.#file.keys.push(key);
		try {
			this.#write();
		} catch (error) {
			this.#file.keys.pop();
			throw error;
		}
	}

	#write(): void {
		// Also if it fails: a full disk isn't tried at every request.
		this.#writtenAt = Date.now();
		this.#file.sessions = [...this.sessions];
		writePrivate(Access.fileOf(this.#index), `${JSON.stringify(this.#file, null, '\t')}\n`);
	}

	#tryWrite(): void {
		// If its drive was removed, nothing is written to the mount point.
		if (!existsSync(Access.fileOf(this.#index))) return;
		try {
			this.#write();
		} catch {
			// What is lost is only a time, or a session at the next start.
		}
	}
}

const randomId = () => randomBytes(12).toString('base64url');

function newKey(): { key: string; hash: string } {
	const key = randomBytes(32).toString('base64url');
	return { key, hash: hashOf(key).toString('hex') };
}

/** The key that the owner gave. Its ID, in the file's sessions, is another one for another key. */
function givenKey(given: string, secret: string): StoredKey {
	const hash = hashOf(given);
	// Not the hash itself, from which a chosen key could be guessed.
	const id = createHmac('sha256', secret).update(hash).digest('base64url').slice(0, 16);
	return {
		...{ id, name: keySource(KEY_VARIABLE), hash: hash.toString('hex') },
		...{ isReadOnly: false, createdAt: null, usedAt: null },
	};
}
