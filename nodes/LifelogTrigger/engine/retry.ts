// When a day or an entry that failed is tried again: less and less often.
import { DAY_MS } from '../../../lifelog/times.ts';
import type { RetryState, State } from './types';

const MAX_PAUSE_POLLS = 32;
const MAX_PAUSE_MS = DAY_MS / 4;

/** Whether a retry is due: after 1, 2, 4 … polls, or six hours. */
export function isRetryDue(retry: RetryState | undefined, polls: number, now: number): boolean {
	if (!retry) return true;
	const pausePolls = Math.min(2 ** (retry.times - 1), MAX_PAUSE_POLLS);
	return polls + 1 - retry.poll >= pausePolls || Math.abs(now - retry.at) >= MAX_PAUSE_MS;
}

/** The record of one more failure. A clock that is behind for one poll doesn't count for `since`. */
export function retried(
	before: RetryState | undefined,
	{ polls, polledAt }: State,
	now: number,
): RetryState {
	const latest = Math.max(now, polledAt ?? now);
	return {
		times: (before?.times ?? 0) + 1,
		poll: polls + 1,
		at: now,
		since: Math.min(before?.since ?? Infinity, latest),
	};
}
