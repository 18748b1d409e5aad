// The state: saved small, because n8n keeps it with the workflow, and pruned.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { utcDay } from '../../../lifelog/times.ts';
import { isObject } from '../../../lifelog/names.ts';
import type { Watch } from '../parameters';
import type { Found, KnownDay, KnownEntry, PollWindow, State } from './types';
import { lookback } from './types';

const VERSION = 3;
export const MAX_ABSENCE_DAYS = 31;
const DAYS_KEPT_BEYOND_LOOKBACK = 10;

type Check = (value: unknown) => boolean;
const isNumber: Check = (value) => typeof value === 'number' && value >= 0 && value <= 8e15; // later is no date
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isDay = (value: unknown) =>
	/^\d{4}-\d{2}-\d{2}$/.test(String(value)) && !isNaN(Date.parse(String(value)));
const mapOf = (isKey: Check, isValue: Check) => (value: unknown) =>
	isObject(value) && Object.keys(value).every((key) => isKey(key) && isValue(value[key]));
const optional = (check: Check) => (value: unknown) => value === undefined || check(value);
const shape =
	(...fields: Array<[check: Check, ...names: string[]]>) =>
	(value: unknown) =>
		isObject(value) &&
		fields.every(([check, ...names]) => names.every((name) => check(value[name])));

const isRetry = shape([isNumber, 'times', 'poll', 'at', 'since']);
const isSize = shape([isNumber, 'size', 'since']);
const isEntry = shape(
	[optional(isNumber), 'at', 'starToggles'],
	[optional(isFlag), 'starred', 'pending', 'incomplete'],
	[optional(isRetry), 'retry'],
	[optional(isSize), 'quiet'],
);
const isSavedDay = shape(
	[isNumber, 'read'],
	[optional(isNumber), 'since', 'left', 'parts'],
	[optional(isFlag), 'due'],
	[optional(isText), 'cursor'],
	[optional(isRetry), 'retry'],
	[mapOf(isText, (entry) => isNumber(entry) || isEntry(entry)), 'entries'],
);
export const isSavedState = shape(
	[(version) => version === VERSION, 'version'],
	[(kind) => kind === 'lifelogs' || kind === 'chats', 'kind'],
	[isText, 'credential', 'prompt'],
	[isNumber, 'since', 'polls'],
	[optional(isNumber), 'polledAt'],
	[isDay, 'from'],
	[optional(isSize), 'pageLimit'],
	[mapOf(isDay, isSavedDay), 'days'],
);

/** An entry as it is saved: `at` if nothing else is set, else the fields that are. */
type SavedEntry = number | Partial<KnownEntry>;
type SavedState = Omit<State, 'days'> & {
	days: Record<string, KnownDay & { entries: Record<string, SavedEntry> }>;
};

export function saveState({ days, entries, ...rest }: State): IDataObject {
	const byDay = new Map([...days.keys()].map((day) => [day, [] as Array<[string, SavedEntry]>]));
	for (const [id, entry] of entries) byDay.get(entry.day)?.push([id, saveEntry(entry)]);
	const saved = [...days].map(([day, known]) => {
		return [day, { ...known, entries: Object.fromEntries(byDay.get(day)!) }] as const;
	});
	return { version: VERSION, ...rest, days: Object.fromEntries(saved) } as unknown as IDataObject;
}

function saveEntry(entry: KnownEntry): SavedEntry {
	const names = Object.keys(entry) as Array<keyof KnownEntry>;
	const set = names.filter((name) => name === 'at' || (name !== 'day' && entry[name]));
	if (set.length === 1 && entry.at !== undefined) return entry.at;
	return Object.fromEntries(set.map((name) => [name, entry[name]]));
}

export function newState(watch: Watch, window: PollWindow): State {
	const [from] = lookback(window);
	return { ...watch, since: window.began, from, polls: 0, days: new Map(), entries: new Map() };
}

/** @returns The state that was saved; undefined for one of another version, shape or watch. */
export function loadState(value: unknown, watch: Watch): State | undefined {
	if (!isSavedState(value)) return undefined;
	const saved = value as SavedState;
	const watched = ({ kind, credential, prompt }: Watch) => `${kind} ${credential} ${prompt}`;
	if (watched(saved) !== watched(watch)) return undefined;
	const state: State = { ...saved, days: new Map(), entries: new Map() };
	for (const [day, { entries, ...known }] of Object.entries(saved.days)) {
		state.days.set(day, known);
		for (const [id, entry] of Object.entries(entries)) {
			const at = typeof entry === 'number' ? entry : undefined;
			const named = { at, starred: false, starToggles: 0, day };
			state.entries.set(id, typeof entry === 'number' ? named : { ...named, ...entry, day });
		}
	}
	return state;
}

