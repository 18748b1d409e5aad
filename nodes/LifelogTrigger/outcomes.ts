import type { IDataObject } from 'n8n-workflow';

import type { Lifelog } from '../shared/api-types';
import { outputOf } from '../shared/output';
import { earliest, latest } from './clock';
import type { Sighting } from './compare';
import { changeType, eventKey, isNews, recordOf } from './compare';
import { dayOf, troubled } from './days';
import { logWarning } from './log';
import type { Outcome } from './merge';
import type { Settings } from './parameters';
import type { Poll } from './poll';
import type { KnownEntry, State, Version } from './state';
import { timesOf } from './times';

const HOUR_MS = 60 * 60_000;
/** An entry that cannot be read in full for so long is emitted as the list shows it. */
const GIVEN_UP_AFTER_MS = 24 * HOUR_MS;
/** But not before it was tried so often. */
const LEAST_TRIES = 3;
/** What was emitted so is tried again for so long. */
const LONGEST_WAIT_MS = 31 * 24 * HOUR_MS;

/** Something to be emitted, if it is wanted. */
export interface Change {
	id: string;
	/** What is known from before it. */
	base: KnownEntry;
	/** Undefined for an entry that is pending but was in no list. */
	sighting?: Sighting;
}

/**
 * What becomes of a change, seen in a version of the entry.
 *
 * @returns undefined when it is to be emitted.
 */
export function decide(
	{ settings, reach }: Poll,
	{ id, base }: Change,
	version: Version,
): Outcome | undefined {
	const { isStarred, changes, settleMs } = settings;
	const now = reach();
	const isSettling = [earliest(now), latest(now)].some(
		(time) => Math.abs(time - version.at) < settleMs,
	);
	if (isSettling) return { id, version, entry: { ...base, pending: true } };
	// What was wanted when it was emitted incomplete is owed.
	const isWanted =
		base.incomplete ||
		(changes.includes(changeType(base)) &&
			(isStarred === undefined || isStarred === version.starred));
	return isWanted ? undefined : { id, version, entry: recordOf(base, version) };
}

/** What becomes of a change that was read in full. */
export function decideRead(poll: Poll, state: State, change: Change, lifelog: Lifelog): Outcome {
	const { id, sighting } = change;
	const { timezone } = poll.settings;
	const version = versionRead(lifelog, timezone, sighting ?? change.base);
	// In the hour that autumn repeats the next list, which is in UTC, tells which it is.
	if (!version) return { id, version: sighting, entry: { ...change.base, pending: true } };
	const starts = timesOf(lifelog.startTime, timezone);
	const start = starts.find((time) => time === sighting?.start) ?? starts[0] ?? 0;
	const base = { ...change.base, ...(start > 0 && { day: dayOf(start) }) };
	if (!isNews(base, version)) {
		const isBehindList = sighting !== undefined && sighting.at > version.at;
		if (!isBehindList && !base.incomplete) return { id, version, entry: done(base) };
		// The service may tell a list the milliseconds, and of one entry full seconds.
		const isSame = isBehindList && wholeSecond(sighting.at) === version.at;
		if (isSame && !base.incomplete) {
			return { id, version: sighting, entry: recordOf(base, sighting) };
		}
		if (isBehindList && !isSame) {
			return failedAgain(poll, state, change, 'it is older there than in the list');
		}
	}
	const found = { id, base };
	const json = jsonOf(poll.settings, lifelog);
	return decide(poll, found, version) ?? emit(found, version, start, json);
}

/** Leaves a change to a later poll; in the end it is emitted as it was listed. */
export function failedAgain(
	poll: Poll,
	state: State,
	change: Change,
	why: string,
	isOutage = false,
): Outcome {
	const { id, base, sighting } = change;
	const reach = poll.reach();
	const again = troubled(base.trouble, state, reach);
	const lastedMs = earliest(reach) - again.since;
	const isPassing = isOutage && lastedMs < GIVEN_UP_AFTER_MS;
	const trouble = isPassing ? { ...again, times: Math.max(1, again.times - 1) } : again;
	const isGivenUp = trouble.times >= LEAST_TRIES && lastedMs >= GIVEN_UP_AFTER_MS;
	if (base.incomplete && lastedMs >= LONGEST_WAIT_MS) return { id, entry: done(base) };
	logWarning(
		poll.api,
		`Lifelog Trigger: the lifelog "${id}" could not be read (time ${trouble.times}): ${why}`,
	);
	if (!isGivenUp || !sighting || base.incomplete) {
		return { id, version: sighting, entry: { ...base, pending: true, trouble } };
	}
	const debt = { pending: true, incomplete: true, trouble };
	const json = { ...jsonOf(poll.settings, sighting.lifelog, false), incomplete: true };
	return emit(change, sighting, sighting.start, json, debt);
}

/**
 * A lifelog as it comes out, without what the trigger adds.
 *
 * @param includeContents Whether contents were asked for.
 */
export function jsonOf(
	{ output, include, timezone }: Settings,
	lifelog: Lifelog,
	includeContents = include.includeContents,
): IDataObject {
	return outputOf(lifelog, output, { timezone, includeContents });
}

/** @param debt What stays to be done. */
function emit(
	{ id, base }: Change,
	version: Version,
	start: number,
	json: IDataObject,
	debt: Partial<KnownEntry> = {},
): Outcome {
	const entry = { ...recordOf(base, version), ...debt };
	const extra = { changeType: changeType(base), eventKey: eventKey(id, entry) };
	return { id, version, entry, event: { start, item: { json: { ...json, ...extra } } } };
}

/**
 * The version of a lifelog that was read on its own. What it leaves out is as the list shows it.
 *
 * @param known What is known of it.
 * @returns undefined where it cannot be told.
 */
function versionRead(
	{ updatedAt, isStarred }: Partial<Lifelog>,
	zone: string,
	known: Partial<Version>,
): Version | undefined {
	const times = timesOf(updatedAt, zone);
	const isKnown = (time: number) => time === known.at || time === wholeSecond(known.at ?? 0);
	const at = times.length > 1 ? times.find(isKnown) : (times[0] ?? known.at);
	if (at === undefined) return undefined;
	return { at, starred: typeof isStarred === 'boolean' ? isStarred : known.starred === true };
}

function wholeSecond(ms: number): number {
	return ms - (ms % 1000);
}

/** What is known of an entry of which nothing is left to do. */
export function done({ day, at, starred, flips }: KnownEntry): KnownEntry {
	return { day, at, starred, flips };
}
