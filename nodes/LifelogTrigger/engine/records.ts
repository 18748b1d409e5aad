// What the trigger remembers of an entry after a decision about it.
import type { Decision, KnownEntry, RetryState, Version } from './types';

export function recordOf(known: KnownEntry, decision: Decision, retry?: RetryState): KnownEntry {
	switch (decision.type) {
		case 'emit': {
			const record = atVersion(known, decision.version);
			return decision.isIncomplete ? { ...record, pending: true, incomplete: true, retry } : record;
		}
		case 'skip':
			return atVersion(known, decision.version);
		case 'wait':
			return { ...known, pending: true };
		case 'retry':
			return { ...known, pending: true, retry };
	}
}

function atVersion({ day, at, starred, starToggles }: KnownEntry, version?: Version): KnownEntry {
	if (!version) return { day, at, starred, starToggles };
	const record = { day, starred: version.starred };
	if (at === undefined || version.at > at) return { ...record, at: version.at, starToggles: 0 };
	const isToggled = version.starred !== starred;
	return { ...record, at, starToggles: starToggles + (isToggled ? 1 : 0) };
}
