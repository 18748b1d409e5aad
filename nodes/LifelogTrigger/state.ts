// What one poll hands on to the next.
//
// - Day: a UTC day; lifelogs are listed by it. Due: it is to be read, until it has been read when it
//   was over for a whole day. Watched: in the look-back, or due.
// - Sighting: an entry as a list shows it. Version: what tells one state of an entry from another.
// - Entry: what is remembered of one: the version last reported or passed over.
// - Pending: something of it is left to report: it settles, was one too many, or could not be read.
// - Trouble: what failed, how often, when last; it is tried again less and less often.
// - Count: polls are counted; what happened when is told by that, as clocks can jump.
//
// An example. Poll 7 lists 2026-03-20 and sights `a`, updated 12:00, unknown on a day read before:
// created. Its full read fails: `a` is saved without a version, pending, in trouble since 12:01,
// the day as read by poll 7. Poll 8 sights `a` again, updated 12:05, and reads it: emitted, created,
// with the key `a:2026-03-20T12:05:00.000Z`; saved as version 12:05. Poll 9 sights 12:05: nothing.
// On 2026-03-22 the day is read for the last time as due, then in turn with the other days of the
// look-back, and two days after it has left that it is forgotten, and `a` with it.
import type { IDataObject } from 'n8n-workflow';

import type { Clock } from './clock';

/** The shape of what is saved; a state of any other shape has another number. */
const VERSION = 2;

/** What a state was recorded for. For anything else it is of no use. */
export interface Watch {
	kind: 'lifelogs' | 'chats';
	/** The ID of the credential, never its key. */
	credential: string;
	/** Chats: the scheduled prompt that is watched, '' for all of them. */
	prompt: string;
}

/** What tells one version of an entry from another. */
export interface Version {
	/** `updatedAt`, epoch ms; of a chat, when it was answered. */
	at: number;
	starred: boolean;
}

/** What could not be read, or was in vain. */
export interface Trouble {
	/** How often. */
	times: number;
	/** The count of the last poll that tried. */
	poll: number;
	/** When that was, and when it first failed; epoch ms. */
	at: number;
	since: number;
}

/** What is known of an entry. */
export interface Entry {
	/** The UTC day, `YYYY-MM-DD`, it was last seen on. */
	day: string;
	/** {@link Version.at} of the version last emitted or passed over; undefined before there is one. */
	at?: number;
	starred: boolean;
	/** How often nothing but the star has changed since `at`. */
	flips: number;
	/** Set while there is something left to do. */
	pending?: boolean;
	/** Set while it has been emitted as the list shows it only, and is still to be read. */
	incomplete?: boolean;
	trouble?: Trouble;
	/** Of a chat: how much there was of it, and when, epoch ms, nothing more had come since. */
	quiet?: { size: number; since: number };
}

/** What is known of a UTC day. */
export interface Day {
	/** The count of the poll that last read it to its end; 0 for none. */
	read: number;
	/** Set while it is to be read. */
	due?: boolean;
	/** Of a day that a larger look-back added: when, epoch ms. */
	since?: number;
	/** When it was first found outside the look-back, done with: the poll's count, and epoch ms. */
	left?: number;
	leftAt?: number;
	/** Where its list goes on, of which a poll had time for a part only; and how many were read so. */
	cursor?: string;
	parts?: number;
	trouble?: Trouble;
}

/** What one poll hands on to the next. */
export interface State extends Watch {
	/** The service's clock at the baseline, epoch ms. */
	since: number;
	/** Set while `since` is by n8n's clock, as the first poll got no answer. */
	isOwnClock?: boolean;
	/** The first day that is known: a day before it that comes to be watched is an added one. */
	from: string;
	/** Polls that were saved. */
	polls: number;
	/** What the clocks showed when they last agreed. */
	clock?: Clock;
	/** The largest page the service accepts, where it has refused a larger one, and since when. */
	pageLimit?: number;
	limitedAt?: number;
	/** Chats: where the list goes on that is read in parts. */
	cursor?: string;
	days: Map<string, Day>;
	entries: Map<string, Entry>;
}

/**
 * `at` alone where the rest is unset; else `[at, starred, flips, flags]`, with 1 for pending and 2
 * for incomplete, then the four numbers of its trouble, if any, and the two of its quiet.
 */
type SavedEntry = number | [at: number | null, ...numbers: number[]];
type SavedDay = Day & { ids: Record<string, SavedEntry> };
type SavedState = Omit<State, 'days' | 'entries'> & { days: Record<string, SavedDay> };

/** The state of a trigger that has seen nothing yet. See {@link State} for what is passed. */
export function newState(watch: Watch, since: number, from: string): State {
	return { ...watch, since, from, polls: 0, days: new Map(), entries: new Map() };
}

/** A copy whose days and entries can be replaced, not changed. */
export function copyState(state: State): State {
	return { ...state, days: new Map(state.days), entries: new Map(state.entries) };
}

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

function saveEntry(entry: Entry): SavedEntry {
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
	const { clock, pageLimit, limitedAt, cursor, days } = saved;
	const state: State = {
		...newState({ kind, credential, prompt }, since, from),
		polls,
		...(isOwnClock !== undefined && { isOwnClock }),
		...(clock !== undefined && { clock: { ...clock } }),
		...(pageLimit !== undefined && { pageLimit }),
		...(limitedAt !== undefined && { limitedAt }),
		...(cursor !== undefined && { cursor }),
	};
	for (const [day, { ids, ...known }] of Object.entries(days)) {
		state.days.set(day, known);
		for (const [id, entry] of Object.entries(ids)) state.entries.set(id, loadEntry(day, entry));
	}
	return state;
}

function loadEntry(day: string, saved: SavedEntry): Entry {
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
	const { kind, credential, prompt, since, isOwnClock, from, polls, clock, days } = value;
	return (
		(kind === 'lifelogs' || kind === 'chats') &&
		typeof credential === 'string' &&
		typeof prompt === 'string' &&
		isCount(since) &&
		(isOwnClock === undefined || typeof isOwnClock === 'boolean') &&
		isDay(from) &&
		isCount(polls) &&
		(clock === undefined || isSavedClock(clock)) &&
		[value.pageLimit, value.limitedAt].every(isCountIfAny) &&
		isTextIfAny(value.cursor) &&
		isObject(days) &&
		Object.entries(days).every(([day, saved]) => isDay(day) && isSavedDay(saved))
	);
}

function isSavedClock(value: unknown): boolean {
	return (
		isObject(value) &&
		[value.now, value.own, value.steady, value.process].every(isCount) &&
		(value.doubt === undefined || isDoubt(value.doubt)) &&
		(value.isOwn === undefined || typeof value.isOwn === 'boolean')
	);
}

function isDoubt(value: unknown): boolean {
	return isObject(value) && [value.ms, value.own, value.steady, value.process].every(isCount);
}

function isSavedDay(value: unknown): boolean {
	return (
		isObject(value) &&
		isCount(value.read) &&
		(value.due === undefined || typeof value.due === 'boolean') &&
		[value.since, value.left, value.leftAt, value.parts].every(isCountIfAny) &&
		isTextIfAny(value.cursor) &&
		(value.trouble === undefined || isTrouble(value.trouble)) &&
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

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function isCountIfAny(value: unknown): boolean {
	return value === undefined || isCount(value);
}

function isTextIfAny(value: unknown): boolean {
	return value === undefined || typeof value === 'string';
}

function isDay(value: unknown): value is string {
	return (
		typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !isNaN(Date.parse(value))
	);
}
