import { DateTime } from 'luxon';

import type { Lifelog } from '../../shared/api/apiTypes';
import { contentNodes } from '../../shared/content/utterances';

/**
 * The instant of a time of the service, as any form of ISO 8601.
 *
 * @param zone The zone it was asked in, which counts where it has no offset.
 * @returns Epoch ms; undefined for what is no time.
 */
export function isoInstant(time: unknown, zone: string): number | undefined {
	if (typeof time !== 'string') return undefined;
	const instant = DateTime.fromISO(time, { zone }).toMillis();
	return Number.isNaN(instant) ? undefined : instant;
}

/**
 * A copy of a lifelog with all its times written in a zone; what is no time stays as it is.
 *
 * @param askedIn The zone it was asked in.
 * @param zone IANA name.
 */
export function inZone(lifelog: Lifelog, askedIn: string, zone: string): Lifelog {
	const copy = structuredClone(lifelog);
	const move = (holder: object) => {
		const times = holder as Record<string, unknown>;
		for (const name of ['startTime', 'endTime', 'updatedAt']) {
			const instant = isoInstant(times[name], askedIn);
			if (instant !== undefined) times[name] = DateTime.fromMillis(instant, { zone }).toISO();
		}
	};
	move(copy);
	for (const node of contentNodes(copy.contents)) move(node);
	return copy;
}
