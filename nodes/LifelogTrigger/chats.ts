import { NodeApiError } from 'n8n-workflow';
import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../shared/api-types';
import { answerOf, getChat, simplifyChat } from '../shared/chats';
import { pages } from '../shared/pagination';
import { sinceOf } from './compare';
import { align, dayOf, daysFrom, lookback } from './days';
import type { Outcome } from './merge';
import type { Settings } from './parameters';
import type { Poll, PollResult } from './poll';
import { isPassing, readEach } from './reading';
import type { Entry } from './state';
import { instantOf } from './times';

/** An unanswered chat is waited for until it is so old. */
const LONGEST_WAIT_DAYS = 31;

/**
 * Reads the scheduled chats of the look-back, and those by ID that are older and still unanswered.
 *
 * @throws NodeApiError when they cannot be listed, or the rate limit lets none of them through.
 */
export async function findChats(poll: Poll): Promise<PollResult> {
	const { api, isFirst, settings } = poll;
	let listed: Chat[];
	try {
		listed = await listChats(poll);
	} catch (error) {
		if (isFirst && isPassing(error)) {
			return { read: [], outcomes: [], failure: error as NodeApiError };
		}
		throw new NodeApiError(api.context.getNode(), error);
	}

	const state = align(poll.state, poll.reach());
	const held = heldChats(poll, new Set(listed.map(({ id }) => id)));
	const outcomes: Outcome[] = [...held.tooOld.keys()].map((id) => ({ id }));
	for (const chat of listed) {
		const known = state.entries.get(chat.id);
		const day = dayOf(instantOf(chat.createdAt, settings.timezone));
		const isDone = known ? known.at !== undefined || held.tooOld.has(chat.id) : day < state.from;
		if (isDone) continue;
		const answer = answerTime(chat, settings);
		const since = sinceOf(state, day);
		const isOld = isFirst || (answer !== undefined && since !== undefined && answer <= since);
		outcomes.push(judge(chat, known?.day ?? day, settings, isOld && !known));
	}
	const waited = await readHeld(poll, held.unlisted);
	for (const outcome of waited.outcomes) outcomes.push(outcome);
	if (waited.blockedBy && !outcomes.some(({ event }) => event)) throw waited.blockedBy;
	return { read: lookback(poll.reach()), outcomes };
}

/** The chats that are waited for: those that have been for too long, and those not in the list. */
function heldChats({ state, reach }: Poll, listed: Set<string>) {
	const oldest = daysFrom(dayOf(reach().now), -LONGEST_WAIT_DAYS);
	const held = [...state.entries].filter(([, { pending }]) => pending !== undefined);
	return {
		tooOld: new Map(held.filter(([, { day }]) => day < oldest)),
		unlisted: new Map(held.filter(([id, { day }]) => day >= oldest && !listed.has(id))),
	};
}

/** Newest first, until a page lies wholly beyond the look-back. */
async function listChats({ api, settings, reach }: Poll): Promise<Chat[]> {
	const { timezone, watch } = settings;
	const query = {
		isScheduled: true,
		globalPromptId: watch.prompt || undefined,
		direction: 'desc',
		timezone,
	};
	const chats: Chat[] = [];
	for await (const page of pages<Chat>(api, { name: 'chats', query })) {
		for (const chat of page) chats.push(chat);
		const [from] = lookback(reach());
		if (page.every(({ createdAt }) => dayOf(instantOf(createdAt, timezone)) < from)) break;
	}
	return chats;
}

async function readHeld(poll: Poll, held: Map<string, Entry>) {
	const { api, settings } = poll;
	const read = async (id: string) => await getChat(api, id, { timezone: settings.timezone });
	const { found, gone, failed, blockedBy } = await readEach(api, [...held.keys()], read, () =>
		poll.isWithinBudget(0.75),
	);
	for (const [id, error] of failed) {
		api.context.logger.warn(
			`Lifelog Trigger: the chat "${id}" could not be read: ${error.message}`,
		);
	}
	const outcomes = [...held].map(([id, entry]): Outcome => {
		const chat = found.get(id);
		if (chat) return judge(chat, entry.day, settings, false);
		return { id, entry: gone.has(id) ? undefined : entry };
	});
	return { outcomes, blockedBy };
}

/** @param isOld Whether an answer is to be recorded only. */
function judge(chat: Chat, day: string, settings: Settings, isOld: boolean): Outcome {
	const { id } = chat;
	const at = answerTime(chat, settings);
	if (at === undefined) return { id, entry: { day, starred: false, flips: 0, pending: 0 } };
	const version = { at, starred: false };
	const entry: Entry = { day, ...version, flips: 0 };
	if (isOld) return { id, version, entry };
	const item = { json: chatItem(chat, settings) };
	return {
		id,
		version,
		entry,
		event: { start: instantOf(chat.startedAt, settings.timezone), item },
	};
}

/** What is emitted for a chat. */
export function chatItem(chat: Chat, { simplify }: Settings): IDataObject {
	return { ...(simplify ? simplifyChat(chat) : chat), eventKey: chat.id };
}

/**
 * When a chat was answered: the time of the last text of the assistant.
 *
 * @returns Epoch ms; undefined when it has not been answered.
 */
export function answerTime(chat: Chat, { timezone }: Settings): number | undefined {
	const answer = answerOf(chat);
	return answer && instantOf(answer.createdAt ?? chat.createdAt, timezone);
}
