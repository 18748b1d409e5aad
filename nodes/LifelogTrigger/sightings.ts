import type { NodeApiError } from 'n8n-workflow';

import type { Lifelog } from '../shared/api-types';
import { LIGHT } from '../shared/lifelogs';
import type { Listing } from '../shared/pagination';
import { pages } from '../shared/pagination';
import type { Sighting } from './compare';
import { align, daysToRead, isDueAgain } from './days';
import type { DayRead } from './merge';
import type { Poll } from './poll';
import { isBlocking, OUTAGE, toApiError } from './reading';
import type { Version } from './state';
import { timeOf } from './times';

/** Of the rate limit of a minute (specification, section 8), with room for full reads; and without. */
const MOST_REQUESTS = 120;
const MOST_FIRST_REQUESTS = 160;
/** Shares of the poll's time: until when a day is begun, and until when its list goes on. */
const SHARE = { begin: 0.5, list: 0.6 };

/** What the lists of days gave. */
interface Listed {
	days: Map<string, DayRead>;
	/** By ID. */
	sightings: Map<string, Sighting>;
	failures: NodeApiError[];
	/** Whether it was ended, as every request would fail just so. */
	isBlocked: boolean;
}

/** Lists days without content and unfiltered, until all are read that are due or may be. */
export async function listDays(poll: Poll): Promise<Listed> {
	const { api, state } = poll;
	const days = new Map<string, DayRead>();
	const listed: Listed = { days, sightings: new Map(), failures: [], isBlocked: false };
	const isOutage = () => days.size >= OUTAGE && [...days.values()].every(({ failed }) => failed);
	const mayGoOn = () =>
		days.size === 0 ||
		(api.run.requests < mostRequests(poll) && poll.isWithinBudget(SHARE.begin) && !isOutage());
	const nextDay = () => {
		const reach = poll.reach();
		return daysToRead(align(state, reach), reach).find((day) => !days.has(day));
	};

	for (let day = nextDay(); day !== undefined && mayGoOn(); day = nextDay()) {
		const read = await listDay(poll, day, listed);
		if (listed.isBlocked) break;
		days.set(day, read);
	}
	return listed;
}

function mostRequests({ isFirst }: Poll): number {
	return isFirst ? MOST_FIRST_REQUESTS : MOST_REQUESTS;
}

/** Lists a day, from where the last poll left off, and adds what it shows. */
async function listDay(poll: Poll, day: string, listed: Listed): Promise<DayRead> {
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
			if (isDueAgain(known?.trouble, state, poll.reach())) listed.failures.push(error);
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
				listed.sightings.set(id, { id, day, start, lifelog, ...version });
			}
		}
		return { isComplete: cursor === undefined, cursor, failed };
	} catch (error) {
		const failure = toApiError(api, error);
		listed.failures.push(failure);
		if (isBlocking(failure)) listed.isBlocked = true;
		return { isComplete: false, failed: true };
	}
}

/**
 * The version of a lifelog.
 *
 * @param zone The one it was asked for in: a time without offset is read in it.
 */
export function versionOf({ updatedAt, isStarred }: Lifelog, zone: string): Version {
	return { at: timeOf(updatedAt, zone), starred: isStarred === true };
}
