// Step 4: reads in full what is to be reported, and makes its items.
import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import type { Lifelog } from '../../shared/api/apiTypes';
import { MAX_CONCURRENT_READS, mapConcurrent } from '../../shared/transport/concurrency';
import { getLifelog } from '../../shared/api/lifelogs';
import { outputOf } from '../../shared/parameters/output';
import { sanitizeForDisplay } from '../../shared/errors/sanitize';
import type { Settings } from '../parameters';
import type { Found, KnownEntry, Outcome, Poll, Version } from '../state/types';
import { dayOf, isNews, retried, timesOf } from '../state/types';
import type { Change } from './detect';
import { changeType, decide, recordOf } from './detect';
import { isBlocking, OUTAGE, toApiError } from './list';

/** Reads of a poll, and the share of its time until which they begin. */
const MAX_READS = 50;
const READ_SHARE = 0.75;
const MAX_LOG_LINE = 1_000;

/** Reads entries by ID; what is neither found, gone nor failed was not tried. */
export async function readByIds<T>(
	poll: Poll,
	ids: string[],
	read: (api: Api, id: string) => Promise<T>,
) {
	const found = new Map<string, T>();
	const gone = new Set<string>();
	const failed = new Map<string, NodeApiError>();
	const blocking: NodeApiError[] = [];
	const mayGoOn = () => {
		const isOutage = failed.size >= OUTAGE && found.size + gone.size === 0;
		return blocking.length === 0 && !isOutage && poll.isWithin(READ_SHARE);
	};
	await mapConcurrent(poll.api, ids, MAX_CONCURRENT_READS, async (api, id) => {
		if (!mayGoOn()) return;
		try {
			found.set(id, await read(api, id));
		} catch (error) {
			const failure = toApiError(poll, error);
			if (failure.httpCode === '404') gone.add(id);
			else if (isBlocking(failure)) blocking[0] = failure;
			else failed.set(id, failure);
		}
	});
	return { found, gone, failed, failures: [...failed.values(), ...blocking] };
}

/** Reads changes in full, 50 at most (_bounded_). */
export async function readInFull(
	poll: Poll,
	changes: Change[],
	isBlocked: boolean,
): Promise<Found> {
	const { timezone, include } = poll.settings;
	const ids = changes.sort(inTurn).map(({ id }) => id);
	const toRead = isBlocked ? [] : ids.slice(0, MAX_READS);
	const { found, gone, failed, failures } = await readByIds(poll, toRead, async (api, id) => {
		return await getLifelog(api, id, { timezone, ...include });
	});
	const outcomes = changes.map((change): Outcome => {
		const { id, known, listed } = change;
		const lifelog = found.get(id);
		if (lifelog) return whenRead(poll, change, lifelog);
		if (gone.has(id) && listed) {
			return whenUnread(poll, change, 'it is listed, but not known there');
		}
		const isKnown = known.at !== undefined;
		if (gone.has(id)) return { id, entry: isKnown ? recordOf(known, { type: 'skip' }) : undefined };
		const failure = failed.get(id);
		if (failure) return whenUnread(poll, change, failure.message);
		return { id, entry: recordOf(known, { type: 'wait' }) };
	});
	return { outcomes, failures, isAnswered: found.size + gone.size > 0 };
}

/** New lifelogs by their start; then updates, and last what failed, those first that waited longest (_next-poll_). */
function inTurn(a: Change, b: Change): number {
	const rank = ({ known }: Change) => (known.retry ? 2 : known.at === undefined ? 0 : 1);
	const place = ({ known, listed }: Change) =>
		known.retry?.poll ?? known.at ?? listed?.start ?? Date.parse(known.day);
	return rank(a) - rank(b) || place(a) - place(b) || (a.id < b.id ? -1 : 1);
}

