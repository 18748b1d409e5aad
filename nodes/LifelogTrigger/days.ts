import type { Time } from './clock';
import { earliest, latest } from './clock';
import type { KnownDay, State, Trouble } from './state';
import { copyState } from './state';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** After an absence days are read that are no older, today counted. */
const LONGEST_ABSENCE_DAYS = 31;
/** A day that has left the look-back stays known for so long: a clock may be set right. */
const KEPT_MS = 48 * HOUR_MS;
/** What failed is tried again after so many polls, or so long, at the latest. */
const LONGEST_PAUSE_POLLS = 32;
const LONGEST_PAUSE_MS = 6 * HOUR_MS;

/** Where a poll stands in time, and how far it looks back. */
export interface Reach extends Time {
	/** What `now` was when the poll began. */
	began: number;
	/** Today counted. */
	lookbackDays: number;
	/** How far the service's clock is ahead of n8n's, in ms; undefined while it is not known. */
	aheadMs?: number;
}

/** The UTC day, `YYYY-MM-DD`, of an instant in epoch ms. */
export function dayOf(instant: number): string {
	return new Date(instant).toISOString().slice(0, 10);
}

/** The day so many days after (or, negative, before) another. */
export function daysFrom(day: string, days: number): string {
	return dayOf(Date.parse(day) + days * DAY_MS);
}

/** The days of the look-back, oldest first; while the clocks disagree, of the earlier one. */
export function lookback(reach: Reach): string[] {
	return daysUpTo(dayOf(earliest(reach)), reach.lookbackDays);
}

/** Today and yesterday, by each clock. */
function newestDays(reach: Reach): Set<string> {
	const todays = [dayOf(earliest(reach)), dayOf(latest(reach))];
	return new Set(todays.flatMap((today) => daysUpTo(today, 2)));
}

function earlier(a: string, b: string): string {
	return a < b ? a : b;
}

function daysUpTo(last: string, count: number): string[] {
	return Array.from({ length: count }, (_, index) => daysFrom(last, index - count + 1));
}

/**
 * The days a poll reads: those that are due, where something is pending, or not read for very long;
 * and, last, the one other day of the look-back that was last read longest ago.
 *
 * @param state As {@link align} leaves it.
 * @returns Days in the order to read them in: the one not read for longest first, and of those
 *   alike the newest; behind all others those that could not be read.
 */
export function daysToRead(state: State, reach: Reach): string[] {
	const readAt = (day: string) => state.days.get(day)?.read ?? 0;
	const troubleOf = (day: string) => {
		const known = state.days.get(day);
		return known?.trouble && known.trouble.poll > known.read ? known.trouble : undefined;
	};
	const fails = (day: string) => troubleOf(day) !== undefined;
	const mayBeRead = (day: string) => isDueAgain(troubleOf(day), state, reach);
	const days = lookback(reach).filter((day) => day >= state.from);
	const isOverdue = (day: string) => readAt(day) + 4 * reach.lookbackDays < state.polls;

	const all = new Set([
		...newestDays(reach),
		...dueDays(state, reach),
		...pendingDays(state, reach),
	]);
	for (const day of days) if (isOverdue(day)) all.add(day);
	const others = days.filter((day) => !all.has(day) && mayBeRead(day));
	const [other] = others.sort((a, b) => readAt(a) - readAt(b) || (a < b ? -1 : 1));
	const ordered = [...all]
		.filter(mayBeRead)
		.sort((a, b) => readAt(a) - readAt(b) || (a < b ? 1 : -1));
	const inTurn = ordered.filter((day) => !fails(day));
	if (other !== undefined) inTurn.push(other);
	return [...inTurn, ...ordered.filter(fails)];
}

/** Whether a day that has been read to its end is to be read again, until it was over for a day. */
export function isStillDue(day: string, reach: Reach): boolean {
	return day > daysFrom(dayOf(earliest(reach)), -2);
}

/** Whether what is in trouble may be tried again: after 1, 2, 4 … polls, or some hours. */
export function isDueAgain(trouble: Trouble | undefined, { polls }: State, reach: Reach): boolean {
	if (!trouble) return true;
	const pause = Math.min(2 ** (trouble.times - 1), LONGEST_PAUSE_POLLS);
	return polls + 1 - trouble.poll >= pause || elapsed(trouble.at, reach) >= LONGEST_PAUSE_MS;
}

/** What failed, once more. */
export function troubled(before: Trouble | undefined, { polls }: State, reach: Reach): Trouble {
	const at = earliest(reach);
	const since = Math.min(before?.since ?? at, at);
	return { times: (before?.times ?? 0) + 1, poll: polls + 1, at, since };
}

/** How long ago something was, in ms; a time to come is none that can have been noted. */
function elapsed(at: number, reach: Reach): number {
	const now = earliest(reach);
	return now >= at ? now - at : Infinity;
}

