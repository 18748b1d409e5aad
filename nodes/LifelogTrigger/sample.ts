// What a test in the editor shows.
import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import type { Api } from '../shared/transport/connection';
import { connect } from '../shared/transport/connection';
import type { Chat, Lifelog } from '../shared/api/apiTypes';
import { inputError } from '../shared/errors/errors';
import type { Listing } from '../shared/transport/pagination';
import { pages } from '../shared/transport/pagination';
import { answeredAt, chatItem } from './chats/answers';
import { chatsQuery } from './chats/list';
import { eventKey, jsonOf } from './lifelogs/emit';
import { versionOf } from './lifelogs/list';
import type { Settings } from './parameters';
import { readSettings } from './parameters';
import { timesOf } from './state/types';

const MAX_ITEMS = 3;
/** Entries looked through for some that pass the filters. */
const MAX_ENTRIES = 100;

/** Up to 3 of the newest entries, ordered as in a poll. Neither reads nor changes the state. */
export async function sample(context: IPollFunctions): Promise<INodeExecutionData[][]> {
	const settings = readSettings(context);
	const api = await connect(context, { maxWaitMs: 0, retries: 0 });
	const isOfChats = settings.watch.kind === 'chats';
	const items = isOfChats ? await newestChats(api, settings) : await newestLifelogs(api, settings);
	if (items.length > 0) return [items.map((json) => ({ json }))];
	throw inputError(
		context,
		isOfChats ? 'There is no answered scheduled chat to show' : 'There is no lifelog to show',
		'A test shows up to 3 of the newest entries that pass the filters. Remove a filter, or try again when there is something.',
	);
}

async function newestLifelogs(api: Api, settings: Settings): Promise<IDataObject[]> {
	const { timezone, include, isStarred, changes } = settings;
	const query = { timezone, direction: 'desc', isStarred, ...include };
	const isWanted = ({ isStarred: starred }: Lifelog) =>
		[undefined, starred === true].includes(isStarred);
	const startOf = ({ startTime }: Lifelog) => timesOf(startTime, timezone)[0] ?? 0;
	const lifelogs = await newest(api, { name: 'lifelogs', query }, isWanted, startOf);
	const changeType = changes.includes('created') ? 'created' : 'updated';
	return lifelogs.map((lifelog) => {
		const version = { ...versionOf(lifelog, timezone), starToggles: 0 };
		return { ...jsonOf(settings, lifelog), changeType, eventKey: eventKey(lifelog.id, version) };
	});
}

async function newestChats(api: Api, settings: Settings): Promise<IDataObject[]> {
	const now = () => api.run.serviceTime ?? Date.now();
	const isWanted = (chat: Chat) => answeredAt(chat, settings, now()) !== undefined;
	const startOf = ({ startedAt }: Chat) => timesOf(startedAt, settings.timezone)[0] ?? 0;
	const listing = { name: 'chats' as const, query: chatsQuery(settings) };
	const chats = await newest(api, listing, isWanted, startOf);
	return chats.map((chat) => chatItem(chat, settings));
}

async function newest<T extends { id: string }>(
	api: Api,
	listing: Listing,
	isWanted: (entry: T) => boolean,
	startOf: (entry: T) => number,
): Promise<T[]> {
	const entries: T[] = [];
	for await (const page of pages<T>(api, { ...listing, pageSize: MAX_ITEMS })) {
		entries.push(...page);
		if (entries.filter(isWanted).length >= MAX_ITEMS || entries.length >= MAX_ENTRIES) break;
	}
	const wanted = entries.filter(isWanted).slice(0, MAX_ITEMS);
	return wanted.sort((a, b) => startOf(a) - startOf(b) || (a.id < b.id ? -1 : 1));
}
