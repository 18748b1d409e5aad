// Step 3 for chats: decides whether each is answered. Sends nothing and changes nothing.
import type { Chat } from '../../../lifelog/api.ts';
import { instantsOf, utcDay } from '../../../lifelog/times.ts';
import { answeredAt, answerState, messageCountOf, QUIET_MS } from '../../shared/api/chats';
import { sinceOf } from '../engine/days';
import { recordOf } from '../engine/records';
import type { Decision, KnownEntry, Listing, Outcome, Poll } from '../engine/types';
import { chatItem } from './item';
import { createdOn } from './list';

const MAX_DAYS_UNTIL_ANSWER = 31;
/** Every answer is later. */
const ALWAYS = -1;

/** A chat that waits for its answer. */
export type Pending = [id: string, known: KnownEntry];

/** Decides about the chats that were listed; those that wait and were not listed are to be read. */
export function decideChats(poll: Poll, { entries: chats }: Listing<Chat>) {
	const { state, window } = poll.current();
	const now = Math.min(window.now, state.polledAt ?? window.now);
	const oldest = utcDay(now, -MAX_DAYS_UNTIL_ANSWER);
	const outcomes: Outcome[] = [];
	for (const chat of chats.values()) {
		const known = state.entries.get(chat.id);
		const day = known?.day ?? createdOn(chat, poll.settings);
		if (known) {
			const isWaiting = known.at === undefined && day >= oldest;
			if (isWaiting) outcomes.push(outcomeOf(poll, chat, known));
		} else if (day >= state.from) {
			const since = poll.known ? sinceOf(state, day) : Infinity;
			outcomes.push(outcomeOf(poll, chat, { day, starred: false, starToggles: 0 }, since));
		}
	}
	const unread: Pending[] = [];
	for (const [id, known] of state.entries) {
		if (!known.pending) continue;
		if (known.day < oldest) outcomes.push({ id });
		else if (!chats.has(id)) unread.push([id, known]);
	}
	return { outcomes, unread };
}

/** @param since When the day of an unknown chat began to count. */
export function outcomeOf(poll: Poll, chat: Chat, before: KnownEntry, since = ALWAYS): Outcome {
	const { timezone } = poll.settings;
	const { state, window } = poll.current();
	const quiet = quietOf(chat, before, window.now);
	// By the last poll's clock, too: this one may be ahead.
	const quietMs = Math.min(window.now, state.polledAt ?? window.now) - quiet.since;
	const at = answeredAt(chat, timezone, window.now);
	const decision = decideChat(chat, at, since, quietMs);
	const entry = recordOf({ ...before, quiet }, decision);
	if (decision.type !== 'emit') return { id: chat.id, entry };
	const [start = 0] = instantsOf(chat.startedAt, timezone);
	const item = { json: chatItem(chat, poll.settings) };
	return { id: chat.id, entry, event: { start, item } };
}

/** How much there is of a chat, and since when. */
function quietOf(chat: Chat, { quiet }: KnownEntry, now: number): NonNullable<KnownEntry['quiet']> {
	const size = messageCountOf(chat);
	return quiet?.size === size && quiet.since <= now ? quiet : { size, since: now };
}

function decideChat(chat: Chat, at: number | undefined, since: number, quietMs: number): Decision {
	if (at === undefined) return { type: 'wait' };
	const version = { at, starred: false };
	// It was answered before its day began to count.
	if (at <= since) return { type: 'skip', version };
	// _chat-answered_: a chat doesn't tell when the results of its tools came.
	const mayGoOn = answerState(chat) === 'waits' && quietMs < QUIET_MS;
	// _chat-once_.
	return mayGoOn ? { type: 'wait' } : { type: 'emit', version };
}