/** The days that are due. */
function dueDays({ days }: State, reach: Reach): string[] {
	const oldest = oldestDay(reach);
	return [...days].filter(([day, { due }]) => due && day >= oldest).map(([day]) => day);
}

/** The days back to which a list that is none of single days is read: the look-back, and what is due. */
export function daysListed(state: State, reach: Reach): string[] {
	return [...new Set([...dueDays(state, reach), ...lookback(reach)])];
}

/** The first day that is read after an absence. */
function oldestDay(reach: Reach): string {
	return daysFrom(dayOf(earliest(reach)), 1 - LONGEST_ABSENCE_DAYS);
}

/** The first and the last of the days that are not read, as the last poll was too long ago. */
export function passedOver({ clock }: State, reach: Reach): [string, string] | undefined {
	const first = clock && daysFrom(dayOf(clock.now), 1);
	const last = daysFrom(oldestDay(reach), -1);
	return first !== undefined && first <= last ? [first, last] : undefined;
}

/**
 * A state whose days are those of this poll. Days since the last one known are due; of days that a
 * larger look-back adds, only what happens from now on counts. What n8n's clock said is set right
 * once the service's is known, as far as nothing is lost by it where the two disagree.
 */
export function align(state: State, reach: Reach): State {
	const aligned = copyState(state);
	const days = lookback(reach);
	if (state.isOwnClock && reach.aheadMs !== undefined) {
		delete aligned.isOwnClock;
		const byService = state.since + reach.aheadMs;
		const since = reach.else === undefined ? byService : Math.min(state.since, byService);
		const [first] = daysUpTo(dayOf(since), reach.lookbackDays);
		// What was read was read, whatever the time was.
		const told = [...state.days].filter(([, known]) => known.read > 0 || known.since !== undefined);
		Object.assign(aligned, { since, from: earlier(first, days[0]), days: new Map(told) });
	}
	if (reach.else === undefined || reach.isSure) {
		for (const day of days.filter((added) => added < aligned.from)) {
			aligned.days.set(day, { read: 0, since: reach.began, due: true });
		}
		if (days[0] < aligned.from) aligned.from = days[0];
	}
	const last = dayOf(earliest(reach));
	const makeDue = (day: string) => {
		const known = aligned.days.get(day);
		if (!known?.read && !known?.due) aligned.days.set(day, { read: 0, ...known, due: true });
	};
	const oldest = oldestDay(reach);
	const first = aligned.from > oldest ? aligned.from : oldest;
	for (let day = first; day <= last; day = daysFrom(day, 1)) makeDue(day);
	for (const day of newestDays(reach)) if (day >= aligned.from) makeDue(day);
	return aligned;
}

/**
 * A state without the days that have left the look-back. A day stays as long as it is due or
 * something on it is pending; then until every day of the look-back has been read once more, as an
 * entry whose start was changed is known by then on its new day; and for two days, as a clock may be
 * set right, and an overlapping poll may still have to learn what was reported.
 */
export function forget(state: State, reach: Reach): State {
	const days = lookback(reach);
	const now = earliest(reach);
	const tomorrow = daysFrom(dayOf(now), 1);
	const newest = newestDays(reach);
	const filled = new Set([...state.entries.values()].map(({ day }) => day));
	const oldestRead = Math.min(...days.map((day) => state.days.get(day)?.read ?? 0));
	const kept = copyState(state);
	const pending = pendingDays(state);
	const due = new Set(dueDays(state, reach));
	const leave = (day: string, known: KnownDay) => {
		const left = known.left ?? state.polls;
		const leftAt = Math.min(known.leftAt ?? now, now);
		if (now < leftAt + KEPT_MS || oldestRead < left) {
			kept.days.set(day, { ...known, left, leftAt });
			return;
		}
		kept.days.delete(day);
		if (day >= kept.from) kept.from = daysFrom(day, 1);
	};
	for (const [day, { left, leftAt, ...known }] of state.days) {
		const isToCome = day > tomorrow && !newest.has(day);
		if (isToCome && !filled.has(day)) kept.days.delete(day);
		else if (day >= days[0] || due.has(day) || pending.has(day)) kept.days.set(day, known);
		else leave(day, { ...known, left, leftAt });
	}
	for (const [id, { day }] of state.entries) {
		if (!kept.days.has(day)) kept.entries.delete(id);
	}
	return kept;
}

/** The days on which something is pending; where a poll is given, that may be tried again in it. */
function pendingDays(state: State, reach?: Reach): Set<string> {
	const pending = [...state.entries.values()].filter(
		({ pending, trouble }) => pending && (!reach || isDueAgain(trouble, state, reach)),
	);
	return new Set(pending.map(({ day }) => day));
}
