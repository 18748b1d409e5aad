// Step 2 for chats: lists them, newest first, back to the first day of the look-back or that is due.
import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../shared/api/apiTypes';
import { pages } from '../../shared/transport/pagination';
import { isBlocking, toApiError } from '../lifelogs/list';
import type { Settings } from '../parameters';
import { advanceWindow, dueDays } from '../state/storage';
import type { Found, Poll } from '../state/types';
import { dayOf, lookback, timesOf } from '../state/types';

/** Requests of a poll, and the share of its time, until which the list goes on (_bounded_). */
const MAX_REQUESTS = 200;
const LIST_SHARE = 0.5;

export interface ChatListing extends Found {
	chats: Map<string, Chat>;
}

export async function listChats(poll: Poll): Promise<ChatListing> {
	const { settings, state, api } = poll;
	const chats = new Map<string, Chat>();
	const listing: ChatListing = { chats, outcomes: [], failures: [], isAnswered: false };
	let isAtEnd = true;
	const found = pages<Chat>(poll.api, {
		name: 'chats',
		query: chatsQuery(settings),
		onUnusable: (error) => listing.failures.push(error),
		mayGoOn: () => (isAtEnd = api.run.requests < MAX_REQUESTS && poll.isWithin(LIST_SHARE)),
	});
	try {
		for await (const page of found) {
			for (const chat of page) chats.set(chat.id, chat);
			const [oldest] = listedDays(poll).sort();
			if (page.every((chat) => createdOn(chat, settings) < oldest)) break;
		}
		const read = { read: state.polls + 1, due: undefined };
		listing.days = new Map(isAtEnd ? listedDays(poll).map((day) => [day, read]) : []);
		listing.isAnswered = true;
	} catch (error) {
		const failure = toApiError(poll, error);
		listing.failures.push(failure);
		listing.isBlocked = isBlocking(failure);
		listing.isAnswered = chats.size > 0;
	}
	return listing;
}

function listedDays(poll: Poll): string[] {
	const window = poll.window();
	return [...dueDays(advanceWindow(poll.state, window), window), ...lookback(window)];
}

/** What is asked of the list of chats. */
export function chatsQuery({ watch, timezone }: Settings): IDataObject {
	const globalPromptId = watch.prompt || undefined;
	return { isScheduled: true, globalPromptId, direction: 'desc', timezone };
}

/** The UTC day a chat was created on. */
export function createdOn({ createdAt }: Chat, { timezone }: Settings): string {
	return dayOf(timesOf(createdAt, timezone)[0] ?? 0);
}
