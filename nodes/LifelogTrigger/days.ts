import type { State } from './state';
import { copyState } from './state';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Where a poll stands in time. */
export interface Reach {
	/** Epoch ms by the service's clock. */
	now: number;
	/** Days that are watched, today counted. */
	lookbackDays: number;
	/** How far the service's clock is ahead of n8n's, in ms; undefined while it is not known. */
	aheadMs?: number;
}

/** The UTC day, `YYYY-MM-DD`, of an instant in epoch ms. */
export function dayOf(instant: number): string {
	return new Date(instant).toISOString().slice(0, 10);
}

/** @returns Epoch ms of the first instant of a UTC day. */
function startOf(day: string): number {
	return Date.parse(day);
}

/** The day so many days after (or, negative, before) another. */
export function daysFrom(day: string, days: number): string {
	return dayOf(startOf(day) + days * DAY_MS);
}

/** The UTC days that are watched, oldest first. */
export function lookback({ now, lookbackDays }: Reach): string[] {
	const today = dayOf(now);
	return Array.from({ length: lookbackDays }, (_, index) =>
		daysFrom(today, index - lookbackDays + 1),
	);
}

/**
 * The days a poll reads: those where something is pending; of the look-back today, yesterday and
 * every day not yet read as late as on the second day after it (so a day is read until it has been
 * over for a whole day, and a day never read is read); and, last, the one other day of the
 * look-back whose last read is longest ago.
 *
 * @returns Days in the order to read them in.
 */
export function daysToRead(state: State, reach: Reach): string[] {
	const days = lookback(reach);
	const yesterday = days[days.length - 2];
	const readAt = (day: string) => state.days.get(day)?.read ?? 0;
	const isDue = (day: string) => day >= yesterday || readAt(day) < startOf(daysFrom(day, 2));

	const due = new Set([...pendingDays(state), ...days.filter(isDue)]);
	const others = days.filter((day) => !due.has(day)).sort((a, b) => readAt(a) - readAt(b));
	return [...[...due].sort(), ...others.slice(0, 1)];
}

/**
 * The day to begin with while the service's clock is not known: that of the last read, which is due
 * whatever the time is now.
 *
 * @returns undefined when nothing was read yet.
 */
export function lastDayRead({ days }: State): string | undefined {
	const last = lastRead(days);
	return last > 0 ? dayOf(last) : undefined;
}

/**
 * A state whose look-back begins where this poll's does. Of days that a larger look-back adds,
 * only what happens from now on counts. What n8n's clock said is set right once the service's is
 * known.
 */
export function align(state: State, reach: Reach): State {
	const days = lookback(reach);
	const { isOwnClock, ...rest } = copyState(state);
	const aligned: State = { ...rest, from: days[0] };
	if (isOwnClock && reach.aheadMs !== undefined) {
		return { ...aligned, since: state.since + reach.aheadMs };
	}
	for (const day of days.filter((added) => added < state.from)) {
		aligned.days.set(day, { read: 0, since: reach.now });
	}
	return aligned;
}

/**
 * A state without the days that have left the look-back. A day stays as long as something on it is
 * pending; then until every day of the look-back has been read once more, as an entry whose start
 * was changed is known by then on its new day; and for an hour, as an overlapping poll may still
 * have to learn what was reported.
 *
 * @param tick The time of this poll, not before any read that is recorded.
 */
export function forget(state: State, reach: Reach, tick: number): State {
	const days = lookback(reach);
	const oldestRead = Math.min(...days.map((day) => state.days.get(day)?.read ?? 0));
	const kept = copyState(state);
	const pending = pendingDays(state);
	for (const [day, { left = tick, ...known }] of state.days) {
		if (day >= days[0]) continue;
		const isOver = tick >= left + HOUR_MS && oldestRead >= left;
		if (pending.has(day)) kept.days.set(day, known);
		else if (isOver) kept.days.delete(day);
		else kept.days.set(day, { ...known, left });
	}
	for (const [id, { day }] of state.entries) {
		if (!kept.days.has(day)) kept.entries.delete(id);
	}
	return kept;
}

/** The time of a poll: later than any read, even where the clock stands still or runs back. */
export function tickOf({ days }: State, { now }: Reach): number {
	return Math.max(now, lastRead(days) + 1);
}

/** 0 when nothing was read yet. */
function lastRead(days: State['days']): number {
	return [...days.values()].reduce((last, { read }) => Math.max(last, read), 0);
}

function pendingDays({ entries }: State): Set<string> {
	const pending = [...entries.values()].filter((entry) => entry.pending !== undefined);
	return new Set(pending.map(({ day }) => day));
}
