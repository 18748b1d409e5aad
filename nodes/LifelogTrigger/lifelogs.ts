import type { IDataObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import type { Lifelog } from '../shared/api-types';
import { getLifelog, lifelogJson, LIGHT } from '../shared/lifelogs';
import { pages } from '../shared/pagination';
import type { Seen } from './compare';
import { changeType, compare, eventKey, isNews, recordOf } from './compare';
import { align, dayOf, daysToRead, lastDayRead } from './days';
import type { Outcome } from './merge';
import type { Poll, PollResult } from './poll';
import { isPassing, readEach } from './reading';
import type { Entry, Version } from './state';
import { instantOf } from './times';

/** Full reads a poll. */
const MOST_READS = 50;
/** After so many polls that failed to read it in full an entry is emitted as the list shows it. */
const MOST_FAILURES = 10;
/** Just below the rate limit of a minute (specification, section 8): then no further day is begun. */
const MOST_SCAN_REQUESTS = 160;

interface Sighting extends Seen {
	lifelog: Lifelog;
}

/** Something to be emitted, if it is wanted. */
interface Change {
	id: string;
	base: Entry;
	/** Undefined for an entry that is pending but was in no reading. */
	sighting?: Sighting;
}

/**
 * Reads the days that are due and what has changed on them.
 *
 * @throws NodeApiError when a day cannot be read, or nothing of what has changed.
 */
export async function findLifelogs(poll: Poll): Promise<PollResult> {
	const { read, seen, failure } = await scan(poll);
	const { changes, outcomes } = findChanges(poll, read, seen);

	const due: Change[] = [];
	for (const change of changes) {
		const outcome = decide(poll, change, change.sighting);
		if (outcome) outcomes.push(outcome);
		else due.push(change);
	}
	for (const outcome of await readChanges(poll, due, seen)) outcomes.push(outcome);
	return { read, outcomes, failure };
}

/** Reads days without content and unfiltered, until all are read that are due or may be. */
async function scan(poll: Poll) {
	const { api, state, isFirst } = poll;
	const read: string[] = [];
	const seen = new Map<string, Sighting>();
	const mayGoOn = () =>
		read.length === 0 || (api.run.requests < MOST_SCAN_REQUESTS && poll.isWithinBudget(0.5));
	const nextDay = () => daysToRead(state, poll.reach()).find((day) => !read.includes(day));

	for (let day = lastDayRead(state) ?? nextDay(); day !== undefined && mayGoOn(); day = nextDay()) {
		try {
			for (const sighting of await readDay(poll, day)) seen.set(sighting.id, sighting);
		} catch (error) {
			if (isFirst && isPassing(error)) return { read, seen, failure: error as NodeApiError };
			throw new NodeApiError(api.context.getNode(), error);
		}
		read.push(day);
	}
	return { read, seen };
}

async function readDay({ api }: Poll, day: string): Promise<Sighting[]> {
	const query = { date: day, timezone: 'UTC', direction: 'asc', ...LIGHT };
	const sightings: Sighting[] = [];
	for await (const page of pages<Lifelog>(api, { name: 'lifelogs', query })) {
		for (const lifelog of page) {
			const start = instantOf(lifelog.startTime, 'UTC');
			sightings.push({ id: lifelog.id, day, start, lifelog, ...versionOf(lifelog, 'UTC') });
		}
	}
	return sightings;
}

/** What the readings say: what is new or changed, and what is merely to be recorded. */
function findChanges(poll: Poll, read: string[], seen: Map<string, Sighting>) {
	const state = align(poll.state, poll.reach());
	const changes: Change[] = [];
	const outcomes: Outcome[] = [];
	for (const [id, sighting] of seen) {
		const { base, isChanged } = compare(state, sighting, poll.isFirst);
		if (isChanged) changes.push({ id, base, sighting });
		else outcomes.push({ id, version: sighting, entry: done(base) });
	}
	for (const [id, base] of state.entries) {
		const isMissing = base.pending !== undefined && read.includes(base.day) && !seen.has(id);
		if (isMissing) changes.push({ id, base });
	}
	return { changes, outcomes };
}

/**
 * What becomes of a change, seen in a version of the entry.
 *
 * @returns undefined when it is to be emitted.
 */
function decide(
	{ settings, reach }: Poll,
	{ id, base }: Change,
	version: Version | undefined,
): Outcome | undefined {
	if (!version) return undefined;
	const { isStarred, changes, settleMs } = settings;
	if (Math.abs(reach().now - version.at) < settleMs) return { id, version, entry: pending(base) };
	const isWanted =
		changes.includes(changeType(base)) &&
		(isStarred === undefined || isStarred === version.starred);
	return isWanted ? undefined : { id, version, entry: recordOf(base, version) };
}

/** Reads changes in full, oldest first, those that failed before behind the others. */
async function readChanges(
	poll: Poll,
	due: Change[],
	seen: Map<string, Sighting>,
): Promise<Outcome[]> {
	const ordered = due.sort(
		(a, b) =>
			Number(failures(a) > 0) - Number(failures(b) > 0) ||
			startOfChange(a) - startOfChange(b) ||
			(a.id < b.id ? -1 : 1),
	);
	const { timezone, include } = poll.settings;
	const read = async (id: string) => await getLifelog(poll.api, id, { timezone, ...include });
	const ids = ordered.slice(0, MOST_READS).map(({ id }) => id);
	const reading = await readEach(poll.api, ids, read, () => poll.isWithinBudget(0.75));
	const { found, gone, failed, blockedBy } = reading;

	if (found.size + gone.size === 0) {
		if (blockedBy) throw blockedBy;
		const [failure] = failed.values();
		if (failure && !(await isOwnFault(poll, failed, seen, read))) throw failure;
	}
	return ordered.map((change) => {
		const { id, base, sighting } = change;
		const lifelog = found.get(id);
		const error = failed.get(id);
		if (lifelog) return complete(poll, change, lifelog);
		if (gone.has(id)) return { id, entry: base.at === undefined ? undefined : done(base) };
		if (error) return failedAgain(poll, change, error.message);
		return { id, version: sighting, entry: pending(base) };
	});
}

/** Whether it is for the entries themselves that they cannot be read: another one can. */
async function isOwnFault(
	{ api, state }: Poll,
	failed: Map<string, NodeApiError>,
	seen: Map<string, Sighting>,
	read: (id: string) => Promise<Lifelog>,
): Promise<boolean> {
	const other = [...seen.keys(), ...state.entries.keys()].find((id) => !failed.has(id));
	if (other === undefined) return true;
	const { found, gone } = await readEach(api, [other], read, () => true);
	return found.size + gone.size > 0;
}

function complete(poll: Poll, change: Change, lifelog: Lifelog): Outcome {
	const { id, sighting } = change;
	const { timezone } = poll.settings;
	const version = versionOf(lifelog, timezone);
	const start = instantOf(lifelog.startTime, timezone);
	const base = { ...change.base, ...(start > 0 && { day: dayOf(start) }) };
	if (!isNews(base, version)) {
		const isBehindList = sighting !== undefined && sighting.at > version.at;
		if (!isBehindList) return { id, version, entry: done(base) };
		// The service may tell a list the milliseconds, and of one entry full seconds.
		const isSame = wholeSecond(sighting.at) === version.at;
		if (isSame) return { id, version: sighting, entry: recordOf(base, sighting) };
		return failedAgain(poll, change, 'it is older there than in the list');
	}
	const json = lifelogJson(lifelog, poll.settings.include.includeContents);
	return decide(poll, { id, base }, version) ?? emit({ id, base }, version, start, json);
}

/** Leaves a change to the next poll, behind others; after some polls it is emitted as it was listed. */
function failedAgain({ api }: Poll, change: Change, why: string): Outcome {
	const { id, base, sighting } = change;
	const count = failures(change) + 1;
	api.context.logger.warn(
		`Lifelog Trigger: the lifelog "${id}" could not be read (time ${count} of ${MOST_FAILURES}): ${why}`,
	);
	if (count < MOST_FAILURES) return { id, version: sighting, entry: { ...base, pending: count } };
	if (!sighting) return { id, entry: base.at === undefined ? undefined : done(base) };
	const json = { ...lifelogJson(sighting.lifelog, false), incomplete: true };
	return emit(change, sighting, sighting.start, json);
}

function emit({ id, base }: Change, version: Version, start: number, json: IDataObject): Outcome {
	const entry = recordOf(base, version);
	const extra = { changeType: changeType(base), eventKey: eventKey(id, entry) };
	return { id, version, entry, event: { start, item: { json: { ...json, ...extra } } } };
}

/** The version of a lifelog, its times read in the zone they were asked for. */
export function versionOf({ updatedAt, isStarred }: Lifelog, zone: string): Version {
	return { at: instantOf(updatedAt, zone), starred: isStarred === true };
}

function wholeSecond(ms: number): number {
	return ms - (ms % 1000);
}

function startOfChange({ base, sighting }: Change): number {
	return sighting?.start ?? Date.parse(base.day);
}

function failures({ base }: Change): number {
	return base.pending ?? 0;
}

function pending(base: Entry): Entry {
	return { ...base, pending: base.pending ?? 0 };
}

function done({ day, at, starred, flips }: Entry): Entry {
	return { day, at, starred, flips };
}
