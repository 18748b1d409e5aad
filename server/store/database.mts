import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Says of a file of SQLite whose it is: "life" in ASCII. */
const applicationId = 0x6c696665;
/** Raised with each change of the tables, and of what stands in them: an index of another version is built anew. */
const version = 3;
const sqliteFile = Buffer.from('SQLite format 3\0');

/** What keeps an index from being used; its message says what to do. */
class IndexError extends Error {}

/**
 * Opens the index at `path`, or a new one where there is none, or one of another version or a
 * broken one. Throws an IndexError for a file that is no index, and one that is in use.
 */
export function openIndex(path: string): DatabaseSync {
	try {
		if (existsSync(path) && !isDatabase(path)) {
			throw new IndexError(
				`${path} is no index of lifelog-server: choose another file with --index`,
			);
		}
		return open(path);
	} catch (error) {
		if (!(error instanceof StaleIndex)) throw explain(error, path);
	}
	removeIndex(path);
	try {
		return open(path);
	} catch (error) {
		throw explain(error, path);
	}
}

/** Removes the index at `path`, which is in no use. */
export function removeIndex(path: string): void {
	for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

class StaleIndex extends Error {}

function open(path: string): DatabaseSync {
	// All that was said stands in it; SQLite would let everybody read it, in its log too.
	closeSync(openSync(path, 'a', 0o600));
	const db = new DatabaseSync(path);
	let owner: unknown;
	try {
		// One server to an index: the first to write to it keeps it.
		db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 1000');
		owner = pragma(db, 'application_id');
		const isNew = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!.n) === 0;
		if (!isNew && owner !== applicationId) {
			throw ofAnother(path);
		}
		if (!isNew && pragma(db, 'user_version') !== version) throw new StaleIndex();
		db.exec(`
			PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;
			PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};
			BEGIN IMMEDIATE; COMMIT;
		`);
		return db;
	} catch (error) {
		db.close();
		if (!isBroken(error)) throw error;
		// What is too broken to say whose it is, is where an index is to be.
		throw owner === undefined || owner === applicationId ? new StaleIndex() : ofAnother(path);
	}
}

const ofAnother = (path: string) =>
	new IndexError(`${path} is a database of another program: choose another file with --index`);

function pragma(db: DatabaseSync, name: string): unknown {
	return db.prepare(`PRAGMA ${name}`).get()![name];
}

function isDatabase(path: string): boolean {
	const file = openSync(path, 'r');
	try {
		const start = Buffer.alloc(sqliteFile.length);
		const length = readSync(file, start, 0, start.length, 0);
		return length === 0 || start.equals(sqliteFile);
	} finally {
		closeSync(file);
	}
}

// The primary result codes of SQLite.
const codes = { busy: 5, corrupt: 11, notADatabase: 26 };
const codeOf = (error: unknown) => Number((error as { errcode?: number }).errcode) & 0xff;

/** Whether an error says that the file of an index is broken. */
export function isBroken(error: unknown): boolean {
	return codeOf(error) === codes.corrupt || codeOf(error) === codes.notADatabase;
}

function explain(error: unknown, path: string): Error {
	if (error instanceof IndexError) return error;
	if (codeOf(error) === codes.busy) {
		return new IndexError(
			`${path} is in use by another lifelog-server: stop it, or give one of them its own --index`,
		);
	}
	return new IndexError(
		`The index ${path} cannot be opened or written (${(error as Error).message}): choose a file that can be with --index`,
	);
}
