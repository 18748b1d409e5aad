import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import {
	DatabaseSync,
	type SQLInputValue,
	type SQLOutputValue,
	type StatementSync,
} from 'node:sqlite';
import { UnavailableError } from '../util/errors.mts';
import { restrict } from '../util/restrict.mts';

/** Marks a SQLite file as ours: "life" in ASCII. */
const APPLICATION_ID = 0x6c696665;
/** Raise this with each change of the tables or their contents. Indexes of other versions are rebuilt. */
const VERSION = 9;
const SQLITE_FILE = Buffer.from('SQLite format 3\0');

/** Files of an index. Vectors are separate because they can cost money. */
export type IndexFile = 'index' | 'vectors';
type Row = Record<string, SQLOutputValue>;

/** Why an index is unusable. The message says what to do. */
class IndexError extends Error {}

/** Retry delay for clients while the index is being rebuilt. */
export const RETRY_AFTER_S = 10;

/** The index is damaged. Clients should retry. */
export class DamagedIndexError extends UnavailableError {
	/** Quotes nothing from the index. */
	readonly reason: string;
	/** The damaged file, if known. */
	readonly file: IndexFile | undefined;

	constructor(reason: string, file?: IndexFile) {
		super(
			`The index of the server is damaged and is being rebuilt: try again in ${RETRY_AFTER_S} seconds`,
			RETRY_AFTER_S,
		);
		this.reason = reason;
		this.file = file;
	}
}

/** A connection to an index. Prepares each statement once, and detects damage. */
export class IndexDatabase {
	readonly #db: DatabaseSync;
	readonly #statements = new Map<string, StatementSync>();
	/** Called for each detected damage. */
	onDamage: (error: DamagedIndexError) => void = () => {};

	constructor(db: DatabaseSync) {
		this.#db = db;
	}

	get isTransaction(): boolean {
		return this.#db.isTransaction;
	}

	exec(sql: string): void {
		this.#watch(() => this.#db.exec(sql));
	}

	all(sql: string, ...values: SQLInputValue[]): Row[] {
		return this.#watch(() => this.#statement(sql).all(...values));
	}

	get(sql: string, ...values: SQLInputValue[]): Row | undefined {
		return this.#watch(() => this.#statement(sql).get(...values));
	}

	/** Runs a statement; returns the number of the inserted row. */
	run(sql: string, ...values: SQLInputValue[]): number {
		return this.#watch(() => Number(this.#statement(sql).run(...values).lastInsertRowid));
	}

	/** Calls `use` with each row until it returns true. */
	each(sql: string, values: SQLInputValue[], use: (row: Row) => boolean | void): void {
		this.#watch(() => {
			for (const row of this.#statement(sql).iterate(...values)) if (use(row)) return;
		});
	}

	/** Parses JSON that the index wrote. */
	parse(json: SQLOutputValue | undefined): unknown {
		try {
			return JSON.parse(String(json));
		} catch {
			// The parser's own message would quote the text.
			return this.fail('a row is unreadable', 'index');
		}
	}

	/** Reports content that is impossible in an intact file. */
	fail(reason: string, file?: IndexFile): never {
		const error = new DamagedIndexError(reason, file);
		this.onDamage(error);
		throw error;
	}

	/** Finds the damaged file, after an error that didn't name it. Takes up to a second. */
	findDamage(): IndexFile {
		try {
			const [row] = this.#db.prepare('PRAGMA meaning.quick_check(1)').all();
			return row.quick_check === 'ok' ? 'index' : 'vectors';
		} catch {
			return 'vectors';
		}
	}

	close(): void {
		this.#statements.clear();
		this.#db.close();
	}

	#statement(sql: string): StatementSync {
		let statement = this.#statements.get(sql);
		if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
		return statement;
	}

	#watch<Result>(work: () => Result): Result {
		try {
			return work();
		} catch (error) {
			// Another request found damage and closed the index.
			if (!this.#db.isOpen) throw new DamagedIndexError('it is closed');
			if (!isDamage(error)) throw error;
			return this.fail(String((error as { errstr?: string }).errstr));
		}
	}
}

/**
 * Opens the index at `path`. Creates it if it is missing, or of another version. Throws an IndexError
 * for a file that isn't an index or is in use, and a DamagedIndexError for a damaged one.
 */
