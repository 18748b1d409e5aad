// Step 3: decides what becomes of each lifelog. Sends nothing and changes nothing.
import type { Settings } from '../parameters';
import { advanceWindow } from '../state/storage';
import type {
	Decision,
	KnownEntry,
	Outcome,
	Poll,
	RetryState,
	State,
	Version,
} from '../state/types';
import { DAY_MS, dayOf, isNews, isRetryDue } from '../state/types';
import type { LifelogListing, ListedLifelog } from './list';

const HOUR_MS = DAY_MS / 24;
/** What can't be read in full for so long, after so many tries, is reported as listed. */
const GIVEN_UP_MS = DAY_MS;
const MIN_TRIES = 3;
/** For so long what was reported as listed is tried again. */
const MAX_INCOMPLETE_MS = 31 * DAY_MS;

/** A lifelog to read in full; `listed` is undefined if it is pending and in no list. */
export interface Change {
	id: string;
	known: KnownEntry; // before it changed
	listed?: ListedLifelog;
}

/** What a poll saw of a lifelog: a version, or why it could not be read. */
export type Seen =
	{ version: Version; listed?: Version } | { why: string; listed?: Version; retry: RetryState };

/** Decides about all that was listed or is pending. */
export function decideAll(poll: Poll, listing: LifelogListing) {
	const { settings } = poll;
	const window = poll.window();
	const state = advanceWindow(poll.state, window);
	const outcomes: Outcome[] = [];
	const unread: Change[] = [];
	const isDue = ({ retry }: KnownEntry) => isRetryDue(retry, state.polls, window.now);
	for (const [id, listed] of listing.lifelogs) {
		const known = knownBefore(poll, state, state.entries.get(id), listed);
		const decision = decide(known, { version: listed }, settings, window.now);
		if (decision.type === 'skip' || (decision.type === 'wait' && isDue(known))) {
			outcomes.push({ id, entry: recordOf(known, decision) });
		} else if (isDue(known)) unread.push({ id, known, listed });
	}
	for (const [id, known] of state.entries) {
		const isListed = listing.lifelogs.has(id);
		const maySettle = settings.settleMs > 0 && !listing.days.get(known.day)?.read;
		if (known.pending && !isListed && !maySettle && isDue(known)) unread.push({ id, known });
	}
	return { outcomes, unread };
}

/** What was known of a lifelog before the version that is listed. */
function knownBefore(
	poll: Poll,
	state: State,
	known: KnownEntry | undefined,
	{ day, at, starred, start, end }: ListedLifelog,
): KnownEntry {
	const since = sinceOf(state, day);
	const entry = known ? { ...known, day } : { day, starred, starToggles: 0 };
	if (entry.at !== undefined || entry.pending) return entry;
	// nothing-old: it was there when its day began to count.
	if (poll.isFirst || (since !== undefined && at <= since)) return { ...entry, at };
	if (since !== undefined && start <= since) return { ...entry, at: since };
	// An n8n that starts again has forgotten what was not wanted since it last saved. If only updates
	// are wanted, a lifelog that changed long after its end counts as known.
	const isForgotten = poll.isActivation && !poll.settings.changes.includes('created');
	return isForgotten && at >= end + HOUR_MS ? { ...entry, at: end } : entry;
}

/** From when on what is unknown on a day is new; undefined if all of it is (_created-once_). */
export function sinceOf({ days, since }: State, day: string): number | undefined {
	const known = days.get(day);
	if (known && known.read > 0) return undefined;
	return known?.since ?? (day <= dayOf(since) ? since : undefined);
}

/** Decides about a lifelog, listed or read in full. */
export function decide(
	known: KnownEntry,
	seen: Seen,
	{ settleMs, changes, isStarred }: Settings,
	now: number,
): Decision {
	if ('why' in seen) return decideUnread(known, seen, now);
	const { version, listed = version } = seen;
	// no-repeat, nothing-untrue: nothing has happened. A list may know the milliseconds of a version.
	if (!isNews(known, version) && !known.incomplete) {
		return { type: 'skip', version: listed.at > version.at ? listed : undefined };
	}
	// as-asked: settled for as long as was chosen.
	if (Math.abs(now - version.at) < settleMs) return { type: 'wait' };
	// completed: whatever event and star are chosen.
	if (known.incomplete) return { type: 'emit', version };
	// as-asked: only the event and the star that were chosen.
	const isOtherStar = isStarred !== undefined && isStarred !== version.starred;
	if (isOtherStar || !changes.includes(changeType(known))) return { type: 'skip', version };
	// created-once, final-version.
	return { type: 'emit', version };
}

function decideUnread(
	known: KnownEntry,
	{ why, listed, retry }: Extract<Seen, { why: string }>,
	now: number,
): Decision {
	const failedMs = now - retry.since;
	if (known.incomplete && failedMs >= MAX_INCOMPLETE_MS) return { type: 'skip' };
	// whole: only after a day it is reported as the list shows it.
	const isGivenUp = failedMs >= GIVEN_UP_MS && retry.times >= MIN_TRIES && !known.incomplete;
	if (isGivenUp && listed) return { type: 'emit', version: listed, isIncomplete: true };
	// failure-shows: tried again less and less often.
	return { type: 'retry', why };
}

/** What an item says happened to its lifelog. */
export function changeType({ at }: KnownEntry): 'created' | 'updated' {
	return at === undefined ? 'created' : 'updated';
}

/** What to record of an entry after a decision. */
export function recordOf(known: KnownEntry, decision: Decision, retry?: RetryState): KnownEntry {
	switch (decision.type) {
		case 'emit': {
			const isIncomplete = decision.isIncomplete && { pending: true, incomplete: true, retry };
			return { ...atVersion(known, decision.version), ...isIncomplete };
		}
		case 'skip':
			return atVersion(known, decision.version);
		case 'wait':
			return { ...known, pending: true };
		case 'retry':
			return { ...known, pending: true, retry };
	}
}

/** An entry at a version, with nothing left to do. */
function atVersion({ day, at, starred, starToggles }: KnownEntry, version?: Version): KnownEntry {
	if (!version) return { day, at, starred, starToggles };
	const isLater = at === undefined || version.at > at;
	const toggles = isLater ? 0 : starToggles + Number(version.starred !== starred);
	return { day, at: isLater ? version.at : at, starred: version.starred, starToggles: toggles };
}
