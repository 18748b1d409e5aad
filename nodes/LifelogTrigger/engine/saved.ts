// The state as n8n keeps it with the workflow: small, and checked when it is loaded.
import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../../../lifelog/names.ts';
import type { Watch } from '../parameters';
import type { KnownDay, KnownEntry, State } from './types';

const VERSION = 3;
/** Larger numbers are no dates. */
const MAX_NUMBER = 8e15;

type Check = (value: unknown) => boolean;

const isNumber: Check = (value) => typeof value === 'number' && value >= 0 && value <= MAX_NUMBER;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isDay: Check = (value) =>
	/^\d{4}-\d{2}-\d{2}$/.test(String(value)) && !isNaN(Date.parse(String(value)));

function optional(check: Check): Check {
	return (value) => value === undefined || check(value);
}

function mapOf(isKey: Check, isValue: Check): Check {
	return (value) =>
		isObject(value) && Object.entries(value).every(([key, each]) => isKey(key) && isValue(each));
}

/** An object of which each named field passes the check before it. */
function shape(...fields: Array<[check: Check, ...names: string[]]>): Check {
	return (value) =>
		isObject(value) &&
		fields.every(([check, ...names]) => names.every((name) => check(value[name])));
}

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
	const entriesByDay = new Map<string, Array<[id: string, entry: SavedEntry]>>();
	for (const day of days.keys()) entriesByDay.set(day, []);
	for (const [id, entry] of entries) entriesByDay.get(entry.day)?.push([id, saveEntry(entry)]);
	const saved = [...days].map(([day, known]) => [
		day,
		{ ...known, entries: Object.fromEntries(entriesByDay.get(day)!) },
	]);
	return { version: VERSION, ...rest, days: Object.fromEntries(saved) as IDataObject };
}

function saveEntry(entry: KnownEntry): SavedEntry {
	const fields = Object.entries(entry).filter(
		([name, value]) => name === 'at' || (name !== 'day' && value),
	);
	const isOnlyAt = fields.length === 1;
	return isOnlyAt && entry.at !== undefined ? entry.at : Object.fromEntries(fields);
}

/** @returns The state that was saved; undefined for one of another version, shape or watch. */
export function loadState(value: unknown, watch: Watch): State | undefined {
	if (!isSavedState(value)) return undefined;
	const saved = value as SavedState;
	const isSameWatch =
		saved.kind === watch.kind &&
		saved.credential === watch.credential &&
		saved.prompt === watch.prompt;
	if (!isSameWatch) return undefined;
	const state: State = { ...saved, days: new Map(), entries: new Map() };
	for (const [day, { entries, ...known }] of Object.entries(saved.days)) {
		state.days.set(day, known);
		for (const [id, entry] of Object.entries(entries)) {
			const fields = typeof entry === 'number' ? { at: entry } : entry;
			state.entries.set(id, { at: undefined, starred: false, starToggles: 0, ...fields, day });
		}
	}
	return state;
}
