import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { SlidingLog } from '../http/slidingLog.mts';
import type { Audio, ChatFilter, LifelogFilter, Slice, Store } from '../index/store.mts';
import { generateChats } from './data/chats.mts';
import { generateLifelogs } from './data/lifelogs.mts';
import { createFaker } from './data/random.mts';
import type { StoredChat } from './data/storedChat.mts';
import { changeDialect, defaultDialect, type Dialect, type DialectChange } from './dialect.mts';
import { Entries } from './entries.mts';
import type { Fault } from './faults.mts';
import type { LoggedRequest } from './requestLog.mts';
import { recordingOf } from './recordings.mts';
import { Search } from './search.mts';

/** Options of generating data. */
export interface DataOptions {
	seed?: number;
	/** Fixes the clock at this ISO time; by default real time. */
	now?: string;
	/** Days to generate, including today. */
	days?: number;
	/** Exact number of lifelogs per day, instead of 40 to 50. */
	perDay?: number;
	/** Exact total number of lifelogs, spread evenly over the days. */
	lifelogs?: number;
	/** Exact size of each lifelog's Markdown in bytes. */
	markdownBytes?: number;
	/** Generates no data. */
	empty?: boolean;
}

/**
 * Data and state of the sandbox. Timestamps are UTC ISO strings with milliseconds, so they compare
 * as strings.
 */
export class World implements Store {
	readonly lifelogs = new Entries<Lifelog>(({ startTime, id }) => ({ time: startTime, id }));
	readonly chats = new Entries<StoredChat>(({ createdAt, id }) => ({ time: createdAt, id }));
	readonly #search = new Search();
	readonly rateLimits = new SlidingLog();
	readonly requests: LoggedRequest[] = [];
	faults: Fault[] = [];
	dialect: Dialect = defaultDialect;
	/** The fixed time in milliseconds; undefined for real time. */
	fixedNow: number | undefined;

	/** The sandbox's time in milliseconds. */
	now(): number {
		return this.fixedNow ?? Date.now();
	}

	/** Generates new data, and clears requests, faults, used rate limits and dialect. */
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
		this.#search.clear();
		if (empty) return;
		const faker = createFaker(seed);
		const period = { now: this.now(), days };
		const counts = { perDay, total: lifelogs, markdownBytes };
		for (const lifelog of generateLifelogs(faker, { ...period, ...counts })) {
			this.saveLifelog(lifelog);
		}
		for (const chat of generateChats(faker, period, this.lifelogs.list())) this.chats.put(chat);
	}

	/** Adds a lifelog, or replaces the one with its ID. */
	saveLifelog(lifelog: Lifelog): void {
		this.lifelogs.put(lifelog);
		this.#search.put(lifelog);
	}

	/** Removes a lifelog and its audio; false if it doesn't exist. */
	deleteLifelog(id: string): boolean {
		this.#search.delete(id);
		return this.lifelogs.delete(id);
	}

	listLifelogs(filter: LifelogFilter, slice: Slice): Lifelog[] {
		return this.lifelogs.slice(slice, isIn(filter));
	}

	searchLifelogs(search: string, filter: LifelogFilter, limit: number): Lifelog[] {
		return this.#search
			.find(search, filter, limit)
			.map((id) => this.lifelogs.get(id))
			.filter((lifelog) => lifelog !== undefined);
	}

	getLifelog(id: string): Lifelog | undefined {
		return this.lifelogs.get(id);
	}

	listChats({ isScheduled, globalPromptId }: ChatFilter, slice: Slice): Chat[] {
		return this.chats
			.slice(
				slice,
				(chat) =>
					chat.owner === 'self' &&
					(isScheduled === undefined || (chat.globalPromptId !== null) === isScheduled) &&
					(globalPromptId === undefined || chat.globalPromptId === globalPromptId),
			)
			.map(answered);
	}

	getChat(id: string): Chat | undefined {
		const chat = this.chats.get(id);
		const isReadable = chat && (chat.owner === 'self' || chat.visibility === 'public');
		return isReadable ? answered(chat) : undefined;
	}

	deleteChat(id: string): boolean {
		return this.chats.get(id)?.owner === 'self' && this.chats.delete(id);
	}

	getAudio(startMs: number, endMs: number): Audio | undefined {
		return recordingOf(this.lifelogs.list(), startMs, endMs);
	}
}

function isIn({ from, before, isStarred }: LifelogFilter): (lifelog: Lifelog) => boolean {
	return (lifelog) =>
		(from === undefined || lifelog.startTime >= from) &&
		(before === undefined || lifelog.startTime < before) &&
		(isStarred === undefined || lifelog.isStarred === isStarred);
}

// JSON omits undefined fields.
const hidden = { owner: undefined, globalPromptId: undefined };
const answered = (chat: StoredChat): Chat => Object.assign({}, chat, hidden);