/** What becomes of a lifelog that was read in full, by the version and the start it has there. */
function whenRead(poll: Poll, { id, known: before, listed }: Change, lifelog: Lifelog): Outcome {
	const { settings } = poll;
	const version = versionRead(lifelog, settings.timezone, listed ?? before);
	// In the hour that autumn repeats the next list, which is in UTC, tells which time it is.
	if (!version) return { id, entry: recordOf(before, { type: 'wait' }) };
	const starts = timesOf(lifelog.startTime, settings.timezone);
	const start = starts.find((time) => time === listed?.start) ?? starts[0] ?? 0;
	const known = start > 0 ? { ...before, day: dayOf(start) } : before;
	// final-version: not one that is older than the list shows.
	const isOlder = listed && listed.at > version.at && toSecond(listed.at) !== version.at;
	if (isOlder && !isNews(known, version)) {
		return whenUnread(poll, { id, known, listed }, 'it is older there than in the list');
	}
	const decision = decide(known, { version, listed }, settings, poll.window().now);
	const entry = recordOf(known, decision);
	if (decision.type !== 'emit') return { id, entry };
	const json = { ...jsonOf(settings, lifelog), ...labels(id, known, entry) };
	return { id, entry, event: { start, item: { json } } };
}

/** What becomes of a lifelog that could not be read in full. */
function whenUnread(poll: Poll, { id, known, listed }: Change, why: string): Outcome {
	const { settings, state } = poll;
	const { now } = poll.window();
	const retry = retried(known.retry, state.polls, now);
	const decision = decide(known, { why, listed, retry }, settings, now);
	const entry = recordOf(known, decision, retry);
	if (decision.type === 'retry') logFailure(poll, `the lifelog "${id}"`, retry.times, why);
	if (decision.type !== 'emit' || !listed) return { id, entry };
	const json = { ...jsonOf(settings, listed.lifelog, false), incomplete: true };
	const item = { json: { ...json, ...labels(id, known, entry) } };
	return { id, entry, event: { start: listed.start, item } };
}

/** Writes one line into n8n's log, whatever the service's words are, and without the API key. */
export function logFailure(poll: Poll, what: string, times: number, why: string): void {
	const line = `Lifelog Trigger: ${what} could not be read (time ${times}): ${why}`;
	poll.context.logger.warn(sanitizeForDisplay(poll.api.apiKey, line, MAX_LOG_LINE));
}

/** A lifelog as it is emitted, without what the trigger adds. */
export function jsonOf(settings: Settings, lifelog: Lifelog, isRead = true): IDataObject {
	const { output, include, timezone } = settings;
	const includeContents = isRead && include.includeContents;
	return outputOf(lifelog, output, { timezone, includeContents });
}

function labels(id: string, known: KnownEntry, entry: KnownEntry): IDataObject {
	return { changeType: changeType(known), eventKey: eventKey(id, entry) };
}

/**
 * The key of an event: the same for the same version, whatever the time zone (_no-repeat_). A star
 * that comes again is counted; what is incomplete leaves the plain key to what completes it.
 */
export function eventKey(id: string, entry: Omit<KnownEntry, 'day'>): string {
	const { at = 0, starred, starToggles, incomplete } = entry;
	const times = Math.ceil(starToggles / 2);
	const star = `:${starred ? 'starred' : 'unstarred'}${times > 1 ? `:${times}` : ''}`;
	const version = `${id}:${new Date(at).toISOString()}${starToggles > 0 ? star : ''}`;
	return incomplete ? `${version}:incomplete` : version;
}

/** The version of a lifelog read in full; what it leaves out is as known. Undefined if unclear. */
function versionRead({ updatedAt, isStarred }: Lifelog, zone: string, known: Partial<Version>) {
	const times = timesOf(updatedAt, zone);
	const isKnown = (time: number) => time === known.at || time === toSecond(known.at ?? 0);
	const at = times.length > 1 ? times.find(isKnown) : (times[0] ?? known.at);
	const starred = typeof isStarred === 'boolean' ? isStarred : known.starred === true;
	return at === undefined ? undefined : { at, starred };
}

const toSecond = (time: number) => time - (time % 1000);
