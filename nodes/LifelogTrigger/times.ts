import { DateTime } from 'luxon';

/**
 * The instant of a time in an answer of the service, in ms: ISO 8601, without offset in the zone
 * that was asked for.
 *
 * @param zone IANA name.
 * @returns Epoch ms, 0 when it cannot be read.
 */
export function instantOf(text: string | undefined, zone: string): number {
	return DateTime.fromISO(text ?? '', { zone }).toMillis() || 0;
}
