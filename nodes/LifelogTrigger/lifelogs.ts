import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Lifelog } from '../shared/api-types';
import { getLifelog, LIGHT } from '../shared/lifelogs';
import { logWarning } from '../shared/log';
import { outputOf } from '../shared/output';
import type { Listing } from '../shared/pagination';
import { pages } from '../shared/pagination';
import { earliest, latest } from './clock';
import type { ChangeType, Sighting } from './compare';
import { changeType, compare, eventKey, isNews, recordOf } from './compare';
import { align, dayOf, daysToRead, isDueAgain, troubled } from './days';
import type { DayRead, Outcome, PollResult } from './merge';
import type { Settings } from './parameters';
import type { Poll } from './poll';
import { isBlocking, readByIds, toApiError } from './reading';
import type { Entry, State, Version } from './state';
import { timeOf, timesOf } from './times';

const HOUR_MS = 60 * 60_000;
/** Full reads a poll. */
const MOST_READS = 50;
/** An entry that cannot be read in full for so long is emitted as the list shows it. */
const GIVEN_UP_AFTER_MS = 24 * HOUR_MS;
/** But not before it was tried so often. */
const LEAST_TRIES = 3;
/** What was emitted so is tried again for so long. */
const LONGEST_WAIT_MS = 31 * 24 * HOUR_MS;
/** Of the rate limit of a minute (specification, section 8), with room for full reads; and without. */
const MOST_SCAN_REQUESTS = 120;
const MOST_FIRST_REQUESTS = 160;
/** Shares of the poll's time: until when a day is begun, its list goes on, and entries are read. */
const SHARE = { begin: 0.5, list: 0.6, read: 0.75 };
/** So many days that fail before one can be read are taken for an outage. */
const OUTAGE = 4;

interface ListedLifelog extends Sighting {
	lifelog: Lifelog;
}

/** Something to be emitted, if it is wanted. */
interface Change {
	id: string;
	base: Entry;
	/** Undefined for an entry that is pending but was in no list. */
	sighting?: ListedLifelog;
}

/** What the lists of days gave. */
interface Scan {
	days: Map<string, DayRead>;
	sightings: Map<string, ListedLifelog>;
	failures: NodeApiError[];
	/** What ended it, as every request would fail just so. */
	blockedBy?: NodeApiError;
}

/** Reads the days that are due and what has changed on them. */
export async function findLifelogs(poll: Poll): Promise<PollResult> {
	const scanned = await scan(poll);
	const { days, sightings, failures } = scanned;
	const state = align(poll.state, poll.reach());
	const { changes, outcomes } = findChanges(poll, state, scanned);

	const due: Change[] = [];
	for (const change of changes) {
		const outcome = decide(poll, change, change.sighting);
		if (outcome) outcomes.push(outcome);
		else due.push(change);
	}
	const read = await readChanges(poll, state, due, scanned.blockedBy);
	const isInVain =
		sightings.size + read.readable === 0 && ![...days.values()].some(({ failed }) => !failed);
	return {
		days,
		outcomes: [...outcomes, ...read.outcomes],
		failures: [...failures, ...read.failures],
		isInVain,
	};
}

/** Reads days without content and unfiltered, until all are read that are due or may be. */
async function scan(poll: Poll): Promise<Scan> {
	const { api, state } = poll;
	const scanned: Scan = { days: new Map(), sightings: new Map(), failures: [] };
	const { days } = scanned;
	const isOutage = () => days.size >= OUTAGE && [...days.values()].every(({ failed }) => failed);
	const mayGoOn = () =>
		days.size === 0 ||
		(api.run.requests < mostRequests(poll) && poll.isWithinBudget(SHARE.begin) && !isOutage());
	const nextDay = () => {
		const reach = poll.reach();
		return daysToRead(align(state, reach), reach).find((day) => !days.has(day));
	};

	for (let day = nextDay(); day !== undefined && mayGoOn(); day = nextDay()) {
		const read = await readDay(poll, day, scanned);
		if (scanned.blockedBy) break;
		days.set(day, read);
	}
	return scanned;
}

function mostRequests({ isFirst }: Poll): number {
	return isFirst ? MOST_FIRST_REQUESTS : MOST_SCAN_REQUESTS;
}

/** Lists a day, from where the last poll left off, and adds what it shows. */
async function readDay(poll: Poll, day: string, scanned: Scan): Promise<DayRead> {
	const { api, state } = poll;
	const known = state.days.get(day);
	const query = { date: day, timezone: 'UTC', direction: 'asc', ...LIGHT };
	let cursor: string | undefined;
	let failed = false;
	const listing: Listing = {
		name: 'lifelogs',
		query,
		from: known?.cursor,
		onUnusable: (error) => {
			failed = true;
			if (isDueAgain(known?.trouble, state, poll.reach())) scanned.failures.push(error);
		},
		mayGoOn: (next) => {
			const isTime = poll.isWithinBudget(SHARE.list) && api.run.requests < mostRequests(poll);
			if (!isTime) cursor = next;
			return isTime;
		},
	};
	try {
		for await (const page of pages<Lifelog>(api, listing)) {
			for (const lifelog of page) {
				const { id } = lifelog;
				const start = timeOf(lifelog.startTime, 'UTC');
				const version = versionOf(lifelog, 'UTC');
				scanned.sightings.set(id, { id, day, start, lifelog, ...version });
			}
		}
		return { isComplete: cursor === undefined, cursor, failed };
	} catch (error) {
		const failure = toApiError(api, error);
		scanned.failures.push(failure);
		if (isBlocking(failure)) scanned.blockedBy = failure;
		return { isComplete: false, failed: true };
	}
}

