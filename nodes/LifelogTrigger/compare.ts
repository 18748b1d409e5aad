import type { Lifelog } from '../shared/api-types';
import { dayOf } from './days';
import type { KnownEntry, State, Version } from './state';

/** A lifelog as the list of a day shows it. */
export interface Sighting extends Version {
	id: string;
	lifelog: Lifelog;
	/** The UTC day it was found on. */
	day: string;
	/** When it begins, epoch ms. */
	start: number;
}

/**
 * Compares a sighting with what is known.
 *
 * @param isFirst Whether this is the first poll, which records all silently.
 * @returns What was known of it before this version, which is what is to be recorded where nothing
 *   changed; and whether something did.
 */
export function compare(
	state: State,
	sighting: Sighting,
	isFirst: boolean,
): { base: KnownEntry; isChanged: boolean } {
	const { day, at, starred, start } = sighting;
	const known = state.entries.get(sighting.id);
	if (known) return { base: { ...known, day }, isChanged: isNews(known, sighting) };

	const since = sinceOf(state, day);
	if (isFirst || (since !== undefined && at <= since)) {
		return { base: { day, at, starred, flips: 0 }, isChanged: false };
	}
	const isOlder = since !== undefined && start <= since;
	return { base: { day, ...(isOlder && { at: since }), starred, flips: 0 }, isChanged: true };
}

/** Whether a version is another than the one that was last emitted or not wanted. */
export function isNews(known: KnownEntry, version: Version): boolean {
	return known.at === undefined || version.at > known.at || version.starred !== known.starred;
}

/**
 * From when on an entry that is not known counts as new, by the day it is on.
 *
 * @returns Epoch ms; undefined when it counts in any case, as the day was read before or came after
 *   the first poll.
 */
export function sinceOf({ days, since }: State, day: string): number | undefined {
	const known = days.get(day);
	if (known && known.read > 0) return undefined;
	return known?.since ?? (day <= dayOf(since) ? since : undefined);
}

/** What an item says happened to its lifelog, by what was known before. */
export function changeType(base: KnownEntry): 'created' | 'updated' {
	return base.at === undefined ? 'created' : 'updated';
}

/** What is known of an entry once a version of it has been emitted, or was not wanted. */
export function recordOf(base: KnownEntry, { at, starred }: Version): KnownEntry {
	const { day } = base;
	if (base.at === undefined || at > base.at) return { day, at, starred, flips: 0 };
	return { day, at: base.at, starred, flips: base.flips + Number(starred !== base.starred) };
}

/**
 * The key of the event that led to a record: the same for the same version of an entry, whatever
 * the time zone. A star that is set or removed repeatedly within one version is counted; what was
 * emitted incomplete says so, and leaves the plain key to what is emitted once it can be read.
 */
export function eventKey(
	id: string,
	{ at = 0, starred, flips, incomplete }: Omit<KnownEntry, 'day'>,
): string {
	const times = Math.ceil(flips / 2);
	const star = `:${starred ? 'starred' : 'unstarred'}${times > 1 ? `:${times}` : ''}`;
	const version = `${id}:${new Date(at).toISOString()}${flips > 0 ? star : ''}`;
	return incomplete ? `${version}:incomplete` : version;
}
