import { hash } from 'node:crypto';
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import type { AudioFile } from '../archive/layout.mts';
import { MADE, RECORDED } from '../archive/sourceOf.mts';
import type { IndexDatabase } from './database.mts';
import {
	type Counts,
	type DayRecord,
	type Kind,
	type LifelogState,
	type LifelogStates,
	type Origin,
	SCHEMA,
} from './schema.mts';
import { SearchIndex } from './search.mts';
import type { Span } from '../util/spans.mts';
import type { ChatFilter, IndexFilter, Parts, Slice } from './store.mts';
import { Vectors } from './vectors.mts';
import { hasVoice, type Voices } from './voices.mts';

interface NewRow {
	version: string;
	time: string;
	endTime: string;
	flag: boolean;
	/** All fields except the two long ones. */
	head: object;
	markdown?: string | null;
	contents?: object[];
}

const maxLifelogMs = 48 * 3_600_000;
/** Lifelogs created here aren't in the pendant's audio. */
const ofService = `id NOT GLOB '${MADE}*' AND id NOT GLOB '${RECORDED}*'`;

/**
 * The index of an archive: its entries as rows of SQLite, by day. If several days name an ID, its
 * newest version is served, unless a day says that it was deleted.
 */
export class Rows implements LifelogStates {
	readonly #db: IndexDatabase;
	readonly #search: SearchIndex;
	/** Vectors of the lifelogs' meaning, if a model is configured. */
	readonly vectors: Vectors;
	/**
	 * Changes for full text, applied at the end of a transaction. Earlier, each statement that puts
	 * an entry would make FTS5 flush its memory.
	 */
	readonly #unindexed = new Map<string, Lifelog | undefined>();
	/** Lifelogs whose served data may have changed since `takeTouched`. */
	readonly #touched = new Set<string>();

	constructor(db: IndexDatabase) {
		this.#db = db;
		db.exec(SCHEMA);
		this.#search = new SearchIndex(db);
		this.vectors = new Vectors(db);
	}

	/** A new object after each change of the index. */
	revision: object = {};

	/** Runs `change` in a transaction, which is rolled back if it throws. */
	transaction(change: () => void): void {
		this.#db.exec('BEGIN IMMEDIATE');
		try {
			change();
			for (const [id, lifelog] of this.#unindexed) {
				if (lifelog) {
					this.#search.put(lifelog);
				} else {
					this.#search.delete(id);
					this.vectors.delete(id);
				}
			}
			this.#search.settle();
			this.#db.exec('COMMIT');
			for (const id of this.#unindexed.keys()) this.#touched.add(id);
		} catch (error) {
			if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
			this.#search.invalidate();
			throw error;
		} finally {
			this.revision = {};
			this.#unindexed.clear();
		}
	}

	/** Lifelogs whose served data may have changed since the last call. */
	takeTouched(): string[] {
		const ids = [...this.#touched];
		this.#touched.clear();
		return ids;
	}

	lifelogStates(afterId: string, limit: number): LifelogState[] {
		const sql = `SELECT id, sha256, edited FROM entry WHERE kind = 'lifelog' AND id > ?1 AND current
			UNION ALL SELECT id, NULL, NULL FROM deleted WHERE kind = 'lifelog' AND id > ?1 GROUP BY id
			ORDER BY id LIMIT ?2`;
		return this.#all(sql, afterId, limit).map(stateOf);
	}

	lifelogState(id: string): LifelogState | undefined {
		const sql = `SELECT id, sha256, edited FROM entry WHERE kind = 'lifelog' AND id = ? AND current`;
		const [row] = this.#all(sql, id);
		if (row) return stateOf(row);
		return this.isDeleted(id) ? { id, hash: null } : undefined;
	}

	deletedStart(id: string): string | undefined {
		const span = this.deletedSpan(id);
		return span && new Date(span.startMs).toISOString();
	}

	/** Time of a deleted lifelog; undefined if unknown, or if it isn't deleted. */
	deletedSpan(id: string): Span | undefined {
		const sql = `SELECT start_ms, end_ms FROM deleted WHERE kind = 'lifelog' AND id = ?
			AND start_ms IS NOT NULL LIMIT 1`;
		const [row] = this.#all(sql, id);
		return row && { startMs: Number(row.start_ms), endMs: Number(row.end_ms) };
	}

	/** Edits of a lifelog as JSON; '' without any. */
	editsOf(id: string): string {
		const sql = `SELECT edited FROM entry WHERE kind = 'lifelog' AND id = ? AND current`;
		const [row] = this.#all(sql, id);
		return String(row?.edited ?? '');
	}

	lifelogHead(id: string): Lifelog | undefined {
		return this.getLifelog(id, none);
	}

	/** Moves changes from the log into the file, so that no deleted content remains. */
	checkpoint(): void {
		this.#db.all('PRAGMA wal_checkpoint(TRUNCATE)');
	}

	/** Of several days' versions, the one with the latest `version` is served. */
	putLifelog(lifelog: Lifelog, origin: Origin, version = lifelog.updatedAt): void {
		const { markdown, contents, ...head } = lifelog;
		this.#put('lifelog', lifelog.id, origin, {
			version,
			time: lifelog.startTime,
			endTime: lifelog.endTime,
			flag: lifelog.isStarred,
			head,
			markdown,
			contents,
		});
		this.#choose('lifelog', lifelog.id, { day: origin.day, lifelog });
	}

