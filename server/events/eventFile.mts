import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { reasonOf } from '../util/failures.mts';
import { restrict } from '../util/restrict.mts';

/** Marks a SQLite file as ours: "evts" in ASCII. */
const APPLICATION_ID = 0x65767473;
const VERSION = 1;

// A subject is what an event is about, such as `lifelog abc`. Events of one subject keep their order.
// Numbers of deliveries are never reused, because an attempt may end after its webhook was removed.
// `next_ms` is null during an attempt, or while an earlier delivery of the subject is waiting.
const SCHEMA = `
	CREATE TABLE IF NOT EXISTS begun (kind TEXT PRIMARY KEY) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS known (
		kind TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (kind, id)
	) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS event (
		number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, type TEXT NOT NULL,
		subject TEXT NOT NULL, born_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL, data TEXT NOT NULL
	);
	CREATE INDEX IF NOT EXISTS event_subject ON event (subject, number);
	CREATE INDEX IF NOT EXISTS event_due ON event (due_ms);
	CREATE TABLE IF NOT EXISTS webhook (
		number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL UNIQUE,
		types TEXT NOT NULL, description TEXT, secret TEXT NOT NULL, created_ms INTEGER NOT NULL,
		paused TEXT, failing_since_ms INTEGER, last_ms INTEGER, last_status INTEGER, last_error TEXT
	);
	CREATE TABLE IF NOT EXISTS delivery (
		number INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, event INTEGER NOT NULL,
		subject TEXT NOT NULL, state TEXT NOT NULL, step INTEGER NOT NULL, attempts INTEGER NOT NULL,
		planned_ms INTEGER NOT NULL, next_ms INTEGER, begun_ms INTEGER, status INTEGER, error TEXT
	);
	CREATE INDEX IF NOT EXISTS delivery_event ON delivery (event);
	CREATE INDEX IF NOT EXISTS delivery_of ON delivery (webhook, event);
	CREATE INDEX IF NOT EXISTS delivery_next ON delivery (webhook, next_ms, event)
		WHERE state = 'waiting';
	CREATE INDEX IF NOT EXISTS delivery_subject ON delivery (webhook, subject, event)
		WHERE state = 'waiting';
`;

/**
 * Events, webhooks and deliveries, in a separate file beside the index, because they can't be
 * rebuilt from the archive. It contains secrets, so only its owner can read it.
 */
export class EventFile {
	readonly path: string;
	#db: DatabaseSync | undefined;
	#isClosed = false;
	/** Whether SQLite's write-ahead log has data that isn't in the file yet. */
	#isDirty = false;
	readonly #statements = new Map<string, StatementSync>();

	constructor(path: string) {
		this.path = path;
	}

	/** Opens or creates the file. Does nothing if it is open. @throws Error that says what to do. */
	open(): void {
		if (this.#isClosed) throw new Error('The events are closed');
		this.#db ??= this.#opened();
	}

	#opened(): DatabaseSync {
		let db: DatabaseSync | undefined;
		try {
			closeSync(openSync(this.path, 'a', 0o600));
			for (const suffix of ['', '-wal']) restrict(this.path + suffix);
			db = new DatabaseSync(this.path);
			// Don't wait for the file: failed writes are compared again.
			db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA busy_timeout = 0');
			const number = (pragma: string) => Number(db!.prepare(`PRAGMA ${pragma}`).get()![pragma]);
			const isNew = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
			const isOurs =
				number('application_id') === APPLICATION_ID && number('user_version') === VERSION;
			if (!isNew && !isOurs) throw new Error('it is of another program or version');
			// Overwrite removed secrets.
			db.exec(`
				PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
				PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${VERSION};
				BEGIN IMMEDIATE; ${SCHEMA} COMMIT;
			`);
			return db;
		} catch (error) {
			db?.close();
			const reason = (error as { errcode?: number }).errcode ? reasonOf(error as Error) : '';
			throw new Error(
				`The events ${this.path} can't be opened (${reason || (error as Error).message})`,
				{ cause: error },
			);
		}
	}

	/** The rows of a query. The caller knows its columns. */
	all<Columns>(sql: string, ...values: SQLInputValue[]): Columns[] {
		return this.#statement(sql).all(...values) as Columns[];
	}

	get<Columns>(sql: string, ...values: SQLInputValue[]): Columns | undefined {
		return this.#statement(sql).get(...values) as Columns | undefined;
	}

	/** Runs a statement; returns the number of changed rows. */
	run(sql: string, ...values: SQLInputValue[]): number {
		this.#isDirty = true;
		return Number(this.#statement(sql).run(...values).changes);
	}

	/** Runs `change` in a transaction, which is rolled back if it throws. */
	transaction<Result>(change: () => Result): Result {
		this.open();
		if (this.#db!.isTransaction) return change();
		this.#db!.exec('BEGIN IMMEDIATE');
		try {
			const result = change();
			this.#db!.exec('COMMIT');
			return result;
		} catch (error) {
			if (this.#db!.isTransaction) this.#db!.exec('ROLLBACK');
			throw error;
		}
	}

	/** Moves everything into the file, so that a copy is complete. */
	settle(): void {
		if (!this.#isDirty) return;
		this.all('PRAGMA wal_checkpoint(TRUNCATE)');
		this.#isDirty = false;
	}

	close(): void {
		this.#isClosed = true;
		this.#statements.clear();
		this.#db?.close();
		this.#db = undefined;
	}

	#statement(sql: string): StatementSync {
		this.open();
		let statement = this.#statements.get(sql);
		if (!statement) this.#statements.set(sql, (statement = this.#db!.prepare(sql)));
		return statement;
	}
}