export function dueDays({ days }: State, { now }: PollWindow): string[] {
	const oldest = utcDay(now, 1 - MAX_ABSENCE_DAYS);
	return [...days].filter(([day, { due }]) => due && day >= oldest).map(([day]) => day);
}

export function pendingDays(state: State, mayTry: (entry: KnownEntry) => boolean): string[] {
	const pending = [...state.entries.values()].filter((entry) => entry.pending && mayTry(entry));
	return pending.map(({ day }) => day);
}

/** What to record of a day that was read. It is due until a day after its end, at the last poll too. */
export function asRead(day: string, { polls, polledAt }: State, { now }: PollWindow) {
	const over = utcDay(Math.min(now, polledAt ?? now), -2);
	return { read: polls + 1, due: day > over || undefined, since: undefined };
}

/** When a day began to count; undefined if every unknown entry of it is new (_created-once_). */
export function sinceOf({ days, since }: State, day: string): number | undefined {
	const known = days.get(day);
	if (known && known.read > 0) return undefined;
	return known?.since ?? (day <= utcDay(since) ? since : undefined);
}

/** The state with the days of this poll: every day since the last one known is due. */
export function advanceWindow(state: State, window: PollWindow): State {
	const next = { ...state, days: new Map(state.days) };
	// What was there on days that a larger look-back, or a slow clock, adds.
	const since = Math.max(window.began, state.polledAt ?? 0);
	const days = lookback(window);
	for (const day of days) if (day < state.from) next.days.set(day, { read: 0, due: true, since });
	if (days[0] < state.from) next.from = days[0];
	for (let ago = MAX_ABSENCE_DAYS - 1; ago >= 0; ago--) {
		const day = utcDay(window.now, -ago);
		const known = next.days.get(day);
		if (day >= next.from && !known?.read) next.days.set(day, { read: 0, ...known, due: true });
	}
	return next;
}

/**
 * Deletes days that left the look-back ten days ago, once all others were read since: what was moved
 * is known there by then. It goes by two polls' clocks, so one that is wrong once deletes nothing.
 */
function prune(state: State, { now, ...window }: PollWindow): void {
	const before = { ...window, now: state.polledAt ?? Infinity };
	if (now < before.now) return;
	const days = lookback(before);
	const oldestRead = Math.min(...days.map((day) => state.days.get(day)?.read ?? 0));
	const needed = new Set([...dueDays(state, before), ...pendingDays(state, () => true)]);
	const [tomorrow, oldest] = [utcDay(now, 1), utcDay(days[0], -DAYS_KEPT_BEYOND_LOOKBACK)];
	const isFilled = (day: string) => [...state.entries.values()].some((entry) => entry.day === day);
	for (const [day, { left = state.polls, ...known }] of [...state.days]) {
		const isInside = day >= days[0] || needed.has(day);
		const isToCome = day > tomorrow && !isFilled(day);
		const isOld = day < oldest && oldestRead >= left;
		if (isInside ? !isToCome : !isOld) state.days.set(day, isInside ? known : { ...known, left });
		else state.days.delete(day);
		if (isOld && !isInside && day >= state.from) state.from = utcDay(day, 1);
	}
	for (const [id, { day }] of state.entries) if (!state.days.has(day)) state.entries.delete(id);
}

/** Puts what a poll found into the state. @returns The items by start, then ID. */
export function merge(before: State, { days, outcomes }: Found, window: PollWindow) {
	const state = { ...advanceWindow(before, window), entries: new Map(before.entries) };
	for (const [day, read] of days) {
		const known = state.days.get(day);
		if (known) state.days.set(day, { ...known, ...read });
	}
	const events: Array<{ id: string; start: number; item: INodeExecutionData }> = [];
	for (const { id, entry, event } of outcomes) {
		if (event) events.push({ id, ...event });
		state.entries.delete(id);
		if (!entry) continue;
		// A day outside the look-back that was never read counts from now on, like an added one.
		const isAdded = entry.day < state.from && { since: window.began };
		const known = state.days.get(entry.day) ?? { read: 0, ...isAdded };
		state.days.set(entry.day, { ...known, left: undefined });
		state.entries.set(id, entry);
	}
	state.polls++;
	prune(state, window);
	state.polledAt = window.now;
	events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
	return { state, items: events.map(({ item }) => item) };
}
