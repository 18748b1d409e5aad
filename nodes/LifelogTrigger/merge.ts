import type { INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { isNews } from './compare';
import type { Reach } from './days';
import { align, forget, isDueAgain, isStillDue, troubled } from './days';
import type { KnownDay, KnownEntry, State, Version } from './state';

/** A list that has not ended after so many parts may have no end: it is read as if it failed. */
const MOST_PARTS = 8;

/** What a poll found out about one entry. */
export interface Outcome {
	id: string;
	/** The latest version it saw; undefined when it saw none. */
	version?: Version;
	/** What is to be recorded; undefined when the entry is gone. */
	entry?: KnownEntry;
	/** What is to be emitted, and when the entry begins (epoch ms). */
	event?: { item: INodeExecutionData; start: number };
}

/** What a poll made of the list of a day. */
export interface DayRead {
	/** Whether it read it to its end. */
	isComplete: boolean;
	/** Where it goes on. */
	cursor?: string;
	/** Whether it, or an entry in it, could not be read. */
	failed: boolean;
}

/** What a poll found out. */
export interface Findings {
	/** The days it tried; by a clock that was wrong, maybe others than those of its look-back. */
	days: Map<string, DayRead>;
	outcomes: Outcome[];
	/** Chats: where the list goes on. */
	cursor?: string;
	/** What could not be read. */
	failures: NodeApiError[];
	/** Whether nothing could be. */
	isInVain: boolean;
}

/**
 * Puts what a poll found into the state as it is now. An entry whose record another poll has
 * changed meanwhile is left to the next poll: nothing of it is emitted or recorded here.
 *
 * @param before The state the poll began with.
 * @param current The state now: the same, or what an overlapping poll has made of it.
 * @returns The new state, and the items to emit, ordered by start, then ID.
 */
export function merge(
	before: State,
	current: State,
	findings: Findings,
	reach: Reach,
): { state: State; items: INodeExecutionData[] } {
	const state = align(current, reach);
	state.polls = current.polls + 1;
	state.cursor = findings.cursor;
	const events: Array<{ id: string; start: number; item: INodeExecutionData }> = [];
	for (const { id, version, entry, event } of findings.outcomes) {
		const now = current.entries.get(id);
		if (isUntouched(before.entries.get(id), now)) {
			if (entry) file(state, id, entry, reach);
			else state.entries.delete(id);
			if (event) events.push({ id, ...event });
		} else if (now && version && isNews(now, version)) {
			file(state, id, { ...now, pending: true }, reach);
		}
	}
	for (const [day, read] of findings.days) {
		const known = state.days.get(day);
		if (known) state.days.set(day, afterRead(day, known, read, current, reach));
	}
	events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
	return { state: forget(state, reach), items: events.map(({ item }) => item) };
}

function afterRead(
	day: string,
	known: KnownDay,
	{ isComplete, cursor, failed }: DayRead,
	current: State,
	reach: Reach,
): KnownDay {
	// A day that was read but for an entry is read as ever; that it failed is said less and less often.
	const isSaid = isComplete && !isDueAgain(known.trouble, current, reach);
	const again = isSaid ? known.trouble : troubled(known.trouble, current, reach);
	const parts = cursor === undefined ? undefined : (known.parts ?? 0) + 1;
	const isEndless = parts !== undefined && parts > MOST_PARTS;
	const trouble = failed || isEndless ? again : undefined;
	if (!isComplete) return { ...known, cursor, parts, trouble };
	const due = isStillDue(day, reach) ? true : undefined;
	return { read: current.polls + 1, due, left: known.left, leftAt: known.leftAt, trouble };
}

/**
 * Whether no other poll has reported or dropped an entry since; one still to be reported is at no
 * version, like an unknown one.
 */
function isUntouched(before: KnownEntry | undefined, now: KnownEntry | undefined): boolean {
	if (before && !now) return false;
	if (before?.incomplete !== now?.incomplete) return false;
	if (before?.at === undefined || now?.at === undefined) return before?.at === now?.at;
	return before.at === now.at && before.starred === now.starred && before.flips === now.flips;
}

/**
 * A day outside the look-back that was never read counts from now on, like an added one; and its
 * entries stay known for as long as if it had just left.
 */
function file(state: State, id: string, entry: KnownEntry, { began }: Reach): void {
	const { day } = entry;
	const known = state.days.get(day) ?? { read: 0, ...(day < state.from && { since: began }) };
	state.days.set(day, { ...known, left: undefined, leftAt: undefined });
	state.entries.set(id, entry);
}
