import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { connect, PATIENCE_OF_EDITOR } from '../shared/transport/connection';
import type { Chat } from '../shared/api/apiTypes';
import { promptOf } from '../shared/api/chats';
import { nameInList, timeInList, zoneOfList } from '../shared/api/entries';
import { idLocator } from '../shared/parameters/resourceLocator';
import { readPage } from '../shared/transport/pagination';

/** Pages read in one go for words typed into the list; the editor then asks for more. */
const PAGES_A_SEARCH = 5;

/** The parameter that names a chat, with a list that {@link searchChats} fills. */
export const chatIdParameter = idLocator('Chat', 'chatId', 'searchChats');

/**
 * Fills the list of the parameter {@link chatIdParameter}: the newest chats, page by page. The
 * service has no search for chats, so the words typed are looked for in what the list shows.
 */
export async function searchChats(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const api = await connect(this, PATIENCE_OF_EDITOR);
	const timezone = zoneOfList(this);
	const listing = { name: 'chats' as const, query: { timezone } };
	const words = filter?.trim().toLowerCase() ?? '';
	let cursor = paginationToken;
	for (let pagesLeft = PAGES_A_SEARCH; ; pagesLeft--) {
		const page = await readPage<Chat>(api, listing, cursor);
		cursor = page.nextCursor;
		const results = page.entries.flatMap((chat) => {
			const title = titleOf(chat);
			const searched = `${title} ${timeInList(chat.startedAt, timezone)}`;
			if (!searched.toLowerCase().includes(words)) return [];
			return [{ name: nameInList(title, chat.startedAt, timezone), value: chat.id }];
		});
		if (results.length > 0 || cursor === undefined || pagesLeft <= 1) {
			return { results, paginationToken: cursor };
		}
	}
}

function titleOf(chat: Chat): string {
	return chat.summary || promptOf(chat) || chat.id;
}
