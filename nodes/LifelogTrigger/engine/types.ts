// What the trigger remembers and finds out. An entry is a lifelog or a chat; times are epoch ms.
// Names between underscores are the guarantees in docs/reference/trigger.md.
import type { INodeExecutionData, IPollFunctions, NodeApiError } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Settings, Watch } from '../parameters';

export interface Version {
	at: number; // `updatedAt`; of a chat, when it was answered
	starred: boolean;
}

export interface RetryState {
	times: number;
	poll: number; // the count of the poll that last tried
	at: number;
	since: number;
}

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

export interface KnownDay {
	read: number; // the count of the poll that last read it to its end, 0 for none
	due?: boolean; // until it has been read after it was over for a day
	since?: number; // when a larger look-back added it
	left?: number; // the count of the poll that first found it outside the look-back
	cursor?: string; // where its list goes on
	parts?: number; // how many polls read a part of it
	retry?: RetryState;
}

export interface State extends Watch {
	since: number; // when the first poll began
	from: string; // the first known day
	polls: number; // how many were saved
	polledAt?: number; // when the last of them was
	pageLimit?: { size: number; since: number }; // the largest page accepted, since when by n8n's clock
	days: Map<string, KnownDay>;
	entries: Map<string, KnownEntry>;
}

/** The time of a poll: the service's `Date`, without it n8n's clock. */
export interface PollWindow {
	now: number;
	began: number; // `now` when the poll began, in full seconds
	lookbackDays: number; // today counted
}

export interface Poll {
	context: IPollFunctions;
	api: Api;
	settings: Settings;
	saved: unknown; // the state in n8n
	known?: State; // as the last poll left it; undefined for the first
	isActivation: boolean; // run by n8n to publish the workflow, which an error would prevent
	isDurable: boolean; // n8n discards the state of a poll that throws
	failures: NodeApiError[];
	isAnswered: boolean; // something could be read
	current(): { state: State; window: PollWindow }; // the time, and the state with its days
	isWithin(share: number): boolean; // less than this share of its time has passed
}

export type Decision =
	| { type: 'emit'; version: Version; isIncomplete?: boolean }
	| { type: 'wait' }
	| { type: 'skip'; version?: Version }
	| { type: 'retry' };

/** What a poll found out about an entry: what to record, undefined if it is gone, and to emit. */
export interface Outcome {
	id: string;
	entry?: KnownEntry;
	event?: { item: INodeExecutionData; start: number };
}

export interface Listing<Entry> {
	days: Map<string, Partial<KnownDay>>; // what to record of them
	entries: Map<string, Entry>; // by ID
}

export type Found = Pick<Listing<never>, 'days'> & { outcomes: Outcome[] };
