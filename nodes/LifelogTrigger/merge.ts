import type { INodeExecutionData } from 'n8n-workflow';

import { isNews } from './compare';
import type { Reach } from './days';
import { align, forget, lookback, tickOf } from './days';
import type { Entry, State, Version } from './state';

/** What a poll found out about one entry. */
export interface Outcome {
	id: string;
	/** The latest version it saw; undefined when it saw none. */
	version?: Version;
	/** What is to be recorded; undefined when the entry is gone. */
	entry?: Entry;
	/** What is to be emitted, and when the entry begins (epoch ms). */
	event?: { item: INodeExecutionData; start: number };
}

/** What a poll found out. */
export interface Findings {
	/** The days it read, in this order; by a clock that was wrong, maybe others than those watched. */
	read: string[];
	outcomes: Outcome[];
	pageLimit?: number;
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
	if (findings.pageLimit !== undefined) state.pageLimit = findings.pageLimit;
	const events: Array<{ id: string; start: number; item: INodeExecutionData }> = [];
	for (const { id, version, entry, event } of findings.outcomes) {
		const now = current.entries.get(id);
		if (isUntouched(before.entries.get(id), now)) {
			if (entry) file(state, id, entry, reach);
			else state.entries.delete(id);
			if (event) events.push({ id, ...event });
		} else if (now && version && isNews(now, version)) {
			file(state, id, { ...now, pending: now.pending ?? 0 }, reach);
		}
	}
	const tick = tickOf(state, reach);
	const days = lookback(reach);
	const read = findings.read.filter((day) => state.days.has(day) || days.includes(day));
	read.forEach((day, index) => state.days.set(day, { read: tick + index }));
	events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
	return { state: forget(state, reach, tick), items: events.map(({ item }) => item) };
}

/**
 * Whether no other poll has reported or dropped an entry since; one still to be reported is at no
 * version, like an unknown one.
 */
function isUntouched(before: Entry | undefined, now: Entry | undefined): boolean {
	if (before && !now) return false;
	if (before?.at === undefined || now?.at === undefined) return before?.at === now?.at;
	return before.at === now.at && before.starred === now.starred && before.flips === now.flips;
}

/**
 * A day outside the look-back that was never read counts from now on, like an added one; and its
 * entries stay known for as long as if it had just left.
 */
function file(state: State, id: string, entry: Entry, { now }: Reach): void {
	const { day } = entry;
	const known = state.days.get(day);
	if (day >= state.from) state.days.set(day, known ?? { read: 0 });
	else state.days.set(day, { ...(known ?? { read: 0, since: now }), left: undefined });
	state.entries.set(id, entry);
}
