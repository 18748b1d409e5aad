// What is kept from poll to poll: saved small, as n8n keeps it with the workflow, and pruned.
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Watch } from '../parameters';
import type { Found, KnownDay, KnownEntry, PollWindow, State } from './types';
import { DAY_MS, dayOf, lookback } from './types';

const VERSION = 3;
/** After an absence no older days are read, today counted. */
export const MAX_ABSENCE_DAYS = 31;
/** How long a day stays known after it left the look-back. */
const KEPT_DAYS = 10;

type Check = (value: unknown) => boolean;
const isNumber: Check = (value) =>
	typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isDay = (value: unknown) =>
	/^\d{4}-\d{2}-\d{2}$/.test(String(value)) && !isNaN(Date.parse(String(value)));
const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
const mapOf = (isKey: Check, isValue: Check) => (value: unknown) =>
	isObject(value) && Object.entries(value).every(([key, each]) => isKey(key) && isValue(each));
/** The fields by what they must hold; one whose name ends with `?` may be missing. */
const shape =
	(...fields: Array<[check: Check, ...names: string[]]>) =>
	(value: unknown) =>
		isObject(value) &&
		fields.every(([check, ...names]) =>
			names.every((name) => {
				const field = value[name.replace('?', '')];
				return (field === undefined && name.endsWith('?')) || check(field);
			}),
		);

const isRetry = shape([isNumber, 'times', 'poll', 'at', 'since']);
const isEntry = shape(
	[isNumber, 'at?', 'starToggles?'],
	[isFlag, 'starred?', 'pending?', 'incomplete?'],
	[isRetry, 'retry?'],
	[shape([isNumber, 'size', 'since']), 'quiet?'],
);
const isSavedDay = shape(
	[isNumber, 'read', 'since?', 'left?', 'parts?'],
	[isFlag, 'due?'],
	[isText, 'cursor?'],
	[isRetry, 'retry?'],
	[mapOf(isText, (entry) => isNumber(entry) || isEntry(entry)), 'entries'],
);
export const isSavedState = shape(
	[(version) => version === VERSION, 'version'],
	[(kind) => kind === 'lifelogs' || kind === 'chats', 'kind'],
	[isText, 'credential', 'prompt'],
	[isNumber, 'since', 'polls'],
	[isDay, 'from'],
	[shape([isNumber, 'now'], [isFlag, 'isService']), 'polledAt?'],
	[shape([isNumber, 'size', 'since']), 'pageLimit?'],
	[mapOf(isDay, isSavedDay), 'days'],
);

/** An entry as it is saved: `at` if nothing else is set, else the fields that are. */
type SavedEntry = number | Partial<KnownEntry>;
type SavedState = Omit<State, 'days'> & {
	days: Record<string, KnownDay & { entries: Record<string, SavedEntry> }>;
};

/** @returns Plain JSON, about 50 bytes an entry. */
export function saveState({ days, entries, ...rest }: State): IDataObject {
	const saved = { version: VERSION, ...rest, days: {} as Record<string, object> };
	const ofDay = new Map([...days.keys()].map((day) => [day, new Map<string, SavedEntry>()]));
	for (const [id, entry] of entries) ofDay.get(entry.day)?.set(id, saveEntry(entry));
	for (const [day, known] of days) {
		saved.days[day] = { ...known, entries: Object.fromEntries(ofDay.get(day)!) };
	}
	return JSON.parse(JSON.stringify(saved)) as IDataObject;
}

function saveEntry({ at, starred, starToggles, ...entry }: KnownEntry): SavedEntry {
	const { pending, incomplete, retry, quiet } = entry;
	const more = { pending, incomplete, retry, quiet, starToggles: starToggles || undefined };
	const named = { at, starred: starred || undefined, ...more };
	const isPlain = !starred && Object.values(more).every((value) => value === undefined);
	return isPlain && at !== undefined ? at : named;
}

/** A state that has seen nothing yet. */
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
			const named = typeof entry === 'number' ? { at: entry } : entry;
			state.entries.set(id, { starred: false, starToggles: 0, ...named, day });
		}
	}
	return state;
}

