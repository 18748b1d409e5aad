import { DateTime } from 'luxon';

import type { Entry, Summary } from './summary';

const MINUTE_MS = 60_000;

/** The words of a summary that all formats have in common. */
export interface Wording {
	/** `Daily summary: Sunday, 1 March 2026`. */
	title: string;
	/** `45 lifelogs · 9 h 12 min in all · 2 starred · Europe/Berlin`, or that there are none. */
	totals: string;
}

/** The mark of what was starred. */
export const STAR = '⭐';

/** @returns What stands above every format's list of what happened. */
export function wordingOf(summary: Summary): Wording {
	const { date, timezone, isStarred, entries, totalDurationMs, starredCount } = summary;
	const day = DateTime.fromISO(date, { zone: 'utc', locale: 'en' });
	const kind = isStarred === undefined ? '' : isStarred ? 'starred ' : 'unstarred ';
	const noun = `${kind}${entries.length === 1 ? 'lifelog' : 'lifelogs'}`;
	const totals =
		entries.length === 0
			? [`There are no ${noun} on this day`, timezone]
			: [
					`${entries.length} ${noun}`,
					`${lengthOf(totalDurationMs)} in all`,
					isStarred === undefined && starredCount > 0 && `${starredCount} starred`,
					timezone,
				];
	return {
		title: `Daily summary: ${day.isValid ? day.toFormat('cccc, d LLLL yyyy') : date}`,
		totals: totals.filter(Boolean).join(' · '),
	};
}

/**
 * What stands before an entry's title, `09:00 · 24 min · `. Before and not behind it, as numbers
 * behind a title in a right-to-left script would be shown in the midst of it.
 *
 * @param isStart True for the time alone.
 */
export function leadOf({ startMs, durationMs }: Entry, zone: string, isStart = false): string {
	const start = startMs === undefined ? undefined : DateTime.fromMillis(startMs, { zone });
	return [
		start?.setLocale('en').toFormat('HH:mm'),
		isStart || durationMs === undefined ? undefined : lengthOf(durationMs),
	]
		.filter((part) => part !== undefined)
		.map((part) => `${part} · `)
		.join('');
}

/** A length of time as a person says it, in whole minutes: `1 h 5 min`. */
function lengthOf(ms: number): string {
	const minutes = Math.round(ms / MINUTE_MS);
	if (minutes === 0) return 'under 1 min';
	const parts = [Math.floor(minutes / 60) && `${Math.floor(minutes / 60)} h`];
	return [...parts, minutes % 60 && `${minutes % 60} min`].filter(Boolean).join(' ');
}
