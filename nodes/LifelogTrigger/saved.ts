// The state as n8n keeps it: a workflow that runs holds on to every name and number in here.
import type { IDataObject } from 'n8n-workflow';

import type { KnownDay, KnownEntry, State } from './state';
import { newState } from './state';

/** The shape of what is saved; a state of any other shape has another number. */
const VERSION = 2;

/**
 * `at` alone where the rest is unset; else `[at, starred, flips, flags]`, with 1 for pending and 2
 * for incomplete, then the four numbers of its trouble, if any, and the two of its quiet.
 */
type SavedEntry = number | [at: number | null, ...numbers: number[]];
type SavedDay = KnownDay & { ids: Record<string, SavedEntry> };
type SavedState = Omit<State, 'days' | 'entries'> & { days: Record<string, SavedDay> };

/** @returns Plain JSON, small: about 40 bytes an entry. */
export function saveState({ days, entries, ...rest }: State): IDataObject {
	const ids = new Map<string, Array<[string, SavedEntry]>>();
	for (const day of days.keys()) ids.set(day, []);
	for (const [id, entry] of entries) ids.get(entry.day)?.push([id, saveEntry(entry)]);
	const savedDays = [...days].map(([day, known]) => [
		day,
		{ ...known, ids: Object.fromEntries(ids.get(day) ?? []) },
	]);
	const saved = { version: VERSION, ...rest, days: Object.fromEntries(savedDays) as IDataObject };
	return JSON.parse(JSON.stringify(saved)) as IDataObject;
}

function saveEntry(entry: KnownEntry): SavedEntry {
	const { at, starred, flips, pending, incomplete, trouble, quiet } = entry;
	const flags = Number(pending === true) + 2 * Number(incomplete === true);
	if (at !== undefined && !starred && flips === 0 && flags === 0) return at;
	const more = [
		...(trouble ? [trouble.times, trouble.poll, trouble.at, trouble.since] : []),
		...(quiet ? [quiet.size, quiet.since] : []),
	];
	return [at ?? null, Number(starred), flips, flags, ...more];
}

/**
 * Reads what {@link saveState} gave; leaves it as it is.
 *
 * @returns undefined for any other value.
 */
export function loadState(saved: unknown): State | undefined {
	if (!isSavedState(saved)) return undefined;
	const { kind, credential, prompt, since, isOwnClock, from, polls } = saved;
	const { clock, pageLimit, limitedAt, cursor } = saved;
	const state: State = {
		...newState({ kind, credential, prompt }, since, from),
		isOwnClock,
		polls,
		clock,
		pageLimit,
		limitedAt,
		cursor,
	};
	for (const [day, { ids, ...known }] of Object.entries(saved.days)) {
		state.days.set(day, known);
		for (const [id, entry] of Object.entries(ids)) state.entries.set(id, loadEntry(day, entry));
	}
	return state;
}

function loadEntry(day: string, saved: SavedEntry): KnownEntry {
	if (typeof saved === 'number') return { day, at: saved, starred: false, flips: 0 };
	const [at, starred, flips, flags, ...more] = saved;
	const [times, poll, triedAt, since] = more;
	const [size, quietSince] = more.length % 4 === 2 ? more.slice(-2) : [];
	return {
		day,
		...(at !== null && { at }),
		starred: starred === 1,
		flips,
		...(flags % 2 === 1 && { pending: true }),
		...(flags >= 2 && { incomplete: true }),
		...(more.length >= 4 && { trouble: { times, poll, at: triedAt, since } }),
		...(size !== undefined && { quiet: { size, since: quietSince } }),
	};
}

function isSavedState(value: unknown): value is SavedState {
	if (!isObject(value) || value.version !== VERSION) return false;
	const { kind, credential, prompt, since, isOwnClock, from, polls } = value;
	const { clock, pageLimit, limitedAt, cursor, days } = value;
	return (
		(kind === 'lifelogs' || kind === 'chats') &&
		[credential, prompt].every(isText) &&
		[since, polls].every(isCount) &&
		isDay(from) &&
		isUnsetOr(isBoolean, isOwnClock) &&
		isUnsetOr(isSavedClock, clock) &&
		isUnsetOr(isCount, pageLimit, limitedAt) &&
		isUnsetOr(isText, cursor) &&
		isObject(days) &&
		Object.entries(days).every(([day, saved]) => isDay(day) && isSavedDay(saved))
	);
}

function isSavedClock(value: unknown): boolean {
	return (
		isObject(value) &&
		[value.now, value.own, value.steady, value.process].every(isCount) &&
		isUnsetOr(isDoubt, value.doubt) &&
		isUnsetOr(isBoolean, value.isOwn)
	);
}

function isDoubt(value: unknown): boolean {
	return isObject(value) && [value.ms, value.own, value.steady, value.process].every(isCount);
}

function isSavedDay(value: unknown): boolean {
	return (
		isObject(value) &&
		isCount(value.read) &&
		isUnsetOr(isBoolean, value.due) &&
		isUnsetOr(isCount, value.since, value.left, value.leftAt, value.parts) &&
		isUnsetOr(isText, value.cursor) &&
		isUnsetOr(isTrouble, value.trouble) &&
		isObject(value.ids) &&
		Object.values(value.ids).every(isSavedEntry)
	);
}

function isTrouble(value: unknown): boolean {
	return isObject(value) && [value.times, value.poll, value.at, value.since].every(isCount);
}

function isSavedEntry(value: unknown): boolean {
	if (!Array.isArray(value)) return isCount(value);
	const [at, ...rest] = value as unknown[];
	const isWhole = [3, 5, 7, 9].includes(rest.length);
	return (at === null || isCount(at)) && isWhole && rest.every(isCount);
}

function isUnsetOr(is: (value: unknown) => boolean, ...values: unknown[]): boolean {
	return values.every((value) => value === undefined || is(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): boolean {
	return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function isBoolean(value: unknown): boolean {
	return typeof value === 'boolean';
}

function isText(value: unknown): boolean {
	return typeof value === 'string';
}

function isDay(value: unknown): boolean {
	return (
		typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !isNaN(Date.parse(value))
	);
}
