import { instantOf, toDate } from '../../shared/date-times';

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
