import type { IDataObject } from 'n8n-workflow';

/** The shape of what is saved; a state of any other shape has another number. */
const VERSION = 1;

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

/** What is known of an entry. */
export interface Entry {
	/** The UTC day, `YYYY-MM-DD`, it was last seen on. */
	day: string;
	/** {@link Version.at} of the version last emitted or passed over; undefined before there is one. */
	at?: number;
	starred: boolean;
	/** How often nothing but the star has changed since `at`. */
	flips: number;
	/** Set while there is something left to do: how many polls failed to read it in full. */
	pending?: number;
}

/** What is known of a UTC day. */
export interface Day {
	/** When it was last read, epoch ms by the service's clock, no two days alike; 0 for never. */
	read: number;
	/** Of a day that a larger look-back added: when, epoch ms. */
	since?: number;
	/** When it was first found outside the look-back with nothing pending; a time like `read`. */
	left?: number;
}

/** What one poll hands on to the next. */
export interface State extends Watch {
	/** The service's clock at the baseline, epoch ms. */
	since: number;
	/** Set while `since` is by n8n's clock, as the first poll got no answer. */
	isOwnClock?: boolean;
	/** The first day of the look-back at the last poll. */
	from: string;
	/** The largest page the service accepts, where it has refused a larger one. */
	pageLimit?: number;
	days: Map<string, Day>;
	entries: Map<string, Entry>;
}

/** `at` alone where the rest is unset; else `[at, starred, flips, pending + 1]`. */
type SavedEntry = number | [at: number | null, starred: number, flips: number, pending: number];
type SavedDay = Day & { ids: Record<string, SavedEntry> };
type SavedState = Omit<State, 'days' | 'entries'> & { days: Record<string, SavedDay> };

/** The state of a trigger that has seen nothing yet. See {@link State} for what is passed. */
export function newState(watch: Watch, since: number, from: string): State {
	return { ...watch, since, from, days: new Map(), entries: new Map() };
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
	return { version: VERSION, ...rest, days: Object.fromEntries(savedDays) };
}

function saveEntry({ at, starred, flips, pending }: Entry): SavedEntry {
	const isPlain = !starred && flips === 0 && pending === undefined;
	if (isPlain && at !== undefined) return at;
	return [at ?? null, Number(starred), flips, pending === undefined ? 0 : pending + 1];
}

/**
 * Reads what {@link saveState} gave; leaves it as it is.
 *
 * @returns undefined for any other value.
 */
export function loadState(saved: unknown): State | undefined {
	if (!isSavedState(saved)) return undefined;
	const { kind, credential, prompt, since, isOwnClock, from, pageLimit } = saved;
	const state = newState({ kind, credential, prompt }, since, from);
	if (isOwnClock !== undefined) state.isOwnClock = isOwnClock;
	if (pageLimit !== undefined) state.pageLimit = pageLimit;
	for (const [day, { ids, ...known }] of Object.entries(saved.days)) {
		state.days.set(day, known);
		for (const [id, entry] of Object.entries(ids)) state.entries.set(id, loadEntry(day, entry));
	}
	return state;
}

function loadEntry(day: string, saved: SavedEntry): Entry {
	if (typeof saved === 'number') return { day, at: saved, starred: false, flips: 0 };
	const [at, starred, flips, pending] = saved;
	return {
		day,
		...(at !== null && { at }),
		starred: starred === 1,
		flips,
		...(pending > 0 && { pending: pending - 1 }),
	};
}

function isSavedState(value: unknown): value is SavedState {
	if (!isObject(value) || value.version !== VERSION) return false;
	const { kind, credential, prompt, since, isOwnClock, from, pageLimit, days } = value;
	return (
		(kind === 'lifelogs' || kind === 'chats') &&
		typeof credential === 'string' &&
		typeof prompt === 'string' &&
		isCount(since) &&
		(isOwnClock === undefined || typeof isOwnClock === 'boolean') &&
		isDay(from) &&
		(pageLimit === undefined || isCount(pageLimit)) &&
		isObject(days) &&
		Object.entries(days).every(([day, saved]) => isDay(day) && isSavedDay(saved))
	);
}

function isSavedDay(value: unknown): boolean {
	return (
		isObject(value) &&
		isCount(value.read) &&
		(value.since === undefined || isCount(value.since)) &&
		(value.left === undefined || isCount(value.left)) &&
		isObject(value.ids) &&
		Object.values(value.ids).every(isSavedEntry)
	);
}

function isSavedEntry(value: unknown): boolean {
	if (!Array.isArray(value)) return isCount(value);
	const [at, ...rest] = value as unknown[];
	return (at === null || isCount(at)) && rest.length === 3 && rest.every(isCount);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
	return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function isDay(value: unknown): value is string {
	return (
		typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !isNaN(Date.parse(value))
	);
}
