import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import type { Api } from '../shared/api';
import { connect } from '../shared/api';
import type { Chat, Lifelog } from '../shared/api-types';
import { inputError } from '../shared/errors';
import type { Listing } from '../shared/pagination';
import { pages } from '../shared/pagination';
import { chatsQuery } from './chat-list';
import { answerTime, chatItem } from './chats';
import { eventKey } from './compare';
import { jsonOf } from './outcomes';
import type { Settings } from './parameters';
import { readSettings } from './parameters';
import { versionOf } from './sightings';
import { timeOf } from './times';

const MOST_ITEMS = 3;
/** Entries looked through for some that pass the filters. */
const MOST_ENTRIES = 100;

/**
 * The newest real items, for a test in the editor. Neither reads nor changes the trigger's state.
 *
 * @returns Up to 3 items, ordered as in a poll.
 * @throws NodeOperationError when there is nothing to show.
 */
export async function sample(context: IPollFunctions): Promise<INodeExecutionData[][]> {
	const settings = readSettings(context);
	const api = await connect(context, { maxWaitMs: 0, retries: 0 });
	const isChats = settings.watch.kind === 'chats';
	const items = isChats ? await newestChats(api, settings) : await newestLifelogs(api, settings);
	if (items.length === 0) {
		throw inputError(
			context,
			isChats ? 'There is no answered scheduled chat to show' : 'There is no lifelog to show',
			'A test shows up to 3 of the newest entries that pass the filters. Remove a filter, or try again when there is something.',
		);
	}
	return [items];
}

async function newestLifelogs(api: Api, settings: Settings): Promise<INodeExecutionData[]> {
	const { timezone, include, isStarred, changes } = settings;
	const query = { timezone, direction: 'desc', isStarred, ...include };
	const lifelogs = await newest<Lifelog>(
		api,
		{ name: 'lifelogs', query, pageSize: MOST_ITEMS },
		(lifelog) => isStarred === undefined || isStarred === (lifelog.isStarred === true),
	);
	const changeType = changes.includes('created') ? 'created' : 'updated';
	return inOrder(lifelogs, ({ startTime }) => timeOf(startTime, timezone)).map((lifelog) => {
		const key = eventKey(lifelog.id, { ...versionOf(lifelog, timezone), flips: 0 });
		return { json: { ...jsonOf(settings, lifelog), changeType, eventKey: key } };
	});
}

async function newestChats(api: Api, settings: Settings): Promise<INodeExecutionData[]> {
	const chats = await newest<Chat>(
		api,
		{ name: 'chats', query: chatsQuery(settings), pageSize: MOST_ITEMS },
		(chat) => answerTime(chat, settings, api.run.serviceTime ?? Date.now()) !== undefined,
	);
	return inOrder(chats, ({ startedAt }) => timeOf(startedAt, settings.timezone)).map((chat) => ({
		json: chatItem(chat, settings),
	}));
}

async function newest<T extends { id: string }>(
	api: Api,
	listing: Listing,
	isWanted: (entry: T) => boolean,
): Promise<T[]> {
	const wanted: T[] = [];
	let entries = 0;
	for await (const page of pages<T>(api, listing)) {
		for (const entry of page.filter(isWanted)) wanted.push(entry);
		entries += page.length;
		if (wanted.length >= MOST_ITEMS || entries >= MOST_ENTRIES) break;
	}
	return wanted.slice(0, MOST_ITEMS);
}

/** Oldest first, then by ID. */
function inOrder<T extends { id: string }>(entries: T[], start: (entry: T) => number): T[] {
	return entries.sort((a, b) => start(a) - start(b) || (a.id < b.id ? -1 : 1));
}
