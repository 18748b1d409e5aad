// Step 2: lists the days that are due, without content and without filters.
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Lifelog } from '../../shared/api/apiTypes';
import { METADATA_ONLY } from '../../shared/api/lifelogs';
import { pages } from '../../shared/transport/pagination';
import { advanceWindow, dueDays, pendingDays } from '../state/storage';
import type { Found, KnownDay, Poll, PollWindow, State, Version } from '../state/types';
import { dayOf, isRetryDue, lookback, retried, timesOf } from '../state/types';

/** Requests for lists leave room for reads within the minute's limit of 180 (_bounded_). */
const MAX_REQUESTS = 120;
const MAX_FIRST_REQUESTS = 160;
/** Shares of the poll's time until which a day is begun, and until which its list goes on. */
const BEGIN_SHARE = 0.5;
const LIST_SHARE = 0.6;
/** A list that has not ended after so many polls may have no end: it counts as failed. */
const MAX_PARTS = 8;

/** So many failures before the first success are an outage. */
export const OUTAGE = 4;

/** A lifelog as the list of a day shows it. */
export interface ListedLifelog extends Version {
	lifelog: Lifelog;
	day: string;
	start: number;
	end: number;
}

export interface LifelogListing extends Found {
	days: Map<string, Partial<KnownDay>>;
	lifelogs: Map<string, ListedLifelog>;
}

/** Lists one day after another, while there is time. */
export async function listDays(poll: Poll): Promise<LifelogListing> {
	const days: LifelogListing['days'] = new Map();
	const found = { outcomes: [], failures: [], isAnswered: false };
	const listing: LifelogListing = { days, lifelogs: new Map(), ...found };
	const nextDay = () => {
		const isOutage = days.size >= OUTAGE && !listing.isAnswered;
		const mayGoOn = days.size === 0 || mayList(poll, BEGIN_SHARE);
		if (listing.isBlocked || isOutage || !mayGoOn) return undefined;
		// The first answer may tell that it is another day than was known.
		const window = poll.window();
		return daysToRead(advanceWindow(poll.state, window), window).find((day) => !days.has(day));
	};
	for (let day = nextDay(); day; day = nextDay()) await listDay(poll, day, listing);
	return listing;
}

function mayList({ api, isFirst, isWithin }: Poll, share: number): boolean {
	return isWithin(share) && api.run.requests < (isFirst ? MAX_FIRST_REQUESTS : MAX_REQUESTS);
}

/**
 * Today, yesterday, the days that are due, with something pending, or overdue, and one more of the
 * look-back (_cheap_): the one not read for longest first, of those the newest; last what failed.
 */
export function daysToRead(state: State, window: PollWindow): string[] {
	const { polls, days } = state;
	const { now, lookbackDays } = window;
	const readAt = (day: string) => days.get(day)?.read ?? 0;
	const retryOf = (day: string) => {
		const retry = days.get(day)?.retry;
		return retry && retry.poll > readAt(day) ? retry : undefined;
	};
	const inWindow = lookback(window).filter((day) => day >= state.from);
	const overdue = inWindow.filter((day) => readAt(day) + 4 * lookbackDays < polls);
	const pending = pendingDays(state, ({ retry }) => isRetryDue(retry, polls, now));
	const due = new Set([...inWindow.slice(-2), ...dueDays(state, window), ...pending, ...overdue]);
	const byRead = (a: string, b: string) => readAt(a) - readAt(b);
	const inTurn = [...due].sort((a, b) => byRead(a, b) || (a < b ? 1 : -1));
	const isDue = (day: string) => isRetryDue(retryOf(day), polls, now);
	const [other = []] = inWindow.filter((day) => !due.has(day) && isDue(day)).sort(byRead);
	const failed = inTurn.filter((day) => retryOf(day) && isDue(day));
	return [...inTurn.filter((day) => !retryOf(day)), other, failed].flat();
}

/** Lists a day from where the last poll stopped, and adds what it shows. */
async function listDay(poll: Poll, day: string, listing: LifelogListing): Promise<void> {
	const { polls, days } = poll.state;
	const { now } = poll.window();
	const known = days.get(day);
	const retry = retried(known?.retry, polls, now);
	const isSaid = !isRetryDue(known?.retry, polls, now);
	const read: Partial<KnownDay> = { cursor: undefined, parts: undefined, retry: undefined };
	const found = pages<Lifelog>(poll.api, {
		name: 'lifelogs',
		query: { date: day, timezone: 'UTC', direction: 'asc', ...METADATA_ONLY },
		from: known?.cursor,
		onUnusable: (error) => {
			// An entry without ID doesn't keep the day from being read; it is said less and less often.
			read.retry = isSaid ? known?.retry : retry;
			if (!isSaid) listing.failures.push(error);
		},
		mayGoOn: (cursor) => {
			const mayGoOn = mayList(poll, LIST_SHARE);
			if (!mayGoOn) Object.assign(read, { cursor, parts: (known?.parts ?? 0) + 1 });
			return mayGoOn;
		},
	});
	try {
		for await (const page of found) {
			for (const lifelog of page) listing.lifelogs.set(lifelog.id, listedOn(day, lifelog));
		}
		listing.isAnswered = true;
		const due = day > dayOf(poll.window().now, -2) || undefined;
		if (!read.parts) Object.assign(read, { read: polls + 1, due, since: undefined });
		else if (read.parts > MAX_PARTS) read.retry = retry;
	} catch (error) {
		const failure = toApiError(poll, error);
		listing.failures.push(failure);
		listing.isBlocked = isBlocking(failure);
		read.retry = retry;
	}
	if (!listing.isBlocked) listing.days.set(day, read);
}

function listedOn(day: string, lifelog: Lifelog): ListedLifelog {
	const [start = 0] = timesOf(lifelog.startTime, 'UTC');
	const [end = 0] = timesOf(lifelog.endTime, 'UTC');
	return { lifelog, day, start, end, ...versionOf(lifelog, 'UTC') };
}

/** @param zone The one it was asked for in: a time without offset is read in it. */
export function versionOf({ updatedAt, isStarred }: Lifelog, zone: string): Version {
	return { at: timesOf(updatedAt, zone)[0] ?? 0, starred: isStarred === true };
}

/** Whether the next request would fail in the same way, as it is about the key (_failure-shows_). */
export function isBlocking({ httpCode }: NodeApiError): boolean {
	return httpCode === '401' || httpCode === '429';
}

/** @throws NodeOperationError on what neither the service nor the connection caused. */
export function toApiError({ context }: Poll, error: unknown): NodeApiError {
	if (error instanceof NodeApiError) return error;
	throw new NodeOperationError(context.getNode(), error as Error);
}
