import { toDate } from '../../shared/util/dateTimes';

/**
 * Whether an entry begins on a day. One whose time cannot be read does, as the service listed it
 * for that day.
 *
 * @param date `YYYY-MM-DD`, in `zone`.
 */
export function beginsOn(startTime: unknown, date: string, zone: string): boolean {
	const begins = typeof startTime === 'string' ? toDate(startTime, zone) : undefined;
	return begins === undefined || begins === date;
}
