import type { NodeApiError } from 'n8n-workflow';

import { getLifelog } from '../shared/lifelogs';
import type { Sighting } from './compare';
import { compare } from './compare';
import { align, isDueAgain } from './days';
import type { DayRead, Findings, Outcome } from './merge';
import type { Change } from './outcomes';
import { decide, decideRead, done, failedAgain } from './outcomes';
import type { Poll } from './poll';
import { readByIds } from './reading';
import { listDays } from './sightings';
import type { KnownEntry, State } from './state';
import { timeOf } from './times';

const HOUR_MS = 60 * 60_000;
/** Full reads a poll, and the share of its time until which they are begun. */
const MOST_READS = 50;
const READ_SHARE = 0.75;

/** Reads the days that are due and what has changed on them. */
export async function findLifelogs(poll: Poll): Promise<Findings> {
	const { days, sightings, failures, isBlocked } = await listDays(poll);
	const state = align(poll.state, poll.reach());
	const { changes, outcomes } = findChanges(poll, state, days, sightings);

	const due: Change[] = [];
	for (const change of changes) {
		const outcome = change.sighting && decide(poll, change, change.sighting);
		if (outcome) outcomes.push(outcome);
		else due.push(change);
	}
	const read = await readChanges(poll, state, due, isBlocked);
	const isListed = sightings.size > 0 || [...days.values()].some(({ failed }) => !failed);
	return {
		days,
		outcomes: [...outcomes, ...read.outcomes],
		failures: [...failures, ...read.failures],
		isInVain: !isListed && read.readable === 0,
	};
}

/** What the lists say: what is new or changed, and what is merely to be recorded. */
function findChanges(
	poll: Poll,
	state: State,
	days: Map<string, DayRead>,
	sightings: Map<string, Sighting>,
): { changes: Change[]; outcomes: Outcome[] } {
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
 * When n8n starts again in memory, lifelogs that were not wanted since the state was last saved are
 * unknown. Where only updates are wanted, one that changed long after its end counts as one of them.
 */
function asKnownBefore(poll: Poll, base: KnownEntry, { at, lifelog }: Sighting): KnownEntry {
	const mayBeForgotten = poll.isActivation && !poll.settings.changes.includes('created');
	const end = timeOf(lifelog.endTime, 'UTC');
	const isKnown = base.at !== undefined || base.pending === true;
	if (isKnown || !mayBeForgotten || at < end + HOUR_MS) return base;
	return { ...base, at: end };
}

/** Reads changes in full; what was read and could not be decides nothing about the others. */
async function readChanges(
	poll: Poll,
	state: State,
	due: Change[],
	isBlocked: boolean,
): Promise<{ outcomes: Outcome[]; failures: NodeApiError[]; readable: number }> {
	const { timezone, include } = poll.settings;
	const ordered = due.sort(inTurn);
	const ids = isBlocked ? [] : ordered.slice(0, MOST_READS).map(({ id }) => id);
	const read = async (id: string) => await getLifelog(poll.api, id, { timezone, ...include });
	const mayGoOn = () => poll.isWithinBudget(READ_SHARE);
	const { found, gone, failed, failures } = await readByIds(poll.api, ids, read, mayGoOn);
	// Where no entry can be read it is not for their own sake: they are tried again at once.
	const isOutage = failed.size > 1 && found.size + gone.size === 0;
	const outcomes = ordered.map((change): Outcome => {
		const { id, base, sighting } = change;
		const lifelog = found.get(id);
		const error = failed.get(id);
		if (lifelog) return decideRead(poll, state, change, lifelog);
		if (gone.has(id) && sighting) {
			return failedAgain(poll, state, change, 'it is listed, but not known there');
		}
		if (gone.has(id)) return { id, entry: base.at === undefined ? undefined : done(base) };
		if (error) return failedAgain(poll, state, change, error.message, isOutage);
		return { id, version: sighting, entry: { ...base, pending: true } };
	});
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
