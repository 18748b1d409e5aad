// What the trigger remembers and decides. An entry is a lifelog or a chat; times are epoch ms.
import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import { toInstant } from '../../shared/util/dateTimes';
import type { Settings, Watch } from '../parameters';

export const DAY_MS = 24 * 60 * 60_000;
/** What failed is tried again after so many polls, or so long, at the latest. */
const MAX_PAUSE_POLLS = 32;
const MAX_PAUSE_MS = DAY_MS / 4;
const MAX_TIME = Date.UTC(9999, 11, 31);

/** What tells one version of an entry from another. */
export interface Version {
	at: number; // `updatedAt`; of a chat, when it was answered
	starred: boolean;
}

/** What failed. */
export interface RetryState {
	times: number;
	poll: number; // the count of the poll that last tried
	at: number;
	since: number;
}

/** What is known of an entry. */
export interface KnownEntry {
	day: string; // the UTC day, YYYY-MM-DD, it was last seen on
	at?: number; // of the version last reported or not wanted
	starred: boolean;
	starToggles: number; // how often only the star has changed since `at`
	pending?: boolean; // something is left to do
	incomplete?: boolean; // reported as listed, still to be read in full
	retry?: RetryState;
	quiet?: { size: number; since: number }; // how much there was of a chat, and since when
}

/** What is known of a UTC day. */
export interface KnownDay {
	read: number; // the count of the poll that last read it to its end, 0 for none
	due?: boolean; // until it has been read after it was over for a day
	since?: number; // when a larger look-back added it
	left?: number; // the count of the poll that first found it outside the look-back
	cursor?: string; // where its list goes on, after so many polls that read a part of it
	parts?: number;
	retry?: RetryState;
}

/** What one poll hands on to the next. */
export interface State extends Watch {
	since: number; // when the first poll began
	from: string; // the first known day
	polls: number; // how many were saved
	polledAt?: { now: number; isService: boolean }; // the last of them, and by which clock
	pageLimit?: { size: number; since: number }; // the largest page accepted, since when by n8n's clock
	days: Map<string, KnownDay>;
	entries: Map<string, KnownEntry>;
}

/** The time of a poll: the service's `Date`, without it n8n's clock. */
export interface PollWindow {
	now: number;
	isService: boolean;
	began: number; // `now` when the poll began, in full seconds
	lookbackDays: number; // today counted
}

/** A poll under way. */
export interface Poll {
	context: IPollFunctions;
	api: Api;
	settings: Settings;
	state: State; // as it was at the beginning; not to be changed
	isFirst: boolean;
	isActivation: boolean; // run by n8n to publish the workflow, which an error would prevent
	isDurable: boolean; // n8n discards the state of a poll that throws
	window(): PollWindow;
	isWithin(share: number): boolean; // less than this share of its time has passed
}

/** What is to become of an entry. */
export type Decision =
	| { type: 'emit'; version: Version; isIncomplete?: boolean }
	| { type: 'wait' }
	| { type: 'skip'; version?: Version }
	| { type: 'retry'; why: string };

/** What a poll found out about an entry: what to record, undefined if it is gone, and to emit. */
export interface Outcome {
	id: string;
	entry?: KnownEntry;
	event?: { item: INodeExecutionData; start: number };
}

/** What was listed or read by ID. */
export interface Found {
	days?: Map<string, Partial<KnownDay>>; // what to record of them
	outcomes: Outcome[];
	failures: NodeApiError[];
	isAnswered: boolean; // something could be read
	isBlocked?: boolean; // every further request would fail: the rate limit, or a refused key
}

/** The UTC day, `YYYY-MM-DD`, so many days from a time or a day. */
export function dayOf(time: number | string, days = 0): string {
	return new Date(new Date(time).getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

/** The days of the look-back, oldest first. */
export function lookback({ now, lookbackDays: count }: PollWindow): string[] {
	return Array.from({ length: count }, (_, index) => dayOf(now, index - count + 1));
}

/** The instants that a time of the service can mean: two in the hour that autumn repeats. */
export function timesOf(text: unknown, zone: string): number[] {
	const times = (['start', 'end'] as const).map((edge) => toInstant(text, zone, edge) ?? 0);
	return [...new Set(times)].filter((time) => time > 0 && time <= MAX_TIME);
}

/** Whether what failed is to be tried again: after 1, 2, 4 … polls, or six hours. */
export function isRetryDue(retry: RetryState | undefined, polls: number, now: number): boolean {
	if (!retry) return true;
	const pause = Math.min(2 ** (retry.times - 1), MAX_PAUSE_POLLS);
	return polls + 1 - retry.poll >= pause || Math.abs(now - retry.at) >= MAX_PAUSE_MS;
}

/** The state of what failed once more. */
export function retried(before: RetryState | undefined, polls: number, now: number): RetryState {
	const since = Math.min(before?.since ?? now, now);
	return { times: (before?.times ?? 0) + 1, poll: polls + 1, at: now, since };
}

/** Whether a version is another than the one that was last reported or not wanted. */
export function isNews(known: KnownEntry, { at, starred }: Version): boolean {
	return known.at === undefined || at > known.at || starred !== known.starred;
}
