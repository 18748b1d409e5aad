// What becomes of the state in a poll: it gets the poll's days, what was found, and is pruned.
import type { INodeExecutionData } from 'n8n-workflow';

import { DAY_MS, utcDay } from '../../../lifelog/times.ts';
import type { Watch } from '../parameters';
import { dueDays, lookback, MAX_ABSENCE_DAYS, pendingDays } from './days';
import type { Found, Outcome, PollWindow, State } from './types';

const DAYS_KEPT_BEYOND_LOOKBACK = 10;

export function newState(watch: Watch, window: PollWindow): State {
	const [from] = lookback(window);
	return { ...watch, since: window.began, from, polls: 0, days: new Map(), entries: new Map() };
}

/** A large page is tried again after a day, by n8n's clock: no other is known yet. */
export function pageLimitOf(state: State | undefined): State['pageLimit'] {
	const limit = state?.pageLimit;
	return limit && Math.abs(Date.now() - limit.since) < DAY_MS ? limit : undefined;
}

/** The state with the days of this poll: every day since the last one known is due. */
export function advanceWindow(state: State, window: PollWindow): State {
	const days = new Map(state.days);
	const watched = lookback(window);
	// What was there on days that a larger look-back, or a slow clock, adds.
	const since = Math.max(window.began, state.polledAt ?? 0);
	for (const day of watched) {
		if (day < state.from) days.set(day, { read: 0, due: true, since });
	}
	const from = watched[0] < state.from ? watched[0] : state.from;
	for (let ago = MAX_ABSENCE_DAYS - 1; ago >= 0; ago--) {
		const day = utcDay(window.now, -ago);
		const known = days.get(day);
		if (day >= from && !known?.read) days.set(day, { read: 0, ...known, due: true });
	}
	return { ...state, from, days };
}

/** Puts what a poll found into the state. @returns The items by start, then ID. */
export function merge(before: State, { days, outcomes }: Found, window: PollWindow) {
	const state = { ...advanceWindow(before, window), entries: new Map(before.entries) };
	for (const [day, read] of days) {
		const known = state.days.get(day);
		if (known) state.days.set(day, { ...known, ...read });
	}
	for (const outcome of outcomes) record(state, outcome, window);
	state.polls++;
	prune(state, window);
	state.polledAt = window.now;
	return { state, items: itemsOf(outcomes) };
}

function record(state: State, { id, entry }: Outcome, window: PollWindow): void {
	state.entries.delete(id);
	if (!entry) return;
	// A day outside the look-back that was never read counts from now on, like an added one.
	const since = entry.day < state.from ? window.began : undefined;
	const known = state.days.get(entry.day) ?? { read: 0, since };
	state.days.set(entry.day, { ...known, left: undefined });
	state.entries.set(id, entry);
}

function itemsOf(outcomes: Outcome[]): INodeExecutionData[] {
	const events = outcomes.flatMap(({ id, event }) => (event ? [{ id, ...event }] : []));
	events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
	return events.map(({ item }) => item);
}

/**
 * Deletes days that left the look-back ten days ago, once all others were read since: what was moved
 * is known there by then. It goes by two polls' clocks, so one that is wrong once deletes nothing.
 */
function prune(state: State, window: PollWindow): void {
	if (state.polledAt === undefined || window.now < state.polledAt) return;
	const before = { ...window, now: state.polledAt };
	const watched = lookback(before);
	const [firstWatched] = watched;
	const firstKept = utcDay(firstWatched, -DAYS_KEPT_BEYOND_LOOKBACK);
	const tomorrow = utcDay(window.now, 1);
	const oldestRead = Math.min(...watched.map((day) => state.days.get(day)?.read ?? 0));
	const needed = new Set([...dueDays(state, before), ...pendingDays(state, () => true)]);
	const filled = new Set([...state.entries.values()].map(({ day }) => day));
	for (const [day, { left = state.polls, ...known }] of [...state.days]) {
		if (day >= firstWatched || needed.has(day)) {
			const isEmptyAndToCome = day > tomorrow && !filled.has(day);
			if (isEmptyAndToCome) state.days.delete(day);
			else state.days.set(day, known);
		} else if (day < firstKept && oldestRead >= left) {
			state.days.delete(day);
			if (day >= state.from) state.from = utcDay(day, 1);
		} else {
			state.days.set(day, { ...known, left });
		}
	}
	for (const [id, { day }] of state.entries) if (!state.days.has(day)) state.entries.delete(id);
}
