import type {
	IDataObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from './api';
import { connect, PATIENCE_OF_EDITOR } from './api';
import type { Chat, ChatMessage } from './api-types';
import { getEntry, nameInList, timeInList, zoneOfList } from './entries';
import { idLocator } from './ids';
import { readPage } from './pagination';
import { readBoolean } from './parameters';

/** Pages read in one go for words typed into the list; the editor then asks for more. */
const PAGES_A_SEARCH = 5;

/** The parameter that names a chat; the node needs `methods.listSearch.searchChats`. */
export const chatIdParameter = idLocator('Chat', 'chatId', 'searchChats');

/** The parameter that says in which form chats come out; see {@link simplifyChat}. */
export const simplifyParameter: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** @throws NodeOperationError when the parameter Simplify is neither true nor false. */
export function readSimplify(context: IExecuteFunctions, itemIndex: number): boolean {
	const value = context.getNodeParameter('simplify', itemIndex, true) as unknown;
	return readBoolean(context, value, 'Simplify') ?? true;
}

/**
 * One chat by its ID (specification, section 4.7).
 *
 * @param query `timezone`.
 * @throws NodeApiError when there is none, said by a 404 or by null.
 */
export async function getChat(api: Api, id: string, query: IDataObject): Promise<Chat> {
	return await getEntry<Chat>(api, 'chat', id, query);
}

/**
 * A chat without its inner workings: what was asked, what was answered, and the entries the tools
 * looked at. What a chat lacks is null. Specification, sections 2.3 to 2.6.
 *
 * @returns `id`, `summary`, `visibility`, `createdAt`, `startedAt`, `prompt` (the first text of
 *   the user), `response` (the last text of the assistant, Markdown), `messageCount`, `entries`
 *   (`{ id, title }` each, every id once) and `hasToolError`.
 */
export function simplifyChat(chat: Chat): IDataObject {
	const messages = messagesOf(chat);
	const results = messages.flatMap(({ toolResults }) => present(toolResults));
	const entries = new Map<string, IDataObject>();
	for (const { id, title } of results.flatMap((result) => present(result.entriesReturned))) {
		if (!entries.has(id)) entries.set(id, { id, title });
	}
	return {
		id: chat.id,
		summary: chat.summary ?? null,
		visibility: chat.visibility,
		createdAt: chat.createdAt,
		startedAt: chat.startedAt,
		prompt: messagesBy('user', chat).at(0)?.text ?? null,
		response: answerOf(chat)?.text ?? null,
		messageCount: messages.length,
		entries: [...entries.values()],
		hasToolError: results.some(({ isError }) => isError),
	};
}

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
	return chat.summary || messagesBy('user', chat).at(0)?.text || chat.id;
}

function messagesOf({ messages }: Chat): ChatMessage[] {
	return present(messages);
}

/** What the assistant said last; undefined while it has said nothing. */
export function answerOf(chat: Chat): ChatMessage | undefined {
	return messagesBy('assistant', chat).at(-1);
}

/**
 * Whether what the assistant said last is its answer (specification, sections 2.4 to 2.6): `open`
 * while a tool called with it or behind it has not given its result, `waits` once all have, as more
 * is to be expected.
 */
export function answerState(chat: Chat): 'none' | 'open' | 'waits' | 'given' {
	const answer = answerOf(chat);
	if (!answer) return 'none';
	const messages = messagesOf(chat);
	const behind = messages.slice(messages.indexOf(answer));
	const calls = behind.flatMap(({ toolCalls }) => present(toolCalls));
	if (calls.length === 0) return 'given';
	const results = messages.flatMap(({ toolResults }) => present(toolResults));
	const done = new Set(results.map(({ toolCallId }) => toolCallId));
	return calls.every(({ id }) => done.has(id)) ? 'waits' : 'open';
}

/** When the messages of a chat came, ISO 8601. */
export function messageTimes(chat: Chat): string[] {
	return messagesOf(chat)
		.map(({ createdAt }) => createdAt)
		.filter((time) => typeof time === 'string');
}

/** How much there is of a chat: messages, and results of tools. */
export function sizeOf(chat: Chat): number {
	const messages = messagesOf(chat);
	return messages.length + messages.flatMap(({ toolResults }) => present(toolResults)).length;
}

/** The messages whose text is not blank, in order. */
function messagesBy(role: ChatMessage['user']['role'], chat: Chat): ChatMessage[] {
	return messagesOf(chat).filter(
		({ user, text }) => user?.role === role && typeof text === 'string' && text.trim() !== '',
	);
}

/** The objects in a list that may be null, or no list. */
function present<T>(list: Array<T | null> | null | undefined): T[] {
	return Array.isArray(list)
		? list.filter((entry) => typeof entry === 'object' && entry !== null)
		: [];
}
