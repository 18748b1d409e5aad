// Step 2 for lifelogs: lists the days that are due, without content and without filters.
import type { Lifelog } from '../../../lifelog/api.ts';
import { HOUR_MS, instantsOf } from '../../../lifelog/times.ts';
import { METADATA_ONLY } from '../../shared/api/entries';
import { pages } from '../../shared/transport/pagination';
import { asRead, dueDays, lookback, pendingDays } from '../engine/days';
import { FAILURES_OF_OUTAGE, isBlocked, noteFailure, passOver } from '../engine/failures';
import { isRetryDue, retried } from '../engine/retry';
import type { KnownDay, Listing, Poll, PollWindow, State, Version } from '../engine/types';

/** Requests for lists leave room for reads within the minute's limit of 180 (_bounded_). */
const MAX_REQUESTS = 120;
const MAX_FIRST_REQUESTS = 160;
const LIST_SHARE = 0.5; // of the poll's time, until which lists go on
const MAX_PARTS = 8; // polls that may read a part of a list; a longer one may have no end

export type ListedLifelog = Version & { lifelog: Lifelog; day: string };

export type LifelogListing = Listing<ListedLifelog>;

export async function listDays(poll: Poll): Promise<LifelogListing> {
	const listing: LifelogListing = { days: new Map(), entries: new Map() };
	for (let day = nextDay(poll, listing); day; day = nextDay(poll, listing)) {
		await listDay(poll, day, listing);
	}
	return listing;
}

function nextDay(poll: Poll, { days }: LifelogListing): string | undefined {
	const isOutage = days.size >= FAILURES_OF_OUTAGE && !poll.isAnswered;
	const mayBegin = days.size === 0 || mayList(poll);
	if (isBlocked(poll) || isOutage || !mayBegin) return undefined;
	// The first answer may tell that it is another day than was known.
	const { state, window } = poll.current();
	return daysToRead(state, window).find((day) => !days.has(day));
}

function mayList({ api, known, isWithin }: Poll): boolean {
	return isWithin(LIST_SHARE) && api.run.requests < (known ? MAX_REQUESTS : MAX_FIRST_REQUESTS);
}

/**
 * Today, yesterday, the days that are due, with something pending, or overdue; then an older day for
 * each hour since the last poll (_cheap_); last what failed. Those not read for longest come first.
 */
export function daysToRead(state: State, window: PollWindow): string[] {
	const { polls, days } = state;
	const { now, lookbackDays } = window;
	const readAt = (day: string) => days.get(day)?.read ?? 0;
	const mayTry = ({ retry }: Pick<KnownDay, 'retry'>) => isRetryDue(retry, polls, now);
	const hasFailed = (day: string) => (days.get(day)?.retry?.poll ?? 0) > readAt(day);
	const isDue = (day: string) => !hasFailed(day) || mayTry(days.get(day)!);
	const byRead = (a: string, b: string) => readAt(a) - readAt(b);

	const watched = lookback(window);
	const overdue = watched.filter((day) => readAt(day) + 2 * lookbackDays < polls);
	const pending = pendingDays(state, mayTry);
	const due = new Set([...watched.slice(-2), ...dueDays(state, window), ...pending, ...overdue]);
	const inTurn = [...due].sort((a, b) => byRead(a, b) || (a < b ? 1 : -1));
	const others = watched.filter((day) => !due.has(day) && isDue(day)).sort(byRead);
	const hours = Math.floor((now - (state.polledAt ?? now)) / HOUR_MS);
	return [
		...inTurn.filter((day) => !hasFailed(day)),
		...others.slice(0, Math.max(1, hours)),
		...inTurn.filter((day) => hasFailed(day) && isDue(day)),
	];
}

async function listDay(poll: Poll, day: string, listing: LifelogListing): Promise<void> {
	const { state, window } = poll.current();
	const known = state.days.get(day);
	const retry = retried(known?.retry, state, window.now);
	const read: Partial<KnownDay> = { cursor: undefined, parts: undefined, retry: undefined };
	const found = pages<Lifelog>(poll.api, {
		name: 'lifelogs',
		query: { date: day, timezone: 'UTC', direction: 'asc', ...METADATA_ONLY },
		from: known?.cursor,
		onUnusable: passOver(poll, known, read),
		mayGoOn: (cursor) => {
			if (mayList(poll)) return true;
			read.cursor = cursor;
			read.parts = (known?.parts ?? 0) + 1;
			return false;
		},
	});
	try {
		for await (const page of found) {
			for (const lifelog of page) {
				listing.entries.set(lifelog.id, { lifelog, day, ...versionOf(lifelog, 'UTC') });
			}
		}
		poll.isAnswered = true;
		if (!read.parts) Object.assign(read, asRead(day, state, poll.current().window));
		else if (read.parts > MAX_PARTS) read.retry = retry;
	} catch (error) {
		noteFailure(poll, error);
		read.retry = retry;
	}
	if (!isBlocked(poll)) listing.days.set(day, read);
}

/** Start and end of a lifelog, 0 if unreadable. Only new ones need them, so a list leaves them unread. */
export function timesOf({ lifelog }: ListedLifelog): number[] {
	return [lifelog.startTime, lifelog.endTime].map((time) => instantsOf(time, 'UTC')[0] ?? 0);
}

export function versionOf({ updatedAt, isStarred }: Lifelog, zone: string): Version {
	return { at: instantsOf(updatedAt, zone)[0] ?? 0, starred: isStarred === true };
}
