import { DateTime } from 'luxon';

/** The time zone in which the invented person lives. */
export const homeZone = 'Europe/Berlin';

/** The time that is to be filled with data. */
export interface Period {
	/** Its end, in milliseconds; nothing happens later. */
	now: number;
	/** Calendar days in the home zone, the last one being today. */
	days: number;
}

/**
 * The midnight with which the period's day `index` begins. In the first minutes after midnight
 * the last day is still yesterday, as today has no room for anything.
 */
export function midnightOf({ now, days }: Period, index: number): DateTime {
	const last = DateTime.fromMillis(now, { zone: homeZone }).minus({ minutes: 10 }).startOf('day');
	return last.minus({ days: days - 1 - index });
}
