// Step 4 for lifelogs: reads in full what the decisions emit, and makes its items.
import type { Lifelog } from '../../../lifelog/api.ts';
import { instantsOf, utcDay } from '../../../lifelog/times.ts';
import { getLifelog } from '../../shared/api/entries';
import { isGone } from '../engine/failures';
import { readByIds } from '../engine/readByIds';
import { recordOf } from '../engine/records';
import { retried } from '../engine/retry';
import type { Outcome, Poll, Version } from '../engine/types';
import { type Change, changeType, decide, isNews } from './decide';
import { lifelogItem } from './item';

const MAX_LIFELOG_READS = 50;

export async function readLifelogs(poll: Poll, changes: Change[]): Promise<Outcome[]> {
	const query = { timezone: poll.settings.timezone, ...poll.settings.include };
	const ids = changes.sort(byUrgency).map(({ id }) => id);
	const answers = await readByIds(poll, ids.slice(0, MAX_LIFELOG_READS), getLifelog, query);
	return changes.map((change): Outcome => {
		const { id, known, listed } = change;
		const answer = answers.get(id);
		if (answer === undefined) return { id, entry: recordOf(known, { type: 'wait' }) };
		if (!(answer instanceof Error)) return whenRead(poll, change, answer);
		if (listed || !isGone(answer)) return whenUnread(poll, change);
		const isKnown = known.at !== undefined;
		return { id, entry: isKnown ? recordOf(known, { type: 'skip' }) : undefined };
	});
}

/** New lifelogs by their start; then updates, and last what failed, those first that waited longest (_next-poll_). */
function byUrgency(a: Change, b: Change): number {
	const place = ({ known, start }: Change) => known.retry?.poll ?? known.at ?? start;
	return rankOf(a) - rankOf(b) || place(a) - place(b) || (a.id < b.id ? -1 : 1);
}

function rankOf({ known }: Change): number {
	if (known.retry) return 2;
	return known.at === undefined ? 0 : 1;
}

function whenRead(poll: Poll, change: Change, lifelog: Lifelog): Outcome {
	const { settings } = poll;
	const { id, known: before, listed } = change;
	const version = versionRead(lifelog, settings.timezone, listed ?? before);
	// In the hour that autumn repeats the next list, which is in UTC, tells which time it is.
	if (!version) return { id, entry: recordOf(before, { type: 'wait' }) };
	const starts = instantsOf(lifelog.startTime, settings.timezone);
	const start = starts.find((time) => time === change.start) ?? starts[0] ?? 0;
	// The 24 hours begin again.
	const known = { ...before, day: start > 0 ? utcDay(start) : before.day, retry: undefined };
	// _final-version_: not one that is older than the list shows.
	const isOlder = listed && listed.at > version.at && toSecond(listed.at) !== version.at;
	if (isOlder && !isNews(known, version)) return whenUnread(poll, change);
	const decision = decide(known, { version, listed }, settings, poll.current().window.now);
	const entry = recordOf(known, decision);
	if (decision.type !== 'emit') return { id, entry };
	const json = lifelogItem(settings, lifelog, changeType(known), entry);
	return { id, entry, event: { start, item: { json } } };
}

function whenUnread(poll: Poll, { id, known, listed, start }: Change): Outcome {
	const { settings } = poll;
	const { state, window } = poll.current();
	const retry = retried(known.retry, state, window.now);
	const decision = decide(known, { listed, retry }, settings, window.now);
	const entry = recordOf(known, decision, retry);
	if (decision.type !== 'emit' || !listed) return { id, entry };
	const json = lifelogItem(settings, listed.lifelog, changeType(known), entry);
	return { id, entry, event: { start, item: { json } } };
}

/** The version of a lifelog read in full; what it leaves out is as known. Undefined if unclear. */
function versionRead({ updatedAt, isStarred }: Lifelog, zone: string, known: Partial<Version>) {
	const times = instantsOf(updatedAt, zone);
	const isKnown = (time: number) => time === known.at || time === toSecond(known.at ?? 0);
	const at = times.length > 1 ? times.find(isKnown) : (times[0] ?? known.at);
	const starred = typeof isStarred === 'boolean' ? isStarred : known.starred === true;
	return at === undefined ? undefined : { at, starred };
}

const toSecond = (time: number) => time - (time % 1000);
