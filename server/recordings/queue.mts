import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { restrict } from '../util/restrict.mts';
import type { Segment } from './segments.mts';

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
	externalId?: string;
}

/** A recording in the queue. */
export interface Queued extends Recording, Upload {
	/** Of its bytes, in hexadecimal digits. */
	sha256: string;
	/** Whether its file was put away since it was done or failed. */
	isTidy: boolean;
}

type Row = Record<string, SQLOutputValue>;

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
				PRAGMA journal_mode = WAL;
				PRAGMA synchronous = FULL;
				CREATE TABLE IF NOT EXISTS recording (
					number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL UNIQUE,
					external_id TEXT UNIQUE, status TEXT NOT NULL, json TEXT NOT NULL
				);
				CREATE TABLE IF NOT EXISTS transcript (
					id TEXT NOT NULL, chunk INTEGER NOT NULL, segments TEXT NOT NULL, PRIMARY KEY (id, chunk)
				);
				CREATE TABLE IF NOT EXISTS dropped (sha256 TEXT PRIMARY KEY) WITHOUT ROWID;
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
		return asQueued(this.#db.prepare(sql).get(externalId ?? null, sha256, externalId ?? null));
	}

	get(id: string): Queued | undefined {
		return asQueued(this.#db.prepare('SELECT json FROM recording WHERE id = ?').get(id));
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
		const rows = this.#db.prepare(sql).all(status ?? null, afterId ?? null, limit);
		return rows.map((row) => asQueued(row)!);
	}

	/** Those that aren't done and haven't failed, oldest first. */
	open(): Queued[] {
		const sql = `SELECT json FROM recording WHERE status IN ('queued', 'transcribing') ORDER BY number`;
		return this.#db
			.prepare(sql)
			.all()
			.map((row) => asQueued(row)!);
	}

	/** Those that are done or failed, and whose files weren't put away. */
	untidy(): Queued[] {
		const sql = `SELECT json FROM recording WHERE NOT json ->> 'isTidy'`;
		return this.#db
			.prepare(sql)
			.all()
			.map((row) => asQueued(row)!);
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
			.prepare('UPDATE recording SET status = ?, json = ? WHERE id = ?')
			.run(recording.status, JSON.stringify(recording), id);
		return recording;
	}

	/** Removes a recording for good. Its bytes are remembered. */
	remove(id: string): void {
		const sql = 'INSERT OR IGNORE INTO dropped SELECT sha256 FROM recording WHERE id = ?';
		this.#db.prepare(sql).run(id);
		this.#db.prepare('DELETE FROM recording WHERE id = ?').run(id);
		this.forgetTranscripts(id);
	}

	/** Whether a recording with these bytes was removed. */
	wasRemoved(sha256: string): boolean {
		return this.#db.prepare('SELECT 1 FROM dropped WHERE sha256 = ?').get(sha256) !== undefined;
	}

	/** What was said in a chunk, if it was transcribed before. */
	transcriptOf(id: string, chunk: number): Segment[] | undefined {
		const sql = 'SELECT segments FROM transcript WHERE id = ? AND chunk = ?';
		const row = this.#db.prepare(sql).get(id, chunk);
		return row && (JSON.parse(String(row.segments)) as Segment[]);
	}

	/** Keeps what was said in a chunk, because a transcription may cost money. */
	keepTranscript(id: string, chunk: number, segments: Segment[]): void {
		this.#db
			.prepare('INSERT OR REPLACE INTO transcript (id, chunk, segments) VALUES (?, ?, ?)')
			.run(id, chunk, JSON.stringify(segments));
	}

	forgetTranscripts(id: string): void {
		this.#db.prepare('DELETE FROM transcript WHERE id = ?').run(id);
	}

	close(): void {
		this.#db.close();
	}
}

const asQueued = (row: Row | undefined) => row && (JSON.parse(String(row.json)) as Queued);
