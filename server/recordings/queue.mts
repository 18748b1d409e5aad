import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { restrict } from '../util/restrict.mts';
import type { Chunk } from './encoders.mts';
import type { Heard } from './transcribe.mts';

export const STATUSES = ['queued', 'transcribing', 'done', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** A recording, as the API answers it (server/openapi.yaml, `Recording`). */
export interface Recording {
	id: string;
	status: Status;
	/** Its name where it comes from. */
	fileName: string;
	lifelogIds: string[];
	/** ISO 8601, in UTC; null until the recording was read. */
	startTime: string | null;
	/** Where the start is known from. */
	startTimeFrom: 'upload' | 'fileName' | 'container' | 'modified' | null;
	durationMs: number | null;
	/** Why it failed, or why it is tried again. */
	error: string | null;
	attempts: number;
	createdAt: string;
}

/** What else the queue keeps of a recording. */
export interface Upload {
	/** The file with its bytes. */
	path: string;
	fileName: string;
	/** When it was changed last, epoch ms. */
	modifiedMs: number;
	/** The folder of the inbox, for a file that is in it. */
	inbox?: string;
	/** The start that was given, epoch ms. */
	startMs?: number;
	title?: string;
	language?: string;
	/** Words to expect, in place of those that the server has. */
	prompt?: string;
	externalId?: string;
	/** Whether lifelogs that were deleted are made again. */
	again?: boolean;
}

/** A recording in the queue. */
export interface Queued extends Recording, Upload {
	/** Of its bytes, in hexadecimal digits. */
	sha256: string;
	/** Whether its file was put away since it was done or failed. */
	isTidy: boolean;
	/** Whether an uploaded file is kept, because not all of it is in the archive. */
	keepsOriginal?: boolean;
	/** After how many attempts it was done, while it's being transcribed again. */
	doneAfter?: number;
	/** Tries in a row to which an endpoint gave an answer that can't be used, and when they began. */
	unusable?: { tries: number; sinceMs: number };
}

/** A recording that is done or has failed. */
interface Ended extends Pick<Recording, 'id' | 'attempts' | 'startTime'> {
	status: 'done' | 'failed';
}

/** A lifelog whose title and headings couldn't be written yet. */
export interface Untitled {
	/** Of the lifelog. */
	id: string;
	/** What the log calls it. */
	name: string;
	tries: number;
	/** When it is tried again, epoch ms. */
	nextMs: number;
}

/** Where a part of a recording is in it. */
type Place = Pick<Chunk, 'offsetMs' | 'durationMs'>;

/**
 * The recordings that were taken, in a file of their own: an index can be rebuilt from the archive,
 * the queue can't. Each change is on the disk when it returns.
 */
export class Queue {
	readonly #db: DatabaseSync;

	/** Opens the queue, or makes it. Throws an Error that says what to do for a file that is none. */
	constructor(file: string) {
		try {
			this.#db = new DatabaseSync(file);
			restrict(file);
			this.#db.exec(`
				-- A copy of the file has everything, and nothing is opened while its folder is away.
				PRAGMA locking_mode = EXCLUSIVE;
				PRAGMA journal_mode = TRUNCATE;
				PRAGMA synchronous = FULL;
				-- What was heard is removed once it's in the archive.
				PRAGMA secure_delete = ON;
				CREATE TABLE IF NOT EXISTS recording (
					number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL UNIQUE,
					external_id TEXT UNIQUE, status TEXT NOT NULL, json TEXT NOT NULL
				);
				CREATE TABLE IF NOT EXISTS heard (
					id TEXT NOT NULL, offset_ms INTEGER NOT NULL, duration_ms INTEGER NOT NULL,
					json TEXT NOT NULL, PRIMARY KEY (id, offset_ms, duration_ms)
				);
				CREATE TABLE IF NOT EXISTS dropped (sha256 TEXT PRIMARY KEY) WITHOUT ROWID;
				CREATE TABLE IF NOT EXISTS untitled (
					id TEXT PRIMARY KEY, name TEXT NOT NULL, tries INTEGER NOT NULL, next_ms INTEGER NOT NULL
				) WITHOUT ROWID;
			`);
		} catch (error) {
			throw new Error(
				`The queue of recordings ${file} can't be opened (${(error as Error).message}). Restore it from a backup, or move it away to begin a new one`,
				{ cause: error },
			);
		}
	}

	/** The recording with the same external ID or the same bytes. */
	find(sha256: string, externalId?: string): Queued | undefined {
		const sql =
			'SELECT json FROM recording WHERE external_id = ? OR sha256 = ? ORDER BY external_id = ? DESC';
		return this.#all(sql, externalId ?? null, sha256, externalId ?? null)[0];
	}

	get(id: string): Queued | undefined {
		return this.#all('SELECT json FROM recording WHERE id = ?', id)[0];
	}

	/**
	 * Lists recordings, newest first.
	 *
	 * @param status Only those with it; all if missing.
	 * @param afterId Only those that are older than this one.
	 */
	list(status: Status | undefined, afterId: string | undefined, limit: number): Queued[] {
		const sql = `SELECT json FROM recording WHERE (?1 IS NULL OR status = ?1)
			AND (?2 IS NULL OR number < (SELECT number FROM recording WHERE id = ?2))
			ORDER BY number DESC LIMIT ?3`;
		return this.#all(sql, status ?? null, afterId ?? null, limit);
	}

	/** Those that aren't done and haven't failed, oldest first. */
	open(): Queued[] {
		return this.#all(
			`SELECT json FROM recording WHERE status IN ('queued', 'transcribing') ORDER BY number`,
		);
	}

	/** The recording that a lifelog was made of; undefined if it wasn't. */
	recordingOf(id: string): Queued | undefined {
		const sql = `SELECT json FROM recording WHERE instr(json, ?1) > 0
			AND EXISTS (SELECT 1 FROM json_each(recording.json, '$.lifelogIds') WHERE value = ?1)`;
		return this.#all(sql, id)[0];
	}

	/** Those that are done or have failed. */
	ended(): Ended[] {
		const sql = `SELECT id, status, json ->> 'attempts' AS attempts, json ->> 'startTime' AS startTime
			FROM recording WHERE status IN ('done', 'failed')`;
		return this.#db.prepare(sql).all() as unknown as Ended[];
	}

	/** Those that are done or failed, and whose files weren't put away. */
	untidy(): Queued[] {
		return this.#all(`SELECT json FROM recording WHERE NOT json ->> 'isTidy'`);
	}

	#all(sql: string, ...values: SQLInputValue[]): Queued[] {
		const rows = this.#db.prepare(sql).all(...values);
		return rows.map(({ json }) => JSON.parse(String(json)) as Queued);
	}

	add(recording: Queued): void {
		const { id, sha256, externalId, status } = recording;
		this.#db
			.prepare(
				'INSERT INTO recording (id, sha256, external_id, status, json) VALUES (?, ?, ?, ?, ?)',
			)
			.run(id, sha256, externalId ?? null, status, JSON.stringify(recording));
	}

	/** Changes a recording, and returns it as it is now. */
	update(id: string, change: Partial<Queued>): Queued {
		const recording: Queued = { ...this.get(id)!, ...change };
		this.#db
			.prepare('UPDATE recording SET status = ?, external_id = ?, json = ? WHERE id = ?')
			.run(recording.status, recording.externalId ?? null, JSON.stringify(recording), id);
		return recording;
	}

	/** Removes a recording for good. Its bytes are remembered. */
	remove(id: string): void {
		const sql = 'INSERT OR IGNORE INTO dropped SELECT sha256 FROM recording WHERE id = ?';
		this.#db.prepare(sql).run(id);
		this.#db.prepare('DELETE FROM recording WHERE id = ?').run(id);
		this.discardHeard(id);
	}

	/** Whether a recording with these bytes was removed. */
	wasRemoved(sha256: string): boolean {
		return this.#db.prepare('SELECT 1 FROM dropped WHERE sha256 = ?').get(sha256) !== undefined;
	}

	/** What was said in a part, if it was transcribed before: other formats have other parts. */
	heardIn(id: string, { offsetMs, durationMs }: Place): Heard | undefined {
		const sql = 'SELECT json FROM heard WHERE id = ? AND offset_ms = ? AND duration_ms = ?';
		const row = this.#db.prepare(sql).get(id, offsetMs, durationMs);
		return row && (JSON.parse(String(row.json)) as Heard);
	}

	/** Keeps what was said in a part, because a transcription may cost money. */
	keepHeard(id: string, { offsetMs, durationMs }: Place, heard: Heard): void {
		const sql =
			'INSERT OR REPLACE INTO heard (id, offset_ms, duration_ms, json) VALUES (?, ?, ?, ?)';
		this.#db.prepare(sql).run(id, offsetMs, durationMs, JSON.stringify(heard));
	}

	discardHeard(id: string): void {
		this.#db.prepare('DELETE FROM heard WHERE id = ?').run(id);
	}

	/** Those that are due first come first. */
	untitled(): Untitled[] {
		const sql = 'SELECT id, name, tries, next_ms AS nextMs FROM untitled ORDER BY next_ms, id';
		return this.#db.prepare(sql).all() as unknown as Untitled[];
	}

	putUntitled({ id, name, tries, nextMs }: Untitled): void {
		const sql = 'INSERT OR REPLACE INTO untitled (id, name, tries, next_ms) VALUES (?, ?, ?, ?)';
		this.#db.prepare(sql).run(id, name, tries, nextMs);
	}

	removeUntitled(id: string): void {
		this.#db.prepare('DELETE FROM untitled WHERE id = ?').run(id);
	}

	close(): void {
		this.#db.close();
	}
}
