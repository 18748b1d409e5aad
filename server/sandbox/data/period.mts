import { DateTime } from 'luxon';

/** Time zone of the generated user. */
export const homeZone = 'Europe/Berlin';

/** The time to fill with data. */
export interface Period {
	/** End of the period, in milliseconds. */
	now: number;
	/** Calendar days in the home zone, including today. */
	days: number;
}

/**
 * The midnight at the start of the period's day `index`. In the first minutes after midnight, the
 * last day is still yesterday, because today has no room for data.
 */
export function midnightOf({ now, days }: Period, index: number): DateTime {
	const last = DateTime.fromMillis(now, { zone: homeZone }).minus({ minutes: 10 }).startOf('day');
	return last.minus({ days: days - 1 - index });
}
