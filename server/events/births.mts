// Creates events by comparing the served data with the last known state. Any program may have changed it.
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { sourceOf } from '../archive/sourceOf.mts';
import type { Births, LifelogState, LifelogStates } from '../index/schema.mts';
import { DAY_MS } from '../util/durations.mts';
import { asError } from '../util/errors.mts';
import { reasonOf } from '../util/failures.mts';
import type { EventFile } from './eventFile.mts';
import type { EventLog } from './eventLog.mts';
import type { EventData, EventType } from './types.mts';

/** A recording that is done or has failed. */
export interface EndedRecording {
	id: string;
	status: 'done' | 'failed';
	attempts: number;
	startTime: string | null;
}

interface BirthsOptions {
	file: EventFile;
	log: EventLog;
	/** Called after new events. */
	onBorn: () => void;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

type Kind = 'lifelog' | 'recording';

/** Data from the service or an import counts as new for this time. The first archive has years of it. */
const NEW_MS = 7 * DAY_MS;
/**
 * Data created here always counts as new, unless it comes with a copied archive. Events are kept as
 * long.
 */
const NEW_HERE_MS = 30 * DAY_MS;
const DELETED = 'deleted';
/** Lifelogs per batch, so that requests don't have to wait. */
const BATCH = 5;
const PAGE = 500;
/** Delay after a failure, such as a full disk. */
export const AGAIN_MS = 4_000;

/** The known state of lifelogs and recordings. Creates events for changes. */
export class EventBirths implements Births {
	readonly #options: BirthsOptions;
	#failedAt: number | undefined;
	#told = '';

	constructor(options: BirthsOptions) {
		this.#options = options;
	}

	get isBehind(): boolean {
		return this.#failedAt !== undefined && performance.now() - this.#failedAt > AGAIN_MS;
	}

	async compareAll(served: LifelogStates): Promise<void> {
		await this.#safely(async () => {
			const isFirst = this.#isFirst('lifelog');
			let last = '';
			for (;;) {
				const states = served.lifelogStates(last, PAGE);
				if (states.length === 0) break;
				const changed = this.#changedOf(states);
				if (isFirst) this.#learnAll(changed);
				else await this.#inBatches(changed, (state) => this.#take(served, state));
				last = states.at(-1)!.id;
				await yieldToRequests();
			}
			this.#begin('lifelog');
			this.#failedAt = undefined;
			this.#told = '';
		});
	}

	async compare(served: LifelogStates, ids: string[]): Promise<void> {
		// All of them are compared later.
		if (this.#failedAt !== undefined) return;
		await this.#safely(async () => {
			await this.#inBatches(ids, (id) => {
				const state = served.lifelogState(id);
				if (state) this.#take(served, state);
			});
		});
	}

	/** Compares the recordings that are done or have failed. Never throws. Returns whether it succeeded. */
	compareRecordings(ended: () => EndedRecording[]): boolean {
		const { file, now, onBorn } = this.#options;
		try {
			file.transaction(() => {
				const isFirst = this.#isFirst('recording');
				for (const { id, status, attempts, startTime } of ended()) {
					const state = `${status} ${attempts}`;
					if (this.#known('recording', id) === state) continue;
					this.#learn('recording', id, state);
					if (isFirst) continue;
					const type = status === 'done' ? 'recording.completed' : 'recording.failed';
					const updatedAt = new Date(now()).toISOString();
					const data = { id, startTime, updatedAt, source: 'recording' as const };
					this.#bear(`recording ${id}`, type, data);
				}
				this.#begin('recording');
			});
			onBorn();
			return true;
		} catch (error) {
			this.#tell(error);
			return false;
		}
	}

	/** The changed lifelogs of a page, in the order of IDs. */
	#changedOf(states: LifelogState[]): LifelogState[] {
		const rows = this.#options.file.all<{ id: string; state: string }>(
			`SELECT id, state FROM known WHERE kind = 'lifelog' AND id BETWEEN ? AND ?`,
			states[0].id,
			states.at(-1)!.id,
		);
		const known = new Map(rows.map(({ id, state }) => [id, state]));
		return states.filter(({ id, hash }) => known.get(id) !== (hash ?? DELETED));
	}

	/** Saves a lifelog's new state, and creates an event if it has changed. */
	#take(served: LifelogStates, { id, hash }: LifelogState): void {
		const before = this.#known('lifelog', id);
		if (before === (hash ?? DELETED)) return;
		this.#learn('lifelog', id, hash ?? DELETED);
		const nowMs = this.#options.now();
		const source = sourceOf(id);
		if (hash === null) {
			// Nobody was told that it existed.
			if (before === undefined) return;
			const startTime = served.deletedStart(id) ?? null;
			const updatedAt = new Date(nowMs).toISOString();
			return this.#bear(`lifelog ${id}`, 'lifelog.deleted', { id, startTime, updatedAt, source });
		}
		const head = served.lifelogHead(id);
		if (!head) return;
		const { startTime, updatedAt } = head;
		const data = { id, startTime, updatedAt, source };
		const isKnown = before !== undefined && before !== DELETED;
		if (!isKnown && !isNew(data, nowMs)) return;
		this.#bear(`lifelog ${id}`, isKnown ? 'lifelog.updated' : 'lifelog.created', data);
	}

	#bear(subject: string, type: EventType, data: EventData): void {
		this.#options.log.add(subject, type, data);
	}

	#known(kind: Kind, id: string): string | undefined {
		const sql = 'SELECT state FROM known WHERE kind = ? AND id = ?';
		return this.#options.file.get<{ state: string }>(sql, kind, id)?.state;
	}

	#learn(kind: Kind, id: string, state: string): void {
		const sql = 'INSERT OR REPLACE INTO known (kind, id, state) VALUES (?, ?, ?)';
		this.#options.file.run(sql, kind, id, state);
	}

	/** Saves states without creating events. */
	#learnAll(states: LifelogState[]): void {
		this.#options.file.transaction(() => {
			for (const { id, hash } of states) this.#learn('lifelog', id, hash ?? DELETED);
		});
	}

	/** Whether there is no known state of a kind yet. Nothing counts as new then. */
	#isFirst(kind: Kind): boolean {
		return this.#options.file.get('SELECT 1 FROM begun WHERE kind = ?', kind) === undefined;
	}

	#begin(kind: Kind): void {
		this.#options.file.run('INSERT OR IGNORE INTO begun (kind) VALUES (?)', kind);
	}

	async #inBatches<Each>(all: Each[], take: (one: Each) => void): Promise<void> {
		for (let at = 0; at < all.length; at += BATCH) {
			if (at > 0) await yieldToRequests();
			this.#options.file.transaction(() => all.slice(at, at + BATCH).forEach(take));
		}
		if (all.length > 0) this.#options.onBorn();
	}

	async #safely(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			// Saving a lifelog must succeed without its event. Everything is compared again later.
			this.#failedAt = performance.now();
			this.#tell(error);
		}
	}

	#tell(thrown: unknown): void {
		const error = asError(thrown);
		const problem = `Events wait: ${error.cause ? error.message : reasonOf(error)}`;
		if (problem !== this.#told) this.#options.warn(problem);
		this.#told = problem;
	}
}

function isNew(
	{ startTime, updatedAt, source }: { startTime: string; updatedAt: string; source: string },
	nowMs: number,
): boolean {
	if (source === 'service') return Date.parse(startTime) >= nowMs - NEW_MS;
	return Date.parse(updatedAt) >= nowMs - NEW_HERE_MS;
}
