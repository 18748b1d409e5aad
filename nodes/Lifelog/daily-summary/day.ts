import { DateTime } from 'luxon';

import { toDate, toInstant } from '../../shared/date-times';

/** Today's date in `zone`, or one so many days before. */
export function daysAgo(days: number, zone: string): string {
	return DateTime.now().setZone(zone).minus({ days }).toFormat('yyyy-MM-dd');
}

/**
 * Whether an entry begins on a day. One whose time cannot be read does, as the service listed it
 * for that day.
 *
 * @param date `YYYY-MM-DD`, in `zone`.
 */
export function beginsOn(startTime: unknown, date: string, zone: string): boolean {
	const instant = instantOf(startTime, zone);
	return instant === undefined || toDate(instant, zone) === date;
}

/** The instant of a time of the service, epoch ms; undefined when it is missing or unreadable. */
export function instantOf(time: unknown, zone: string): number | undefined {
	return typeof time === 'string' ? toInstant(time, zone, 'start') : undefined;
}
