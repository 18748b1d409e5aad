import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { restrict } from '../util/restrict.mts';
import type { Chunk } from './encoders.mts';
import type { Heard } from './transcribe.mts';

export const STATUSES = ['queued', 'transcribing', 'done', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** A recording in the API (server/openapi.yaml, `Recording`). */
export interface Recording {
	id: string;
	status: Status;
	/** Its original name. */
	fileName: string;
	lifelogIds: string[];
	/** ISO 8601 in UTC; null until the recording was read. */
	startTime: string | null;
	/** Source of the start time. */
	startTimeFrom: 'upload' | 'fileName' | 'container' | 'modified' | null;
	durationMs: number | null;
	/** Why it failed, or why it will be retried. */
	error: string | null;
	attempts: number;
	createdAt: string;
}

/** Further fields of a recording in the queue. */
export interface Upload {
	/** Path of the file. */
	path: string;
	fileName: string;
	/** Last modification, epoch ms. */
	modifiedMs: number;
	/** Folder of the inbox, for a file in it. */
	inbox?: string;
	/** Given start, epoch ms. */
	startMs?: number;
	title?: string;
	language?: string;
	/** Expected words; overrides the server's. */
	prompt?: string;
	externalId?: string;
	/** Whether to create deleted lifelogs again. */
	again?: boolean;
}

export interface Queued extends Recording, Upload {
	/** SHA-256 of its bytes, hexadecimal. */
	sha256: string;
	/** Whether its file was put away after it was done or failed. */
	isTidy: boolean;
	/** Whether to keep an uploaded file, because not all of it is in the archive. */
	keepsOriginal?: boolean;
	/** Number of attempts until it was done, while it is being transcribed again. */
	doneAfter?: number;
	/** Consecutive attempts with an unusable answer, and their start. */
	unusable?: { tries: number; sinceMs: number };
}

/** A recording that is done or has failed. */
interface Ended extends Pick<Recording, 'id' | 'attempts' | 'startTime'> {
	status: 'done' | 'failed';
}

/** A lifelog that waits for its title and headings. */
export interface Untitled {
	/** ID of the lifelog. */
	id: string;
	/** Name for the log. */
	name: string;
	tries: number;
	/** Time of the next attempt, epoch ms. */
	nextMs: number;
}

/** Position of a part in a recording. */
type Place = Pick<Chunk, 'offsetMs' | 'durationMs'>;

/**
 * The accepted recordings, in a separate file: an index can be rebuilt from the archive, the queue
 * can't. Each change is on the disk when the method returns.
 */
export class Queue {
	readonly #db: DatabaseSync;

	/** Opens or creates the queue. Throws an Error that says what to do if the file isn't a queue. */
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
	 * @param status Only with this status; by default all.
	 * @param afterId Only older than this one.
	 */
	list(status: Status | undefined, afterId: string | undefined, limit: number): Queued[] {
		const sql = `SELECT json FROM recording WHERE (?1 IS NULL OR status = ?1)
			AND (?2 IS NULL OR number < (SELECT number FROM recording WHERE id = ?2))
			ORDER BY number DESC LIMIT ?3`;
		return this.#all(sql, status ?? null, afterId ?? null, limit);
	}

	/** Unfinished recordings, oldest first. */
	open(): Queued[] {
		return this.#all(
			`SELECT json FROM recording WHERE status IN ('queued', 'transcribing') ORDER BY number`,
		);
	}

	/** The recording of a lifelog; undefined if it wasn't made from one. */
	recordingOf(id: string): Queued | undefined {
		const sql = `SELECT json FROM recording WHERE instr(json, ?1) > 0
			AND EXISTS (SELECT 1 FROM json_each(recording.json, '$.lifelogIds') WHERE value = ?1)`;
		return this.#all(sql, id)[0];
	}

	/** Recordings that are done or have failed. */
	ended(): Ended[] {
		const sql = `SELECT id, status, json ->> 'attempts' AS attempts, json ->> 'startTime' AS startTime
			FROM recording WHERE status IN ('done', 'failed')`;
		return this.#db.prepare(sql).all() as unknown as Ended[];
	}

	/** Recordings that are done or have failed, but whose files weren't put away. */
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

	/** Changes a recording; returns its new state. */
	update(id: string, change: Partial<Queued>): Queued {
		const recording: Queued = { ...this.get(id)!, ...change };
		this.#db
			.prepare('UPDATE recording SET status = ?, external_id = ?, json = ? WHERE id = ?')
			.run(recording.status, recording.externalId ?? null, JSON.stringify(recording), id);
		return recording;
	}

	/** Removes a recording permanently. Its hash is kept. */
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

	/** The cached transcript of a part. Other chunk formats have other parts. */
	heardIn(id: string, { offsetMs, durationMs }: Place): Heard | undefined {
		const sql = 'SELECT json FROM heard WHERE id = ? AND offset_ms = ? AND duration_ms = ?';
		const row = this.#db.prepare(sql).get(id, offsetMs, durationMs);
		return row && (JSON.parse(String(row.json)) as Heard);
	}

	/** Caches the transcript of a part, because transcribing may cost money. */
	keepHeard(id: string, { offsetMs, durationMs }: Place, heard: Heard): void {
		const sql =
			'INSERT OR REPLACE INTO heard (id, offset_ms, duration_ms, json) VALUES (?, ?, ?, ?)';
		this.#db.prepare(sql).run(id, offsetMs, durationMs, JSON.stringify(heard));
	}

	discardHeard(id: string): void {
		this.#db.prepare('DELETE FROM heard WHERE id = ?').run(id);
	}

	/** By due time. */
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
