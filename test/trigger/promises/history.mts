// What a history is: the service's manners, what happens between polls, and the polls.
import type { Manners } from './service.mts';
import type { PollPlan, Setting } from './stage.mts';
import type { FaultKind } from './troubles.mts';

export type Event =
	'lifelogCreatedOrUpdated' | 'lifelogCreated' | 'lifelogUpdated' | 'scheduledChatCreated';

/** The trigger's parameters and its credential. */
export interface Settings {
	event: Event;
	isStarred?: boolean;
	/** Chats: the `globalPromptId`; '' for all. */
	prompt: string;
	lookbackDays: number;
	settleMinutes: number;
	timezone: string;
	credential: string;
}

/** How a chat goes on after its question. */
export interface Script {
	/** An answer; one after tool calls; tool calls with a text beside them, and no more; nothing. */
	kind: 'plain' | 'tools' | 'beside' | 'never';
	/** Minutes to the first words, and from each step to the next. */
	after: number;
	step: number;
	/** Whether the results of the tools appear in the message that called them. */
	isInPlace: boolean;
}

export type Aim =
	| { of: 'all' | 'lists' | 'reads' }
	| { of: 'day'; daysAgo: number }
	| { of: 'entry'; which: number };

export type Action =
	| { do: 'create'; minutesAgo: number }
	| { do: 'createMany'; count: number; daysAgo: number }
	| { do: 'uploadLate'; daysAgo: number }
	| { do: 'update'; which: number; times: number }
	| { do: 'updateAll' }
	/** From now on the last so many lifelogs change before each poll. */
	| { do: 'restless'; count: number }
	| { do: 'move'; which: number | 'oldest'; daysAgo: number; touches: boolean }
	| { do: 'star'; which: number; touches: boolean }
	| { do: 'delete'; which: number }
	| { do: 'hide'; which: number }
	| { do: 'ask'; daysAgo: number; prompt: string; script: Script }
	| { do: 'askMany'; count: number; daysAgo: number; script: Script }
	| { do: 'set'; settings: Partial<Settings> }
	/** A clock goes ahead (or back) by so much, for one poll or for good; null: no `Date` is sent. */
	| { do: 'clock'; of: 'service' | 'n8n'; byMs: number | null; isLasting: boolean }
	/** Trouble for so many minutes, or for good (null). */
	| { do: 'trouble'; aim: Aim; kind: FaultKind; minutes: number | null };

/** One poll, and what happens while it is under way. */
export interface Plan extends PollPlan {
	meanwhile?: { at: number; action: Action };
}

export interface Step {
	waitMs: number;
	actions: Action[];
	/** n8n is stopped and started again, or the workflow published again, before the poll. */
	restarts?: 'n8n' | 'workflow';
	poll: Plan;
}

export interface History extends Setting {
	settings: Settings;
	/** Lifelogs there are at the beginning. */
	existing: Array<{ daysAgo: number; minute: number; starred: boolean; unchangedDays: number }>;
	/** Further ones, so many a day, on so many days. */
	crowd: { count: number; days: number };
	/** Chats there are at the beginning. */
	chats: Array<{ daysAgo: number; script: Script }>;
	first: Plan;
	steps: Step[];
}

/** A service that does everything right. */
export const GOOD_MANNERS: Manners = {
	maxPageSize: 100,
	latencyMs: 0,
	hasOffsets: true,
	hasUpdatedAt: true,
	hasDate: true,
	others: 0,
};

export const DEFAULT_SETTINGS: Settings = {
	event: 'lifelogCreatedOrUpdated',
	prompt: '',
	lookbackDays: 7,
	settleMinutes: 0,
	timezone: 'UTC',
	credential: '1',
};

/** A history in which nothing happens, but for what is given. */
export function historyOf(given: Partial<History>): History {
	return {
		engine: 'memory',
		manners: GOOD_MANNERS,
		begin: Date.UTC(2026, 2, 1, 12),
		aheadMs: 0,
		settings: DEFAULT_SETTINGS,
		existing: [],
		crowd: { count: 0, days: 0 },
		chats: [],
		first: { faults: [] },
		steps: [],
		...given,
	};
}
