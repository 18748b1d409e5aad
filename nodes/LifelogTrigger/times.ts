import { DateTime } from 'luxon';

const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * The instant of a time in an answer of the service, in ms: ISO 8601, without offset in the zone
 * that was asked for.
 *
 * @param zone IANA name.
 * @returns Epoch ms from 1970 to 9999, which is what a day and a saved state can hold; 0 for what
 *   lies outside or cannot be read.
 */
export function instantOf(text: string | undefined, zone: string): number {
	const instant = DateTime.fromISO(text ?? '', { zone }).toMillis();
	return instant > 0 && instant <= LATEST_MS ? instant : 0;
}