/** What the lists say: what is new or changed, and what is merely to be recorded. */
function findChanges(poll: Poll, state: State, { days, sightings }: Scan) {
	const reach = poll.reach();
	const changes: Change[] = [];
	const outcomes: Outcome[] = [];
	for (const [id, sighting] of sightings) {
		const { base: found, isChanged } = compare(state, sighting, poll.isFirst);
		const base = isChanged ? asKnownBefore(poll, found, sighting) : found;
		if (isChanged || base.incomplete) changes.push({ id, base, sighting });
		else outcomes.push({ id, version: sighting, entry: done(base) });
	}
	for (const [id, base] of state.entries) {
		if (!base.pending || sightings.has(id)) continue;
		const isSettling = poll.settings.settleMs > 0 && !days.get(base.day)?.isComplete;
		if (!isSettling) changes.push({ id, base });
	}
	return {
		changes: changes.filter(({ base }) => isDueAgain(base.trouble, state, reach)),
		outcomes,
	};
}

/**
 * When n8n starts again in memory, lifelogs that were passed over since the state was last saved are
 * unknown. Where only updates are wanted, one that changed long after its end counts as one of them.
 */
function asKnownBefore(poll: Poll, base: Entry, { at, lifelog }: ListedLifelog): Entry {
	const mayBeForgotten = poll.isActivation && !poll.settings.changes.includes('created');
	const end = timeOf(lifelog.endTime, 'UTC');
	const isKnown = base.at !== undefined || base.pending === true;
	if (isKnown || !mayBeForgotten || at < end + HOUR_MS) return base;
	return { ...base, at: end };
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

/** Reads changes in full; what was read and could not be decides nothing about the others. */
async function readChanges(
	poll: Poll,
	state: State,
	due: Change[],
	blockedBy: NodeApiError | undefined,
): Promise<{ outcomes: Outcome[]; failures: NodeApiError[]; readable: number }> {
	const { timezone, include } = poll.settings;
	const ordered = due.sort(inTurn);
	const ids = blockedBy ? [] : ordered.slice(0, MOST_READS).map(({ id }) => id);
	const read = async (id: string) => await getLifelog(poll.api, id, { timezone, ...include });
	const reading = await readByIds(poll.api, ids, read, () => poll.isWithinBudget(SHARE.read));
	const { found, gone, failed } = reading;
	// Where no entry can be read it is not for their own sake: they are tried again at once.
	const isOutage = failed.size > 1 && found.size + gone.size === 0;
	const outcomes = ordered.map((change): Outcome => {
		const { id, base, sighting } = change;
		const lifelog = found.get(id);
		const error = failed.get(id);
		if (lifelog) return complete(poll, state, change, lifelog);
		if (gone.has(id) && sighting) {
			return failedAgain(poll, state, change, 'it is listed, but not known there');
		}
		if (gone.has(id)) return { id, entry: base.at === undefined ? undefined : done(base) };
		if (error) return failedAgain(poll, state, change, error.message, isOutage);
		return { id, version: sighting, entry: { ...base, pending: true } };
	});
	const failures = [...failed.values(), ...(reading.blockedBy ? [reading.blockedBy] : [])];
	return { outcomes, failures, readable: found.size + gone.size };
}

/**
 * New entries first, oldest start first; then updates, those last reported longest ago first, so
 * that none that change all the time holds up another; behind them what could not be read before,
 * what was tried longest ago first.
 */
function inTurn(a: Change, b: Change): number {
	const rank = ({ base }: Change) => (base.trouble ? 2 : base.at === undefined ? 0 : 1);
	const place = ({ base, sighting }: Change) =>
		base.trouble?.poll ?? base.at ?? sighting?.start ?? Date.parse(base.day);
	return rank(a) - rank(b) || place(a) - place(b) || (a.id < b.id ? -1 : 1);
}

function complete(poll: Poll, state: State, change: Change, lifelog: Lifelog): Outcome {
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
function failedAgain(
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
	debt: Partial<Entry> = {},
): Outcome {
	const entry = { ...recordOf(base, version), ...debt };
	const change: ChangeType = changeType(base);
	const extra = { changeType: change, eventKey: eventKey(id, entry) };
	return { id, version, entry, event: { start, item: { json: { ...json, ...extra } } } };
}

/** The version of a lifelog that was asked for in UTC, or whose times name their offset. */
export function versionOf({ updatedAt, isStarred }: Lifelog, zone: string): Version {
	return { at: timeOf(updatedAt, zone), starred: isStarred === true };
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

function done({ day, at, starred, flips }: Entry): Entry {
	return { day, at, starred, flips };
}
