import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { answeredAt } from '../shared/api/chats';
import { inputError } from '../shared/errors/nodeErrors';
import { type Api, connect } from '../shared/auth/connection';
import { readPage } from '../shared/transport/pagination';
import { chatItem } from './chats/item';
import { chatsQuery } from './chats/list';
import { lifelogItem } from './lifelogs/item';
import { versionOf } from './lifelogs/list';
import { readSettings, type Settings } from './parameters';

const MAX_ITEMS = 3;
const PAGE_SIZE = 25; // of the newest entries, looked through for some that pass the filters

/** What a test in the editor shows: the newest entries, by their start. Neither reads nor changes the state. */
export async function sample(context: IPollFunctions): Promise<INodeExecutionData[][]> {
	const settings = readSettings(context);
	const api = await connect(context, { maxWaitMs: 0, retries: 0 });
	const isOfChats = settings.watch.kind === 'chats';
	const items = isOfChats ? await newestChats(api, settings) : await newestLifelogs(api, settings);
	const shown = items.slice(0, MAX_ITEMS).reverse();
	if (shown.length > 0) return [shown.map((json) => ({ json }))];
	throw inputError(
		context,
		isOfChats ? 'There is no answered scheduled chat to show' : 'There is no lifelog to show',
		'A test shows up to 3 of the newest lifelogs or chats that match the filters. Remove a filter, or try again later.',
	);
}

async function newestLifelogs(api: Api, settings: Settings): Promise<IDataObject[]> {
	const { timezone, include, isStarred, changes } = settings;
	const query = { timezone, direction: 'desc', isStarred, ...include };
	const listing = { name: 'lifelogs' as const, query, pageSize: PAGE_SIZE };
	const { entries } = await readPage<Lifelog>(api, listing);
	const changeType = changes.includes('created') ? 'created' : 'updated';
	const isWanted = (lifelog: Lifelog) =>
		isStarred === undefined || isStarred === (lifelog.isStarred === true);
	return entries.filter(isWanted).map((lifelog) => {
		const version = { ...versionOf(lifelog, timezone), starToggles: 0 };
		return lifelogItem(settings, lifelog, changeType, version);
	});
}

async function newestChats(api: Api, settings: Settings): Promise<IDataObject[]> {
	const query = chatsQuery(settings);
	const { entries } = await readPage<Chat>(api, { name: 'chats', query, pageSize: PAGE_SIZE });
	const now = api.run.serviceTime ?? Date.now();
	const answered = entries.filter((chat) => answeredAt(chat, settings.timezone, now) !== undefined);
	return answered.map((chat) => chatItem(chat, settings));
}
