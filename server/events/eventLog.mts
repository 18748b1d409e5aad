import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../util/durations.mts';
import type { EventFile } from './eventFile.mts';
import { TEST, type Event, type EventData, type EventType } from './types.mts';

interface EventRow {
	number: number;
	id: string;
	type: Event['type'];
	subject: string;
	born_ms: number;
	due_ms: number;
	data: string;
}

/** Changes within this time become one event. */
const WINDOW_MS = 2_000;
/** Retention of events and deliveries. */
const KEPT_MS = 30 * DAY_MS;

/** The events in order. Each one waits a moment, because the next change may be merged into it. */
export class EventLog {
	readonly #file: EventFile;
	readonly #now: () => number;

	constructor(file: EventFile, now: () => number) {
		this.#file = file;
		this.#now = now;
	}

	/**
	 * Adds an event, and a delivery for each webhook that wants it. Only within a transaction.
	 * Earlier events of the subject without an attempt are merged with it or dropped: an update drops
	 * earlier updates, a delete also drops a creation. An update doesn't drop a creation, because
	 * some webhooks don't want updates.
	 */
	add(subject: string, type: EventType, data: EventData): void {
		const nowMs = this.#now();
		const isDelete = type === 'lifelog.deleted';
		const isUpdate = type === 'lifelog.updated';
		for (let last = this.#unbegun(subject); last && (isDelete || isUpdate);) {
			const isOpen = last.due_ms > nowMs;
			const isCreation = last.type === 'lifelog.created';
			if (last.type === 'lifelog.deleted' || (isUpdate && isCreation && !isOpen)) break;
			if (isOpen) {
				this.#replace(last, isUpdate ? last.type : type, data, nowMs);
				return;
			}
			this.#remove(last.number);
			last = this.#unbegun(subject);
		}
		this.#insert(subject, type, data, nowMs, nowMs + WINDOW_MS);
	}

	/** Adds a test event, which the caller delivers. Returns it with its number. */
	addTest(webhook: string): Event & { number: number } {
		const nowMs = this.#now();
		const number = this.#insert(`webhook ${webhook}`, TEST, { id: webhook }, nowMs, nowMs);
		return { number, ...this.eventOf(number)! };
	}

	eventOf(number: number): Event | undefined {
		const row = this.#file.get<EventRow>('SELECT * FROM event WHERE number = ?', number);
		return row && asEvent(row);
	}

	/**
	 * The events after a number, oldest first, and the number to continue after.
	 *
	 * @returns undefined for a number that isn't from this log.
	 */
	list(after: number, limit: number): { events: Event[]; after: number } | undefined {
		const last = this.#file.get<{ seq: number }>(
			`SELECT seq FROM sqlite_sequence WHERE name = 'event'`,
		);
		if (after > (last?.seq ?? 0)) return undefined;
		const rows = this.#file.all<EventRow>(
			`SELECT * FROM event WHERE number > ? AND type <> '${TEST}'
			AND number < ifnull((SELECT min(number) FROM event WHERE due_ms > ?), ${Number.MAX_SAFE_INTEGER})
			ORDER BY number LIMIT ?`,
			after,
			this.#now(),
			limit,
		);
		return { events: rows.map(asEvent), after: rows.at(-1)?.number ?? after };
	}

	/** Ends the waiting of all events. */
	release(): void {
		const nowMs = this.#now();
		this.#file.run('UPDATE event SET due_ms = ? WHERE due_ms > ?', nowMs, nowMs);
	}

	/** Removes everything older than 30 days. */
	prune(): void {
		const beforeMs = this.#now() - KEPT_MS;
		this.#file.transaction(() => {
			const old = 'SELECT number FROM event WHERE born_ms < ?';
			this.#file.run(`DELETE FROM delivery WHERE event IN (${old})`, beforeMs);
			this.#file.run('DELETE FROM event WHERE born_ms < ?', beforeMs);
		});
	}

	/** The last event of a subject, unless an attempt has begun. Its answer may have been lost. */
	#unbegun(subject: string): EventRow | undefined {
		return this.#file.get<EventRow>(
			`SELECT * FROM event AS e
			WHERE e.number = (SELECT max(number) FROM event WHERE subject = ?)
			AND NOT EXISTS (SELECT 1 FROM delivery AS d WHERE d.event = e.number AND d.attempts > 0)`,
			subject,
		);
	}

	#replace(
		{ number, subject, due_ms }: EventRow,
		type: Event['type'],
		data: EventData,
		nowMs: number,
	) {
		const sql = 'UPDATE event SET type = ?, data = ?, born_ms = ? WHERE number = ?';
		this.#file.run(sql, type, JSON.stringify(data), nowMs, number);
		// Other webhooks may want the other type.
		this.#file.run('DELETE FROM delivery WHERE event = ?', number);
		this.#deliver(number, subject, type, due_ms);
	}

	#remove(number: number): void {
		this.#file.run('DELETE FROM delivery WHERE event = ?', number);
		this.#file.run('DELETE FROM event WHERE number = ?', number);
	}

	#insert(
		subject: string,
		type: Event['type'],
		data: EventData,
		nowMs: number,
		dueMs: number,
	): number {
		const id = `evt_${randomBytes(16).toString('hex')}`;
		const { number } = this.#file.get<{ number: number }>(
			`INSERT INTO event (id, type, subject, born_ms, due_ms, data)
			VALUES (?, ?, ?, ?, ?, ?) RETURNING number`,
			...[id, type, subject, nowMs, dueMs, JSON.stringify(data)],
		)!;
		if (type !== TEST) this.#deliver(number, subject, type, dueMs);
		return number;
	}

	/** Adds a delivery for each webhook that wants a type. It waits for earlier ones of the same subject. */
	#deliver(number: number, subject: string, type: Event['type'], dueMs: number): void {
		this.#file.run(
			`INSERT INTO delivery (webhook, event, subject, state, step, attempts, planned_ms, next_ms)
			SELECT id, ?1, ?2, 'waiting', 0, 0, ?3, CASE WHEN EXISTS (
				SELECT 1 FROM delivery AS d
				WHERE d.webhook = w.id AND d.subject = ?2 AND d.state = 'waiting'
			) THEN NULL ELSE ?3 END
			FROM webhook AS w WHERE EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = ?4)`,
			...[number, subject, dueMs, type],
		);
	}
}

function asEvent({ id, type, born_ms, data }: EventRow): Event {
	return { id, type, timestamp: new Date(born_ms).toISOString(), data: JSON.parse(data) };
}
