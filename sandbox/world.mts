import type { Chat, Lifelog } from '../nodes/shared/api-types.ts';
import { generateChats } from './data/chats.mts';
import { generateLifelogs } from './data/lifelogs.mts';
import { createFaker } from './data/random.mts';
import { changeDialect, defaultDialect, type Dialect, type DialectChange } from './dialect.mts';
import type { Fault } from './faults.mts';
import type { LoggedRequest } from './request-log.mts';
import { SearchIndex } from './search.mts';
import { SlidingLog } from './rate-limit.mts';
import { Store } from './store.mts';

/** A chat and what the service knows about it but does not answer. */
export interface StoredChat extends Chat {
	owner: 'self' | 'other';
	/** The scheduled prompt that generated it, or null. */
	globalPromptId: string | null;
}

/** What the data is generated from. */
export interface DataOptions {
	seed?: number;
	/** Fixes the clock at this ISO time; without it the clock is the real one. */
	now?: string;
	/** Days to generate, the last one being today. */
	days?: number;
	/** Exactly this many lifelogs a day, instead of 40 to 50. */
	perDay?: number;
	/** Exactly this many lifelogs in total, spread evenly over the days. */
	lifelogs?: number;
	/** Exactly this many bytes of markdown in each lifelog. */
	markdownBytes?: number;
	/** No data at all. */
	empty?: boolean;
}

/**
 * Everything the sandbox serves and remembers. Stored timestamps are UTC ISO strings with
 * milliseconds, so they compare as strings.
 */
export class World {
	readonly lifelogs = new Store<Lifelog>(({ startTime, id }) => ({ time: startTime, id }));
	readonly chats = new Store<StoredChat>(({ createdAt, id }) => ({ time: createdAt, id }));
	readonly searchIndex = new SearchIndex();
	readonly rateLimits = new SlidingLog();
	readonly requests: LoggedRequest[] = [];
	faults: Fault[] = [];
	dialect: Dialect = defaultDialect;
	/** The fixed time in milliseconds, or undefined while the clock is the real one. */
	fixedNow: number | undefined;

	/** The sandbox's time in milliseconds. */
	now(): number {
		return this.fixedNow ?? Date.now();
	}

	/** Generates all data anew and forgets requests, faults, used rate limits and dialect. */
	reset(
		{ seed = 1, now, days = 31, perDay, lifelogs, markdownBytes, empty = false }: DataOptions,
		dialect: DialectChange = {},
	): void {
		this.fixedNow = now === undefined ? undefined : Date.parse(now);
		this.dialect = changeDialect(defaultDialect, dialect);
		this.faults = [];
		this.requests.length = 0;
		this.rateLimits.clear();
		this.lifelogs.clear();
		this.chats.clear();
		this.searchIndex.clear();
		if (empty) return;
		const faker = createFaker(seed);
		const period = { now: this.now(), days };
		const counts = { perDay, total: lifelogs, markdownBytes };
		for (const lifelog of generateLifelogs(faker, { ...period, ...counts })) {
			this.saveLifelog(lifelog);
		}
		for (const chat of generateChats(faker, period, this.lifelogs.list())) this.chats.put(chat);
	}

	/** Adds a lifelog or replaces the one with its id. */
	saveLifelog(lifelog: Lifelog): void {
		this.lifelogs.put(lifelog);
		this.searchIndex.put(lifelog);
	}

	/** Removes a lifelog, and with it its audio; false when there is none. */
	deleteLifelog(id: string): boolean {
		this.searchIndex.delete(id);
		return this.lifelogs.delete(id);
	}
}
