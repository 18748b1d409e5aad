import { DateTime } from 'luxon';

import { toInstant } from '../shared/date-times';

const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * The instant of a time in an answer of the service, in ms: ISO 8601, without offset in the zone
 * that was asked for.
 *
 * @param zone IANA name.
 * @returns Epoch ms from 1970 to 9999, which is what a day and a saved state can hold; 0 for what
 *   lies outside or cannot be read.
 */
export function timeOf(text: string | undefined, zone: string): number {
	const instant = DateTime.fromISO(text ?? '', { zone }).toMillis();
	return isTime(instant) ? instant : 0;
}

/**
 * The instants that a time in an answer can mean: two where it lacks an offset in the hour that
 * autumn repeats; none where it cannot be read.
 *
 * @param zone IANA name.
 * @returns Epoch ms as {@link timeOf}, ascending.
 */
export function timesOf(text: unknown, zone: string): number[] {
	const edges = (['start', 'end'] as const).map((edge) => toInstant(text, zone, edge) ?? 0);
	return [...new Set(edges)].filter(isTime);
}

function isTime(instant: number): boolean {
	return instant > 0 && instant <= LATEST_MS;
}
