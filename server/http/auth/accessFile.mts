import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { KeyError } from '../../util/keySource.mts';
import { restrict } from '../../util/restrict.mts';

const time = z.number();
const key = z.object({
	id: z.string(),
	name: z.string(),
	/** SHA-256, hexadecimal. */
	hash: z.string().regex(/^[0-9a-f]{64}$/),
	isReadOnly: z.boolean(),
	/** Epoch ms; null for a key of an earlier version. */
	createdAt: time.nullable(),
	/** Epoch ms; null if unused. */
	usedAt: time.nullable(),
});
const session = z.object({
	id: z.string(),
	/** ID of the key that started it; null for a link. */
	key: z.string().nullable(),
	startedAt: time,
	usedAt: time,
});
const accessFile = z.object({
	/** Address of this server's links. */
	address: z.string().nullable(),
	keys: z.array(key),
	sessions: z.array(session),
});

export type StoredKey = z.infer<typeof key>;
export type StoredSession = z.infer<typeof session>;
export type AccessFile = z.infer<typeof accessFile>;

/** ID of the key that a first start creates. */
export const FIRST = 'first';
const FIRST_NAME = 'First start';

export const firstKey = (hash: string, createdAt: number | null): StoredKey => ({
	...{ id: FIRST, name: FIRST_NAME, hash, isReadOnly: false, createdAt, usedAt: null },
});

/**
 * Reads hashes of keys, and sessions. A file with only one hash is of an earlier version.
 *
 * @throws KeyError for a file with other content.
 */
export function readAccessFile(path: string): AccessFile {
	const none: AccessFile = { address: null, keys: [], sessions: [] };
	if (!existsSync(path)) return none;
	restrict(path);
	const text = readFileSync(path, 'utf8').trim();
	// A full disk may have left an empty file.
	if (text === '') return none;
	if (/^[0-9a-f]{64}$/.test(text)) return { ...none, keys: [firstKey(text, null)] };
	const { data } = accessFile.safeParse(parsed(text));
	if (data) return data;
	throw new KeyError(
		`${path} contains no hash of a key: delete it, then make new keys on the page, under Connect`,
	);
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
