// Steps 2 to 4 for chats: lists them, decides whether each is answered, and reads those that wait.
import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import { answeredAt, answerState, messageCountOf, QUIET_MS } from '../../shared/api/chats';
import { getChat } from '../../shared/api/entries';
import { chatJson } from '../../shared/parameters/chatOutput';
import { pages } from '../../shared/transport/pagination';
import { instantsOf, utcDay } from '../../../lifelog/times.ts';
import { recordOf } from '../lifelogs/decide';
import { isGone, readByIds } from '../lifelogs/read';
import { noteFailure, passOver } from '../lifelogs/list';
import type { Settings } from '../parameters';
import { asRead, dueDays, sinceOf } from '../engine/state';
import type { Decision, KnownDay, KnownEntry, Listing, Outcome, Poll } from '../engine/types';
import { isRetryDue, lookback, retried } from '../engine/types';

/** Requests of a poll, and the share of its time, until which the list goes on. */
const MAX_LIST_REQUESTS = 200;
const LIST_SHARE = 0.5;
const MAX_DAYS_UNTIL_ANSWER = 31;
const MAX_CHAT_READS = 40; // chats that are read by ID in a poll

type Pending = [id: string, known: KnownEntry];

/** Lists chats, newest first, back to the first day of the look-back or that is due. */
export async function listChats(poll: Poll): Promise<Listing<Chat>> {
	const { settings, api } = poll;
	const listing: Listing<Chat> = { days: new Map(), entries: new Map() };
	const today = utcDay(poll.current().window.now);
	const readToday: Partial<KnownDay> = { retry: undefined };
	let isComplete = true;
	const found = pages<Chat>(api, {
		name: 'chats',
		query: chatsQuery(settings),
		onUnusable: passOver(poll, poll.current().state.days.get(today), readToday),
		mayGoOn: () => (isComplete = api.run.requests < MAX_LIST_REQUESTS && poll.isWithin(LIST_SHARE)),
	});
	try {
		for await (const page of found) {
			poll.isAnswered = true;
			for (const chat of page) listing.entries.set(chat.id, chat);
			const [oldest] = daysToList(poll).sort();
			if (page.every((chat) => createdOn(chat, settings) < oldest)) break;
		}
		poll.isAnswered = true;
		const { state, window } = poll.current();
		for (const day of isComplete ? daysToList(poll) : [])
			listing.days.set(day, asRead(day, state, window));
		listing.days.set(today, { ...listing.days.get(today), ...readToday });
	} catch (error) {
		noteFailure(poll, error);
	}
	return listing;
}

function daysToList(poll: Poll): string[] {
	const { state, window } = poll.current();
	return [...dueDays(state, window), ...lookback(window)];
}

export function chatsQuery({ watch, timezone }: Settings): IDataObject {
	const globalPromptId = watch.prompt || undefined;
	return { isScheduled: true, globalPromptId, direction: 'desc', timezone };
}

function createdOn({ createdAt }: Chat, { timezone }: Settings): string {
	return utcDay(instantsOf(createdAt, timezone)[0] ?? 0);
}

/** Decides about the chats that were listed; those that wait and were not listed are to be read. */
export function decideChats(poll: Poll, { entries: chats }: Listing<Chat>) {
	const { state, window } = poll.current();
	const now = Math.min(window.now, state.polledAt ?? window.now);
	const oldest = utcDay(now, -MAX_DAYS_UNTIL_ANSWER);
	const outcomes: Outcome[] = [];
	for (const chat of chats.values()) {
		const known = state.entries.get(chat.id);
		const day = known?.day ?? createdOn(chat, poll.settings);
		if (known ? known.at !== undefined || day < oldest : day < state.from) continue;
		const before = known ?? { day, starred: false, starToggles: 0 };
		const since = poll.known ? sinceOf(state, day) : Infinity;
		outcomes.push(outcomeOf(poll, chat, before, known ? undefined : since));
	}
	const pending = [...state.entries].filter(([, known]) => known.pending);
	for (const [id, { day }] of pending) if (day < oldest) outcomes.push({ id });
	const unread = pending.filter(([id, { day }]) => day >= oldest && !chats.has(id));
	return { outcomes, unread };
}

/** Reads chats by ID, those first that were not read for longest; old ones not in every poll. */
export async function readChats(poll: Poll, unread: Pending[]): Promise<Outcome[]> {
	const { timezone } = poll.settings;
	const { state, window } = poll.current();
	const isDue = ([, { day, retry }]: Pending) =>
		day >= utcDay(window.now, -1) || isRetryDue(retry, state.polls, window.now);
	const triedAt = ([, { retry }]: Pending) => retry?.poll ?? 0;
	const due = unread
		.filter(isDue)
		.sort((a, b) => triedAt(a) - triedAt(b) || (a[1].day < b[1].day ? 1 : -1))
		.slice(0, MAX_CHAT_READS);
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

function outcomeOf(poll: Poll, chat: Chat, before: KnownEntry, since = -1): Outcome {
	const { timezone } = poll.settings;
	const { state, window } = poll.current();
	const { now } = window;
	const size = messageCountOf(chat);
	const isQuiet = before.quiet?.size === size && before.quiet.since <= now;
	const quiet = isQuiet ? before.quiet! : { size, since: now };
	const at = answeredAt(chat, timezone, now);
	// By the last poll's clock, too: this one may be ahead.
	const quietMs = Math.min(now, state.polledAt ?? now) - quiet.since;
	const decision = decideChat(chat, at, since, quietMs);
	const entry = recordOf({ ...before, quiet }, decision);
	if (decision.type !== 'emit') return { id: chat.id, entry };
	const [start = 0] = instantsOf(chat.startedAt, timezone);
	const item = { json: chatItem(chat, poll.settings) };
	return { id: chat.id, entry, event: { start, item } };
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

export function chatItem(chat: Chat, { chatOutput }: Settings): IDataObject {
	return { ...chatJson(chat, chatOutput), eventKey: chat.id };
}
