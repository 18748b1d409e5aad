// Step 2 for chats: lists them, newest first.
import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import { instantsOf, utcDay } from '../../../lifelog/times.ts';
import { pages } from '../../shared/transport/pagination';
import { asRead, dueDays, lookback } from '../engine/days';
import { noteFailure, passOver } from '../engine/failures';
import type { KnownDay, Listing, Poll } from '../engine/types';
import type { Settings } from '../parameters';

/** Requests of a poll, and the share of its time, until which the list goes on. */
const MAX_LIST_REQUESTS = 200;
const LIST_SHARE = 0.5;

/** Lists chats back to the first day of the look-back or that is due. */
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
		mayGoOn: () => {
			isComplete = api.run.requests < MAX_LIST_REQUESTS && poll.isWithin(LIST_SHARE);
			return isComplete;
		},
	});
	try {
		for await (const page of found) {
			poll.isAnswered = true;
			for (const chat of page) listing.entries.set(chat.id, chat);
			const [oldest] = daysToList(poll).sort();
			if (page.every((chat) => createdOn(chat, settings) < oldest)) break;
		}
		poll.isAnswered = true;
		if (isComplete) {
			const { state, window } = poll.current();
			for (const day of daysToList(poll)) listing.days.set(day, asRead(day, state, window));
		}
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

/** The day of a chat. */
export function createdOn({ createdAt }: Chat, { timezone }: Settings): string {
	return utcDay(instantsOf(createdAt, timezone)[0] ?? 0);
}