export function openIndex(path: string): IndexDatabase {
	const db = openFile(path, 'index');
	const vectors = fileOf(path, 'vectors');
	try {
		openFile(vectors, 'vectors').close();
		db.prepare('ATTACH ? AS meaning').run(vectors);
		db.exec('PRAGMA meaning.synchronous = NORMAL; PRAGMA meaning.cache_size = -4096');
		clearNumbers(db);
		return new IndexDatabase(db);
	} catch (error) {
		db.close();
		throw error instanceof DamagedIndexError ? error : explain(error, vectors);
	}
}

/** A new index has new numbers for lifelogs, so vectors must be matched by their words again. */
function clearNumbers(db: DatabaseSync): void {
	const isThere = (schema: string, table: string) =>
		db.prepare(`SELECT 1 FROM ${schema}.sqlite_schema WHERE name = ?`).get(table) !== undefined;
	if (isThere('main', 'document') || !isThere('meaning', 'meant')) return;
	db.exec('UPDATE meaning.meant SET document = 0');
}

const fileOf = (path: string, file: IndexFile) => (file === 'index' ? path : `${path}.vectors`);

/** Removes a file of the index at `path`, which must be closed. */
export function removeIndex(path: string, file: IndexFile): void {
	for (const suffix of ['', '-wal', '-shm']) rmSync(fileOf(path, file) + suffix, { force: true });
}

function openFile(path: string, file: IndexFile): DatabaseSync {
	try {
		if (existsSync(path) && !isDatabase(path)) {
			throw new IndexError(
				`${path} isn't an index of lifelog-server: choose another file with --index`,
			);
		}
		const known = tryOpen(path, file);
		if (known) return known;
		for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
		return tryOpen(path, file)!;
	} catch (error) {
		throw error instanceof DamagedIndexError ? error : explain(error, path);
	}
}

/** Opens a file; undefined if it has another version. */
function tryOpen(path: string, file: IndexFile): DatabaseSync | undefined {
	// It contains everything that was said. SQLite would make it and its log readable for everyone.
	closeSync(openSync(path, 'a', 0o600));
	for (const suffix of ['', '-wal']) restrict(path + suffix);
	const db = new DatabaseSync(path);
	let owner: unknown;
	try {
		// One server per index: the first one to write holds the lock.
		db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 1000');
		owner = pragma(db, 'application_id');
		const isNew = Number(db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!.n) === 0;
		if (!isNew && owner !== APPLICATION_ID) throw ofAnother(path);
		if (!isNew && pragma(db, 'user_version') !== VERSION) {
			db.close();
			return undefined;
		}
		// Overwrite deleted content.
		db.exec(`
			PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;
			PRAGMA secure_delete = ON;
			PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION};
			BEGIN IMMEDIATE; COMMIT;
		`);
		return db;
	} catch (error) {
		db.close();
		if (!isDamage(error)) throw error;
		// If the file is too damaged to tell its owner, it is in an index's place.
		if (owner !== undefined && owner !== APPLICATION_ID) throw ofAnother(path);
		throw new DamagedIndexError(String((error as { errstr?: string }).errstr), file);
	}
}

const ofAnother = (path: string) =>
	new IndexError(`${path} is a database of another program: choose another file with --index`);

function pragma(db: DatabaseSync, name: string): unknown {
	return db.prepare(`PRAGMA ${name}`).get()![name];
}

function isDatabase(path: string): boolean {
	// Reading a device or pipe would never end, and its permissions would change.
	if (!statSync(path).isFile()) return false;
	const file = openSync(path, 'r');
	try {
		const start = Buffer.alloc(SQLITE_FILE.length);
		const length = readSync(file, start, 0, start.length, 0);
		return length === 0 || start.equals(SQLITE_FILE);
	} finally {
		closeSync(file);
	}
}

// Primary result codes of SQLite.
const codes = { error: 1, busy: 5, corrupt: 11, constraint: 19, mismatch: 20, notADatabase: 26 };
// Contradicting rows are damage, too: our statements never violate constraints.
const damage = [codes.corrupt, codes.constraint, codes.mismatch, codes.notADatabase];
const missing = /no such|constructor failed|malformed/;
const codeOf = (error: unknown) => Number((error as { errcode?: number }).errcode) & 0xff;
const isDamage = (error: unknown) =>
	damage.includes(codeOf(error)) ||
	(codeOf(error) === codes.error && missing.test((error as Error).message));

function explain(error: unknown, path: string): Error {
	if (error instanceof IndexError) return error;
	if (codeOf(error) === codes.busy) {
		return new IndexError(
			`${path} is in use by another lifelog-server: stop it, or give one of them its own --index`,
		);
	}
	return new IndexError(
		`The index ${path} cannot be opened or written (${(error as Error).message}): choose a writable file with --index`,
	);
}
