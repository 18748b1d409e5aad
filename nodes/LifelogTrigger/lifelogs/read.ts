// Step 4: reads in full what the decisions emit, and makes its items.
import { type IDataObject, NodeApiError } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { getLifelog } from '../../shared/api/entries';
import { outputOf } from '../../shared/parameters/output';
import { MAX_CONCURRENT_READS, mapConcurrent } from '../../shared/transport/concurrency';
import type { Api } from '../../shared/auth/connection';
import { instantsOf, utcDay } from '../../../lifelog/times.ts';
import type { Settings } from '../parameters';
import { type KnownEntry, type Outcome, type Poll, retried, type Version } from '../engine/types';
import { type Change, changeType, decide, isNews, recordOf } from './decide';
import { FAILURES_OF_OUTAGE, isBlocked, isBlocking, noteFailure } from './list';

/** Reads of a poll, and the share of its time until which they begin. */
const MAX_LIFELOG_READS = 50;
const READ_SHARE = 0.75;

/** @returns What was read by its ID, or why not; without what was not tried. */
export async function readByIds<T>(
	poll: Poll,
	ids: string[],
	read: (api: Api, id: string, query: IDataObject) => Promise<T>,
	query: IDataObject,
): Promise<Map<string, T | NodeApiError>> {
	const answers = new Map<string, T | NodeApiError>();
	let isAnswered = false;
	await mapConcurrent(poll.api, ids, MAX_CONCURRENT_READS, async (api, id) => {
		const isOutage = answers.size >= FAILURES_OF_OUTAGE && !isAnswered;
		if (isBlocked(poll) || isOutage || !poll.isWithin(READ_SHARE)) return;
		const answer = await read(api, id, query).catch((error: unknown) => error as NodeApiError);
		const isFailure = answer instanceof Error && !isGone(answer);
		if (isFailure) noteFailure(poll, answer);
		if (!isFailure || !isBlocking(answer)) answers.set(id, answer);
		if (!isFailure) poll.isAnswered = isAnswered = true;
	});
	return answers;
}

export function isGone(answer: unknown): boolean {
	return answer instanceof NodeApiError && answer.httpCode === '404';
}

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
	const rank = ({ known }: Change) => (known.retry ? 2 : known.at === undefined ? 0 : 1);
	const place = ({ known, start }: Change) => known.retry?.poll ?? known.at ?? start;
	return rank(a) - rank(b) || place(a) - place(b) || (a.id < b.id ? -1 : 1);
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

export function lifelogItem(
	{ output, include, timezone }: Settings,
	lifelog: Lifelog,
	change: Settings['changes'][0],
	entry: Omit<KnownEntry, 'day'>,
): IDataObject {
	const { incomplete } = entry;
	const includeContents = include.includeContents && !incomplete;
	const json = outputOf(lifelog, output, { timezone, includeContents });
	const labels = { changeType: change, eventKey: eventKey(lifelog.id, entry) };
	return { ...json, ...(incomplete && { incomplete }), ...labels };
}

/** What is incomplete leaves the plain key to what completes it. */
export function eventKey(id: string, entry: Omit<KnownEntry, 'day'>): string {
	const { at = 0, starred, starToggles, incomplete } = entry;
	const times = Math.ceil(starToggles / 2);
	const star = `:${starred ? 'starred' : 'unstarred'}${times > 1 ? `:${times}` : ''}`;
	const version = `${id}:${new Date(at).toISOString()}${starToggles > 0 ? star : ''}`;
	return incomplete ? `${version}:incomplete` : version;
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