	/** `archivedAt` decides between versions, because chats have no update time. */
	putChat(chat: Chat, origin: Origin, isScheduled: boolean, archivedAt: string): void {
		this.#put('chat', chat.id, origin, {
			version: archivedAt,
			time: chat.createdAt,
			endTime: '',
			flag: isScheduled,
			head: chat,
		});
		this.#choose('chat', chat.id);
	}

	#put(kind: Kind, id: string, { day, sha256, isGone, edited }: Origin, row: NewRow): void {
		const [{ number }] = this.#all(
			`INSERT INTO entry
				(kind, id, day, sha256, gone, version, time, end_time, flag, edited, current)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
			ON CONFLICT DO UPDATE SET (sha256, gone, version, time, end_time, flag, edited) =
				(excluded.sha256, excluded.gone, excluded.version, excluded.time, excluded.end_time,
				excluded.flag, excluded.edited)
			RETURNING number`,
			kind,
			id,
			day,
			sha256,
			Number(isGone),
			row.version,
			row.time,
			row.endTime,
			Number(row.flag),
			edited,
		);
		this.#run(
			'INSERT OR REPLACE INTO body (number, head, markdown, contents) VALUES (?, ?, ?, ?)',
			number,
			JSON.stringify(row.head),
			row.markdown === undefined ? null : JSON.stringify(row.markdown),
			row.contents === undefined ? null : JSON.stringify(row.contents),
		);
	}

	/** Entries of a day by ID, each with its origin. */
	ofDay(kind: Kind, day: string): Map<string, Omit<Origin, 'day'> & { flag: boolean }> {
		const rows = this.#all(
			'SELECT id, sha256, gone, flag, edited FROM entry WHERE day = ? AND kind = ?',
			day,
			kind,
		);
		return new Map(
			rows.map(({ id, sha256, gone, flag, edited }) => [
				String(id),
				{
					sha256: String(sha256),
					isGone: gone === 1,
					flag: flag === 1,
					edited: String(edited),
				},
			]),
		);
	}

	/** Removes a day's version of an entry. */
	remove(kind: Kind, id: string, day: string): void {
		const [entry] = this.#all(
			'DELETE FROM entry WHERE kind = ? AND id = ? AND day = ? RETURNING number',
			kind,
			id,
			day,
		);
		if (!entry) return;
		this.#run('DELETE FROM body WHERE number = ?', entry.number);
		this.#choose(kind, id);
	}

	/** Selects the newest version of an ID for serving. `put` is one that is already loaded. */
	#choose(kind: Kind, id: string, put?: { day: string; lifelog: Lifelog }): void {
		const [newest] = this.#all(
			`SELECT day FROM entry WHERE kind = ?1 AND id = ?2
			AND NOT EXISTS (SELECT 1 FROM deleted WHERE kind = ?1 AND id = ?2)
			ORDER BY version DESC, gone, day DESC LIMIT 1`,
			kind,
			id,
		);
		this.#run(
			'UPDATE entry SET current = (day = ?) WHERE kind = ? AND id = ?',
			newest?.day ?? '',
			kind,
			id,
		);
		if (kind === 'chat') return;
		this.#unindexed.set(id, put && put.day === newest?.day ? put.lifelog : this.getLifelog(id));
	}

	/** Replaces the IDs that a day marks as deleted, with their times. They aren't served from any day. */
	putDeleted(kind: Kind, day: string, deleted: Map<string, Span | undefined>): void {
		const known = this.#all(
			'DELETE FROM deleted WHERE day = ? AND kind = ? RETURNING id',
			day,
			kind,
		);
		for (const [id, span] of deleted) {
			this.#run(
				'INSERT INTO deleted (kind, id, day, start_ms, end_ms) VALUES (?, ?, ?, ?, ?)',
				kind,
				id,
				day,
				span?.startMs ?? null,
				span?.endMs ?? null,
			);
		}
		const before = new Set(known.map(({ id }) => String(id)));
		const now = new Set(deleted.keys());
		for (const id of new Set([...before, ...now]))
			if (before.has(id) !== now.has(id)) this.#choose(kind, id);
	}

	/** The days that name an ID. */
	daysOf(kind: Kind, id: string): string[] {
		return this.#all('SELECT day FROM entry WHERE kind = ? AND id = ?', kind, id).map(({ day }) =>
			String(day),
		);
	}

	/** The day of the served version of a lifelog; undefined for an unknown ID. */
	currentDay(id: string): string | undefined {
		const [row] = this.#all(
			`SELECT day FROM entry WHERE kind = 'lifelog' AND id = ? AND current`,
			id,
		);
		return row && String(row.day);
	}

	/** Lifelogs with lines that a replacement has changed. */
	replacedBy(replacement: string): string[] {
		const sql = `SELECT id FROM entry WHERE kind = 'lifelog' AND current AND instr(edited, ?)`;
		return this.#all(sql, `"id":${JSON.stringify(replacement)}`).map(({ id }) => String(id));
	}

	textsAfter(number: number, limit: number): ReturnType<SearchIndex['textsAfter']> {
		return this.#search.textsAfter(number, limit);
	}

	/** Whether a server deleted a lifelog. */
	isDeleted(id: string): boolean {
		const sql = `SELECT 1 FROM deleted WHERE kind = 'lifelog' AND id = ? LIMIT 1`;
		return this.#all(sql, id).length > 0;
	}

	putAudio(day: string, files: AudioFile[]): void {
		this.#run('DELETE FROM audio WHERE day = ?', day);
		for (const { path, startMs, endMs, bytes, sha256 } of files) {
			this.#run(
				'INSERT OR REPLACE INTO audio (path, day, start_ms, end_ms, bytes, sha256) VALUES (?, ?, ?, ?, ?, ?)',
				path,
				day,
				startMs,
				endMs,
				bytes,
				sha256,
			);
		}
	}

	/** Audio that overlaps a range (Unix milliseconds), by start. */
	audioBetween(startMs: number, endMs: number): AudioFile[] {
		return this.#all(
			`SELECT start_ms, end_ms, path, bytes, sha256 FROM audio
			WHERE end_ms > ? AND start_ms < ? ORDER BY start_ms, end_ms, path`,
			startMs,
			endMs,
		).map((row) => ({
			startMs: Number(row.start_ms),
			endMs: Number(row.end_ms),
			path: String(row.path),
			bytes: Number(row.bytes),
			sha256: String(row.sha256),
		}));
	}

	/** Times of all lifelogs, by start. */
	lifelogTimes(): { startTime: string; endTime: string; isStarred: boolean }[] {
		return this.#all(
			`SELECT time, end_time, flag FROM entry WHERE kind = 'lifelog' AND current ORDER BY time, id`,
		).map(({ time, end_time, flag }) => ({
			startTime: String(time),
			endTime: String(end_time),
			isStarred: flag === 1,
		}));
	}

	/**
	 * Times of the service's lifelogs between two instants (Unix milliseconds), by start. Includes
	 * deleted ones, whose audio remains.
	 */
	spokenBetween(fromMs: number, beforeMs: number): Span[] {
		const iso = (ms: number) => new Date(ms).toISOString();
		const earliestMs = fromMs - maxLifelogMs;
		const there = this.#all(
			`SELECT time, end_time FROM entry
			WHERE kind = 'lifelog' AND current AND ${ofService} AND time > ? AND time < ? AND end_time > ?
			ORDER BY time, id`,
			...[iso(earliestMs), iso(beforeMs), iso(fromMs)],
		).map(({ time, end_time }) => ({
			startMs: Date.parse(String(time)),
			endMs: Date.parse(String(end_time)),
		}));
		const deleted = this.#all(
			`SELECT start_ms, end_ms FROM deleted
			WHERE kind = 'lifelog' AND ${ofService} AND start_ms > ? AND start_ms < ?
			AND end_ms > ? AND end_ms < ?`,
			...[earliestMs, beforeMs, fromMs, beforeMs + maxLifelogMs],
		).map(({ start_ms, end_ms }) => ({ startMs: Number(start_ms), endMs: Number(end_ms) }));
		return [...there, ...deleted].sort((a, b) => a.startMs - b.startMs);
	}

	putDay({ day, files, problems, archivedMs, isComplete }: DayRecord): void {
		this.#run(
			'INSERT OR REPLACE INTO day (day, files, problems, archived_ms, complete) VALUES (?, ?, ?, ?, ?)',
			day,
			JSON.stringify(files),
			JSON.stringify(problems),
			archivedMs,
			Number(isComplete),
		);
	}

	removeDay(day: string): void {
		for (const kind of ['lifelog', 'chat'] as const) {
			for (const id of this.ofDay(kind, day).keys()) this.remove(kind, id, day);
			this.putDeleted(kind, day, new Map());
		}
		this.#run('DELETE FROM audio WHERE day = ?', day);
		this.#run('DELETE FROM day WHERE day = ?', day);
	}

	/** All days, in order. */
	days(): DayRecord[] {
		return this.#all('SELECT * FROM day ORDER BY day').map((row) => ({
			day: String(row.day),
			files: this.#db.parse(row.files) as DayRecord['files'],
			problems: this.#db.parse(row.problems) as DayRecord['problems'],
			archivedMs: Number(row.archived_ms),
			isComplete: row.complete === 1,
		}));
	}

	counts(): Counts {
		const count = (sql: string) => Number(this.#all(sql)[0].n);
		return {
			lifelogs: count(`SELECT count(*) AS n FROM entry WHERE kind = 'lifelog' AND current`),
			chats: count(`SELECT count(*) AS n FROM entry WHERE kind = 'chat' AND current`),
			audioFiles: count('SELECT count(*) AS n FROM audio'),
		};
	}

	/** Speakers of the lifelogs. */
	get voices(): Voices {
		return this.#search.voices;
	}

	listLifelogs(
		{ isStarred: flag, ...filter }: IndexFilter,
		slice: Slice,
		parts: Parts = whole,
	): Lifelog[] {
		return this.#list('lifelog', slice, { ...filter, flag }, parts) as Lifelog[];
	}

	/** IDs of lifelogs that pass a filter, newest first, without the first `skip`. */
	filterLifelogs(filter: IndexFilter, skip: number, limit: number): string[] {
		return this.#search.list(filter, skip, limit);
	}

	/** IDs of the best `limit` full-text matches, best first. */
	searchLifelogs(search: string, filter: IndexFilter, limit: number): string[] {
		return this.#search.search(search, filter, limit);
	}

	/** IDs of the newest `limit` lifelogs in which people named in a search speak. */
	spokenLifelogs(...args: Parameters<SearchIndex['spoken']>): string[] {
		return this.#search.spoken(...args);
	}

	/** IDs of lifelogs that have some words of a search, but not all. */
	partlyMatching(...args: Parameters<SearchIndex['partly']>): string[] {
		return this.#search.partly(...args);
	}

	/** The search with similar words instead of unknown ones; undefined without such words. */
	corrected(search: string): string | undefined {
		return this.#search.corrected(search);
	}

	getLifelog(id: string, parts: Parts = whole): Lifelog | undefined {
		return this.#get('lifelog', id, parts) as Lifelog | undefined;
	}

	/** An archive doesn't know which prompt made a chat, so no chat has a given one. */
	listChats({ isScheduled, globalPromptId }: ChatFilter, slice: Slice): Chat[] {
		if (globalPromptId !== undefined) return [];
		return this.#list('chat', slice, { flag: isScheduled }, none) as Chat[];
	}

	getChat(id: string): Chat | undefined {
		return this.#get('chat', id, none) as Chat | undefined;
	}

	#get(kind: Kind, id: string, parts: Parts): unknown {
		const [row] = this.#all(
			`SELECT ${columnsOf(parts)} FROM entry LEFT JOIN body USING (number)
			WHERE kind = ? AND id = ? AND current`,
			kind,
			id,
		);
		return row && this.#entryOf(kind, row);
	}

	#list(
		kind: Kind,
		{ direction, after, skip = 0, limit }: Slice,
		{ from, before, flag, voices }: Omit<IndexFilter, 'isStarred'> & { flag?: boolean },
		parts: Parts,
	): unknown[] {
		const conditions = ['kind = ? AND current'];
		const values: SQLInputValue[] = [kind];
		const where = (condition: string, ...more: SQLInputValue[]) => {
			conditions.push(condition);
			values.push(...more);
		};
		if (from !== undefined) where('time >= ?', from);
		if (before !== undefined) where('time < ?', before);
		if (flag !== undefined) where('flag = ?', Number(flag));
		if (voices) {
			where(`id IN (SELECT id FROM document WHERE number ${hasVoice()})`, JSON.stringify(voices));
		}
		if (after) where(`(time, id) ${direction === 'asc' ? '>' : '<'} (?, ?)`, after.time, after.id);
		const order = direction === 'asc' ? 'time, id' : 'time DESC, id DESC';
		const sql = `SELECT ${columnsOf(parts)} FROM entry LEFT JOIN body USING (number)
			WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ? OFFSET ?`;
		return this.#all(sql, ...values, limit, skip).map((row) => this.#entryOf(kind, row));
	}

	#entryOf(kind: Kind, row: Record<string, SQLOutputValue>): object {
		// Without a body it is null, which isn't an object either.
		const read = (json: SQLOutputValue) => this.#db.parse(json);
		const head = read(row.head);
		if (typeof head !== 'object' || head === null) this.#db.fail('a row is unreadable', 'index');
		if (kind === 'chat') return head;
		const markdown = typeof row.markdown === 'string' ? read(row.markdown) : undefined;
		const contents = typeof row.contents === 'string' ? read(row.contents) : [];
		return { ...head, ...(markdown !== undefined && { markdown }), contents };
	}

	#all(sql: string, ...values: SQLInputValue[]): Record<string, SQLOutputValue>[] {
		return this.#db.all(sql, ...values);
	}

	#run(sql: string, ...values: SQLInputValue[]): void {
		this.#db.run(sql, ...values);
	}
}

/** Hash of the stored file and the edits. */
function stateOf({ id, sha256, edited }: Record<string, SQLOutputValue>): LifelogState {
	if (sha256 === null) return { id: String(id), hash: null };
	return { id: String(id), hash: hash('sha256', `${String(sha256)} ${String(edited)}`) };
}

const whole: Parts = { markdown: true, contents: true };
const none: Parts = { markdown: false, contents: false };

/** Reads only requested columns: most of an entry is its text. */
function columnsOf({ markdown, contents }: Parts): string {
	return ['head', ...(markdown ? ['markdown'] : []), ...(contents ? ['contents'] : [])].join();
}