/** The days that are due, and not too old after an absence. */
export function dueDays({ days }: State, { now }: PollWindow): string[] {
	const oldest = dayOf(now, 1 - MAX_ABSENCE_DAYS);
	return [...days].filter(([day, { due }]) => due && day >= oldest).map(([day]) => day);
}

/** The days on which something is left to do that may be tried now. */
export function pendingDays(state: State, mayTry: (entry: KnownEntry) => boolean): string[] {
	const pending = [...state.entries.values()].filter((entry) => entry.pending && mayTry(entry));
	return pending.map(({ day }) => day);
}

/** The state with the days of this poll: every day since the last one known is due (_created-once_). */
export function advanceWindow(state: State, window: PollWindow): State {
	const { now, began } = window;
	const next = { ...state, days: new Map(state.days) };
	// nothing-old: on days that a larger look-back adds, what happens from now on counts. A clock that
	// is behind for one poll adds days, too, but does not make anything on them new.
	const since = Math.max(began, state.polledAt?.now ?? 0);
	const days = lookback(window);
	for (const day of days) if (day < state.from) next.days.set(day, { read: 0, due: true, since });
	if (days[0] < state.from) next.from = days[0];
	for (let ago = MAX_ABSENCE_DAYS - 1; ago >= 0; ago--) {
		const day = dayOf(now, -ago);
		const known = next.days.get(day);
		if (day >= next.from && !known?.read) next.days.set(day, { read: 0, ...known, due: true });
	}
	return next;
}

/**
 * Forgets days that left the look-back ten days ago, and since when all others were read: what was
 * moved is known on its new day by then. The poll before must be less than ten days ago by the same
 * clock, so that a clock that is wrong for one poll forgets nothing.
 */
function prune(state: State, window: PollWindow): void {
	const { now, isService } = window;
	const sincePoll = now - (state.polledAt?.now ?? NaN);
	const isOrderly = sincePoll >= 0 && sincePoll < KEPT_DAYS * DAY_MS;
	if (!isOrderly || state.polledAt?.isService !== isService) return;
	const [first] = lookback(window);
	const oldestRead = Math.min(...lookback(window).map((day) => state.days.get(day)?.read ?? 0));
	const needed = new Set([...dueDays(state, window), ...pendingDays(state, () => true)]);
	const filled = new Set([...state.entries.values()].map(({ day }) => day));
	for (const [day, { left = state.polls, ...known }] of [...state.days]) {
		const isInside = day >= first || needed.has(day);
		const isToCome = day > dayOf(now, 1) && !filled.has(day);
		const isOld = day < dayOf(first, -KEPT_DAYS) && oldestRead >= left;
		if (isInside ? !isToCome : !isOld) state.days.set(day, isInside ? known : { ...known, left });
		else state.days.delete(day);
		if (isOld && !isInside && day >= state.from) state.from = dayOf(day, 1);
	}
	for (const [id, { day }] of state.entries) if (!state.days.has(day)) state.entries.delete(id);
}

/** Puts what a poll found into the state. @returns The items by start, then ID (_as-asked_). */
export function merge(before: State, { days, outcomes }: Found, window: PollWindow) {
	const { now, isService, began } = window;
	const state = { ...advanceWindow(before, window), entries: new Map(before.entries) };
	for (const [day, read] of days ?? []) {
		const known = state.days.get(day);
		if (known) state.days.set(day, { ...known, ...read });
	}
	const events: Array<{ id: string; start: number; item: INodeExecutionData }> = [];
	for (const { id, entry, event } of outcomes) {
		if (event) events.push({ id, ...event });
		state.entries.delete(id);
		if (!entry) continue;
		// A day outside the look-back that was never read counts from now on, like an added one.
		const isAdded = entry.day < state.from && { since: began };
		const known = state.days.get(entry.day) ?? { read: 0, ...isAdded };
		state.days.set(entry.day, { ...known, left: undefined });
		state.entries.set(id, entry);
	}
	state.polls++;
	prune(state, window);
	state.polledAt = { now, isService };
	events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
	return { state, items: events.map(({ item }) => item) };
}
