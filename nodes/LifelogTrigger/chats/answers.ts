// Steps 3 and 4 for chats: decides whether each is answered, and reads by ID those that wait for it.
import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../shared/api/apiTypes';
import * as content from '../../shared/api/chats';
import { recordOf, sinceOf } from '../lifelogs/detect';
import { logFailure, readByIds } from '../lifelogs/emit';
import type { Settings } from '../parameters';
import { advanceWindow } from '../state/storage';
import type { Decision, Found, KnownEntry, Outcome, Poll } from '../state/types';
import { dayOf, isRetryDue, retried, timesOf } from '../state/types';
import type { ChatListing } from './list';
import { createdOn } from './list';

/** An answer is waited for until the chat is so old. */
const MAX_WAIT_DAYS = 31;
/** A text beside tool calls is the answer if nothing more has come for so long. */
const QUIET_MS = 15 * 60_000;
/** Chats that are read by ID in a poll (_bounded_), and how much longer the pauses grow. */
const MAX_READS = 40;
const MAX_RETRIES = 4;

type Pending = [id: string, known: KnownEntry];

/** Decides about the chats that were listed; those that wait and were not listed are to be read. */
export function decideChats(poll: Poll, { chats }: ChatListing) {
	const { settings, isFirst } = poll;
	const window = poll.window();
	const state = advanceWindow(poll.state, window);
	const oldest = dayOf(window.now, -MAX_WAIT_DAYS);
	const outcomes: Outcome[] = [];
	for (const chat of chats.values()) {
		const known = state.entries.get(chat.id);
		const day = known?.day ?? createdOn(chat, settings);
		const isDone = known ? known.at !== undefined || day < oldest : day < state.from;
		if (isDone) continue;
		// nothing-old: it was answered before its day began to count.
		const since = isFirst ? Infinity : (sinceOf(state, day) ?? 0);
		const isOld = !known && (answeredAt(chat, settings, window.now) ?? Infinity) <= since;
		outcomes.push(outcomeOf(poll, chat, known ?? { day, starred: false, starToggles: 0 }, isOld));
	}
	const pending = [...state.entries].filter(([, known]) => known.pending);
	for (const [id, { day }] of pending) if (day < oldest) outcomes.push({ id });
	const unread = pending.filter(([id, { day }]) => day >= oldest && !chats.has(id));
	return { outcomes, unread };
}

/** Reads chats by ID, those first that were not read for longest; old ones not in every poll. */
export async function readChats(poll: Poll, unread: Pending[], isBlocked: boolean): Promise<Found> {
	const { settings, state } = poll;
	const { now } = poll.window();
	const isDue = ([, { day, retry }]: Pending) =>
		day >= dayOf(now, -1) || isRetryDue(retry, state.polls, now);
	const triedAt = ([, { retry }]: Pending) => retry?.poll ?? 0;
	const due = unread
		.filter(isDue)
		.sort((a, b) => triedAt(a) - triedAt(b) || (a[1].day < b[1].day ? 1 : -1))
		.slice(0, isBlocked ? 0 : MAX_READS);
	const ids = due.map(([id]) => id);
	const { found, gone, failed, failures } = await readByIds(poll, ids, async (api, id) => {
		return await content.getChat(api, id, { timezone: settings.timezone });
	});
	const outcomes = due.map(([id, before]): Outcome => {
		const chat = found.get(id);
		const why = failed.get(id)?.message;
		const again = retried(before.retry, state.polls, now);
		const retry = { ...again, times: Math.min(again.times, MAX_RETRIES) };
		if (chat) return outcomeOf(poll, chat, { ...before, retry }, false);
		if (why === undefined) return { id, entry: gone.has(id) ? undefined : before };
		logFailure(poll, `the chat "${id}"`, retry.times, why);
		return { id, entry: recordOf(before, { type: 'retry', why }, retry) };
	});
	return { outcomes, failures, isAnswered: found.size + gone.size > 0 };
}

function outcomeOf(poll: Poll, chat: Chat, before: KnownEntry, isOld: boolean): Outcome {
	const { id } = chat;
	const { settings } = poll;
	const { now } = poll.window();
	const size = content.sizeOf(chat);
	const isQuiet = before.quiet?.size === size && before.quiet.since <= now;
	const known = { ...before, quiet: isQuiet ? before.quiet : { size, since: now } };
	const decision = decideChat(chat, known, settings, now, isOld);
	const entry = recordOf(known, decision);
	if (decision.type !== 'emit') return { id, entry };
	const [start = 0] = timesOf(chat.startedAt, settings.timezone);
	return { id, entry, event: { start, item: { json: chatItem(chat, settings) } } };
}

function decideChat(
	chat: Chat,
	{ quiet }: KnownEntry,
	settings: Settings,
	now: number,
	isOld: boolean,
): Decision {
	const at = answeredAt(chat, settings, now);
	if (at === undefined) return { type: 'wait' };
	if (isOld) return { type: 'skip', version: { at, starred: false } };
	// chat-answered: a chat doesn't tell when the results of its tools came.
	const mayGoOn = content.answerState(chat) === 'waits' && now - quiet!.since < QUIET_MS;
	// chat-once.
	return mayGoOn ? { type: 'wait' } : { type: 'emit', version: { at, starred: false } };
}

/** What is emitted for a chat. */
export function chatItem(chat: Chat, { chatOutput }: Settings): IDataObject {
	return { ...content.chatJson(chat, chatOutput), eventKey: chat.id };
}

/** When a chat was answered: the time of the assistant's last text; undefined if it was not. */
export function answeredAt(chat: Chat, { timezone }: Settings, now: number): number | undefined {
	const state = content.answerState(chat);
	if (state === 'none' || state === 'open') return undefined;
	const timesIn = (text: unknown) => timesOf(text, timezone);
	const times = [chat.createdAt, ...content.messageTimes(chat)].flatMap(timesIn);
	if (state === 'waits' && now - Math.max(...times, 0) < QUIET_MS) return undefined;
	return Math.max(...timesIn(content.answerOf(chat)?.createdAt ?? chat.createdAt), 0);
}
