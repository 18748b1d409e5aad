import type { IDataObject, NodeApiError } from 'n8n-workflow';

import type { Chat } from '../shared/api-types';
import { unusableAnswerError } from '../shared/errors';
import type { Listing } from '../shared/pagination';
import { pages } from '../shared/pagination';
import { align, dayOf, daysListed } from './days';
import type { Settings } from './parameters';
import type { Poll } from './poll';
import { isBlocking, toApiError } from './reading';
import { timesOf } from './times';

/** Requests a poll for the list, and of these for what is not at its beginning. */
const MOST_REQUESTS = 30;
const MOST_FURTHER_REQUESTS = 3;
/** The share of the poll's time until which the list goes on. */
const LIST_SHARE = 0.5;

/** What the list of chats gave. */
interface Listed {
	chats: Map<string, Chat>;
	/** Where the list goes on, in the next poll. */
	cursor?: string;
	/** Whether it was read to its end, by this poll or with those before. */
	isComplete: boolean;
	pages: number;
	failures: NodeApiError[];
	/** Whether every further request would fail just so. */
	isBlocked: boolean;
}

/**
 * Lists newest first: until a page holds what is known, and from where the last poll left off some
 * pages more, until a page lies wholly beyond the days of the look-back and those that are due.
 */
export async function listChats(poll: Poll): Promise<Listed> {
	const { api, settings, state } = poll;
	const listed: Listed = {
		chats: new Map(),
		isComplete: false,
		pages: 0,
		failures: [],
		isBlocked: false,
	};
	const hasTime = () => poll.isWithinBudget(LIST_SHARE);
	const oldest = () => {
		const reach = poll.reach();
		return daysListed(align(state, reach), reach).sort()[0];
	};
	/** Reads on until told to stop. @returns Whether the end was reached. */
	const readOn = async (
		most: number,
		isEnough: (page: Chat[]) => boolean,
		from?: string,
	): Promise<boolean> => {
		let next: string | undefined;
		let left = most;
		let hasEnough = false;
		const listing: Listing = {
			name: 'chats',
			query: chatsQuery(settings),
			from,
			onUnusable: (error) => listed.failures.push(error),
			mayGoOn: (cursor) => {
				const mayGoOn = --left > 0 && !hasEnough && hasTime();
				next = mayGoOn ? undefined : cursor;
				return mayGoOn;
			},
		};
		for await (const page of pages<Chat>(api, listing)) {
			listed.pages++;
			for (const chat of page) listed.chats.set(chat.id, chat);
			const first = oldest();
			const isOld = (chat: Chat) => createdOn(chat, settings) < first;
			if (page.every(isOld)) return true;
			hasEnough = isEnough(page);
		}
		listed.cursor = next;
		return next === undefined;
	};

	try {
		const isKnown = ({ id }: Chat) => state.entries.has(id);
		const isAtEnd = await readOn(MOST_REQUESTS, (page) => page.some(isKnown));
		// It goes on at its cursor; but a service that sends nothing else is not to be silent about.
		if (!isAtEnd && listed.pages === 0 && hasTime()) {
			const problem = `it sent ${MOST_REQUESTS} empty pages in a row`;
			listed.failures.push(unusableAnswerError(api, { noun: 'chats' }, {}, problem));
		}
		const further = state.cursor ?? listed.cursor;
		const mayReadOn = listed.pages < MOST_REQUESTS && hasTime();
		if (isAtEnd || further === undefined || !mayReadOn) {
			listed.isComplete = isAtEnd;
			return listed;
		}
		listed.isComplete = await readOn(MOST_FURTHER_REQUESTS, () => false, further);
		if (listed.isComplete) listed.cursor = undefined;
	} catch (error) {
		const failure = toApiError(api, error);
		const hasForgotten =
			failure.httpCode === '400' && state.cursor !== undefined && listed.pages > 0;
		if (!hasForgotten) listed.failures.push(failure);
		listed.isBlocked = isBlocking(failure);
		listed.cursor = undefined;
	}
	return listed;
}

/** What is asked of the list of chats, newest first. */
export function chatsQuery({ watch, timezone }: Settings): IDataObject {
	const globalPromptId = watch.prompt || undefined;
	return { isScheduled: true, globalPromptId, direction: 'desc', timezone };
}

/** The UTC day a chat was created on. */
export function createdOn({ createdAt }: Chat, { timezone }: Settings): string {
	return dayOf(timesOf(createdAt, timezone)[0] ?? 0);
}
