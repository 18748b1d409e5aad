import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { reportedJson } from '../../shared/parameters/reported';
import type { KnownEntry } from '../engine/types';
import type { Settings } from '../parameters';

/** The record of a lifelog, as far as its item and key need it. */
type Reported = Omit<KnownEntry, 'day'>;

export function lifelogItem(
	settings: Settings,
	lifelog: Lifelog,
	changeType: Settings['changes'][0],
	entry: Reported,
): IDataObject {
	const { incomplete } = entry;
	return {
		...reportedJson(lifelog, settings, !incomplete),
		...(incomplete && { incomplete }),
		changeType,
		eventKey: eventKey(lifelog.id, entry),
	};
}

/** What is incomplete leaves the plain key to what completes it. */
export function eventKey(id: string, entry: Reported): string {
	const { at = 0, starred, starToggles, incomplete } = entry;
	const parts = [id, new Date(at).toISOString()];
	if (starToggles > 0) parts.push(starred ? 'starred' : 'unstarred');
	const times = Math.ceil(starToggles / 2);
	if (times > 1) parts.push(String(times));
	if (incomplete) parts.push('incomplete');
	return parts.join(':');
}
