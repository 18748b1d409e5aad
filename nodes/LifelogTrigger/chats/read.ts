// Step 4 for chats: reads those that wait for their answer and are in no list.
import { utcDay } from '../../../lifelog/times.ts';
import { getChat } from '../../shared/api/entries';
import { isGone } from '../engine/failures';
import { readByIds } from '../engine/readByIds';
import { recordOf } from '../engine/records';
import { isRetryDue, retried } from '../engine/retry';
import type { Outcome, Poll } from '../engine/types';
import { outcomeOf, type Pending } from './decide';

const MAX_CHAT_READS = 40;

/** Reads chats by ID, those first that were not read for longest; old ones not in every poll. */
export async function readChats(poll: Poll, unread: Pending[]): Promise<Outcome[]> {
	const { timezone } = poll.settings;
	const { state, window } = poll.current();
	const yesterday = utcDay(window.now, -1);
	const isDue = ([, { day, retry }]: Pending) =>
		day >= yesterday || isRetryDue(retry, state.polls, window.now);
	const due = unread.filter(isDue).sort(byLastTry).slice(0, MAX_CHAT_READS);
	const ids = due.map(([id]) => id);
	const answers = await readByIds(poll, ids, getChat, { timezone });
	return due.map(([id, before]): Outcome => {
		const answer = answers.get(id);
		if (answer === undefined) return { id, entry: before };
		if (isGone(answer)) return { id };
		const retry = retried(before.retry, state, window.now);
		if (answer instanceof Error) return { id, entry: recordOf(before, { type: 'retry' }, retry) };
		return outcomeOf(poll, answer, { ...before, retry });
	});
}

/** Those that were not tried for longest; then the newest day. */
function byLastTry([, a]: Pending, [, b]: Pending): number {
	const triedAt = (a.retry?.poll ?? 0) - (b.retry?.poll ?? 0);
	return triedAt || (a.day < b.day ? 1 : -1);
}
