// Controls access: keys, and sessions of browsers.
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

/** The sender of a request. */
export interface Visitor {
	/** Whether the key, or the key of the session, allows changes. */
	canChange: boolean;
	/** Whether it is a session that started with a link. Only these can create and delete keys. */
	isOwner: boolean;
	/** ID of the session; missing for a key. */
	session?: string;
}

export const SESSION_MS = 30 * DAY_MS;
/** Interval for saving the time of the last use. */
const WRITE_USE_MS = 3_600_000;

/** Keys and sessions, in memory and in a file beside the index. The file contains only hashes of keys. */
export class Access {
	/** Signs the cookies of sessions. */
	readonly secret: string;
	readonly #index: string;
	readonly #file: AccessFile;
	readonly #given: StoredKey | undefined;
	#writtenAt = 0;

	/**
	 * @param index The file of the index.
	 * @param file Result of `readAccessFile`.
	 * @param given The key in the owner's variable; replaces the key of the first start.
	 */
	constructor(index: string, file: AccessFile, given: string | undefined, secret: string) {
		this.secret = secret;
		this.#index = index;
		this.#file = file;
		this.#given = given === undefined ? undefined : givenKey(given, secret);
	}

	/** Path of the file with hashes of keys. */
	static fileOf = (index: string) => `${index}.key`;

	/** Accepted keys. */
	get keys(): readonly StoredKey[] {
		if (!this.#given) return this.#file.keys;
		return [this.#given, ...this.#file.keys.filter(({ id }) => id !== FIRST)];
	}

	/** Valid sessions. */
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

	/** The owner of a key; undefined if it isn't accepted. */
	visitorOfKey(key: string): Visitor | undefined {
		const found = this.#find(key);
		if (!found) return undefined;
		this.#use(found);
		return { canChange: !found.isReadOnly, isOwner: false };
	}

	/** The owner of a session; undefined if it has ended. */
	visitorOfSession(id: string): Visitor | undefined {
		const session = this.sessions.find((each) => each.id === id);
		if (!session) return undefined;
		this.#use(session);
		const key = this.keys.find((each) => each.id === session.key);
		return { canChange: !key?.isReadOnly, isOwner: session.key === null, session: id };
	}

	/**
	 * Starts a session with a key or a link; returns its ID, or undefined if it isn't valid.
	 *
	 * @param before The browser's previous session, which ends.
	 */
	signIn({ key, link }: { key?: string; link?: string }, before?: string): string | undefined {
		const from = key === undefined ? null : this.#find(key)?.id;
		if (from === undefined) return undefined;
		const now = Date.now();
		if (from === null && !useLink(this.#index, link ?? '', now)) return undefined;
		const id = randomId();
		const others = this.#file.sessions.filter((each) => each.id !== before);
		this.#file.sessions = [...others, { id, key: from, startedAt: now, usedAt: now }];
		// If the disk is full, the session lasts until the server stops.
		this.#tryWrite();
		return id;
	}

	/** Creates a key. It can't be read again. */
	makeKey(name: string, isReadOnly: boolean): { id: string; key: string } {
		const { key, hash } = newKey();
		const id = randomId();
		const more = { createdAt: Date.now(), usedAt: null };
		this.#add({ ...{ id, name, hash, isReadOnly }, ...more });
		return { id, key };
	}

	/** Creates the first key, unless one exists. */
	makeFirstKey(): string | undefined {
		if (this.keys.length > 0) return undefined;
		const { key, hash } = newKey();
		this.#add(firstKey(hash, Date.now()));
		return key;
	}

	/**
	 * Deletes a key and ends its sessions.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 for the key in the owner's variable.
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

	endSessions(id?: string): void {
		this.#file.sessions = this.#file.sessions.filter((each) => id !== undefined && each.id !== id);
		this.#write();
	}

	/** Saves the address of links, for `lifelog-server link`. */
	setAddress(address: string): void {
		this.#file.address = address;
		this.#write();
	}

	/** Saves the last use of keys and sessions. */
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
		// Also after a failure, to avoid writing to a full disk with each request.
		this.#writtenAt = Date.now();
		this.#file.sessions = [...this.sessions];
		writePrivate(Access.fileOf(this.#index), `${JSON.stringify(this.#file, null, '\t')}\n`);
	}

	#tryWrite(): void {
		// If the drive was removed, write nothing to its mount point.
		if (!existsSync(Access.fileOf(this.#index))) return;
		try {
			this.#write();
		} catch {
			// Only times are lost, or a session at the next start.
		}
	}
}

const randomId = () => randomBytes(12).toString('base64url');

function newKey(): { key: string; hash: string } {
	const key = randomBytes(32).toString('base64url');
	return { key, hash: hashOf(key).toString('hex') };
}

/** The key in the owner's variable. Its ID in sessions changes with the key. */
function givenKey(given: string, secret: string): StoredKey {
	const hash = hashOf(given);
	// Not the hash itself, which would allow guessing a weak key.
	const id = createHmac('sha256', secret).update(hash).digest('base64url').slice(0, 16);
	return {
		...{ id, name: keySource(KEY_VARIABLE), hash: hash.toString('hex') },
		...{ isReadOnly: false, createdAt: null, usedAt: null },
	};
}
