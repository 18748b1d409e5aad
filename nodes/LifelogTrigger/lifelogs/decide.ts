// Step 3 for lifelogs: decides what becomes of each. Sends nothing and changes nothing.
import { DAY_MS, HOUR_MS } from '../../../lifelog/times.ts';
import { sinceOf } from '../engine/days';
import { recordOf } from '../engine/records';
import { isRetryDue } from '../engine/retry';
import type { Decision, KnownEntry, Outcome, Poll, RetryState, Version } from '../engine/types';
import type { Settings } from '../parameters';
import { type LifelogListing, type ListedLifelog, timesOf } from './list';

/** After so long and so many tries, a lifelog is reported as listed, and then tried again. */
const GIVEN_UP_MS = DAY_MS;
const MIN_TRIES = 3;
const MAX_UNREAD_MS = 31 * DAY_MS; // after which nothing more is tried

export interface Change {
	id: string;
	known: KnownEntry; // before it changed
	listed?: ListedLifelog; // undefined if it is pending and in no list
	start: number; // in the list, else of its day
}

export type Seen = { version: Version; listed?: Version } | Unread;
type Unread = { retry: RetryState; listed?: Version };

export function decideLifelogs(poll: Poll, listing: LifelogListing) {
	const { state, window } = poll.current();
	const outcomes: Outcome[] = [];
	const unread: Change[] = [];
	const isDue = ({ retry }: KnownEntry) => isRetryDue(retry, state.polls, window.now);
	for (const [id, listed] of listing.entries) {
		const since = sinceOf(state, listed.day);
		const known = knownBefore(poll, listed, since, state.entries.get(id));
		const decision = decide(known, { version: listed }, poll.settings, window.now);
		// What failed stays as it is until it is tried again, unless there is nothing left to do.
		if (decision.type !== 'skip' && !isDue(known)) continue;
		if (decision.type === 'emit') unread.push({ id, known, listed, start: timesOf(listed)[0] });
		else outcomes.push({ id, entry: recordOf(known, decision) });
	}
	for (const [id, known] of state.entries) {
		if (!known.pending || listing.entries.has(id)) continue;
		const maySettle = poll.settings.settleMs > 0 && !listing.days.get(known.day)?.read;
		if (!maySettle && isDue(known)) unread.push({ id, known, start: Date.parse(known.day) });
	}
	return { outcomes, unread };
}

function knownBefore(poll: Poll, listed: ListedLifelog, since = -1, known?: KnownEntry) {
	const { day, at, starred } = listed;
	const entry: KnownEntry = { starred, starToggles: 0, ...known, day };
	if (entry.at !== undefined || entry.pending) return entry;
	// _nothing-old_: it was there when its day began to count.
	if (!poll.known || at <= since) return { ...entry, at };
	const [start, end] = timesOf(listed);
	if (start <= since) return { ...entry, at: since };
	// An n8n that starts again has forgotten what was not wanted since it last saved. If only updates
	// are wanted, a lifelog that changed long after its end counts as known.
	const isForgotten = poll.isActivation && !poll.settings.changes.includes('created');
	return isForgotten && at >= end + HOUR_MS ? { ...entry, at: end } : entry;
}

export function decide(known: KnownEntry, seen: Seen, settings: Settings, now: number): Decision {
	if ('retry' in seen) return decideUnread(known, seen, settings, now);
	const { settleMs, changes, isStarred } = settings;
	const { version, listed = version } = seen;
	// _no-repeat_, _nothing-untrue_: nothing has happened. A list may know the milliseconds of a version.
	if (!isNews(known, version) && !known.incomplete) {
		return { type: 'skip', version: listed.at > version.at ? listed : undefined };
	}
	if (Math.abs(now - version.at) < settleMs) return { type: 'wait' };
	// _completed_: whatever event and star are chosen.
	if (known.incomplete) return { type: 'emit', version };
	// _as-asked_: only the event and the star that were chosen.
	const isOtherStar = isStarred !== undefined && isStarred !== version.starred;
	if (isOtherStar || !changes.includes(changeType(known))) return { type: 'skip', version };
	return { type: 'emit', version };
}

function decideUnread(known: KnownEntry, seen: Unread, settings: Settings, now: number): Decision {
	const { listed, retry } = seen;
	const failedMs = now - retry.since;
	// By the last try's clock, too: this one may be ahead.
	const isOver = Math.min(now, known.retry?.at ?? now) - retry.since >= MAX_UNREAD_MS;
	if (isOver && (known.incomplete || !listed)) return { type: 'skip' };
	// _whole_: only after a day it is reported as the list shows it.
	const isGivenUp = listed && failedMs >= GIVEN_UP_MS && retry.times >= MIN_TRIES;
	if (!isGivenUp) return { type: 'retry' };
	const whole = decide({ ...known, incomplete: undefined }, { version: listed }, settings, now);
	return whole.type === 'emit' ? { ...whole, isIncomplete: true } : { type: 'retry' };
}

export function isNews(known: KnownEntry, { at, starred }: Version): boolean {
	return known.at === undefined || at > known.at || starred !== known.starred;
}

export function changeType({ at }: KnownEntry): 'created' | 'updated' {
	return at === undefined ? 'created' : 'updated';
}
