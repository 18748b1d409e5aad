// The trigger's days: which of them are due, and since when they count.
import { utcDay } from '../../../lifelog/times.ts';
import type { KnownDay, KnownEntry, PollWindow, State } from './types';

export const MAX_ABSENCE_DAYS = 31;

/** The days of the look-back, today last. */
export function lookback({ now, lookbackDays: count }: PollWindow): string[] {
	return Array.from({ length: count }, (_, index) => utcDay(now, index - count + 1));
}

export function dueDays({ days }: State, { now }: PollWindow): string[] {
	const oldest = utcDay(now, 1 - MAX_ABSENCE_DAYS);
	return [...days].filter(([day, { due }]) => due && day >= oldest).map(([day]) => day);
}

/** The days of the entries with something left to do. */
export function pendingDays(state: State, mayTry: (entry: KnownEntry) => boolean): string[] {
	const pending = [...state.entries.values()].filter((entry) => entry.pending && mayTry(entry));
	return pending.map(({ day }) => day);
}

/** What to record of a day that was read. It is due until a day after its end, at the last poll too. */
export function asRead(day: string, { polls, polledAt }: State, { now }: PollWindow): KnownDay {
	const lastDayOver = utcDay(Math.min(now, polledAt ?? now), -2);
	return { read: polls + 1, due: day > lastDayOver || undefined, since: undefined };
}

/** When a day began to count; undefined if every unknown entry of it is new (_created-once_). */
export function sinceOf({ days, since }: State, day: string): number | undefined {
	const known = days.get(day);
	if (known && known.read > 0) return undefined;
	return known?.since ?? (day <= utcDay(since) ? since : undefined);
}
