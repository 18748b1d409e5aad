import type { Chat, ChatList, ChatResponse, DeleteResponse } from '../nodes/shared/api-types.ts';
import type { operations } from '../nodes/shared/api-types.ts';
import { decodeCursor, type Cursor } from './cursors.mts';
import { ApiError } from './errors.mts';
import { cutPage } from './pages.mts';
import { checkZone, zoneFormatter } from './times.mts';
import type { StoredChat, World } from './world.mts';

export type ChatListQuery = NonNullable<operations['listChats']['parameters']['query']>;

const largestPage = 100;

type BoundQuery = Omit<Required<ChatListQuery>, 'cursor' | 'isScheduled' | 'globalPromptId'> &
	Pick<ChatListQuery, 'isScheduled' | 'globalPromptId'>;

/**
 * Lists the user's own chats. Throws an ApiError (400) for an unknown zone, a limit the dialect
 * rejects, an unreadable cursor, and a cursor given with other parameters than its own.
 */
export function listChats(world: World, query: ChatListQuery): ChatList {
	const bound: BoundQuery = {
		direction: query.direction ?? 'desc',
		limit: query.limit ?? 50,
		timezone: checkZone(query.timezone),
		isScheduled: query.isScheduled,
		globalPromptId: query.globalPromptId,
	};
	const { direction, limit, timezone, isScheduled, globalPromptId } = bound;
	const cursor: Cursor<BoundQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor);
	if (cursor && JSON.stringify(cursor.query) !== JSON.stringify(bound)) {
		throw new ApiError(400, 'cursor belongs to a request with other parameters');
	}
	if (limit > largestPage && world.dialect.limit.above === 'reject') {
		throw new ApiError(400, `limit must be at most ${largestPage}`);
	}
	const own = world.chats
		.list()
		.filter(
			(chat) =>
				chat.owner === 'self' &&
				(isScheduled === undefined || (chat.globalPromptId !== null) === isScheduled) &&
				(globalPromptId === undefined || chat.globalPromptId === globalPromptId),
		);
	const page = cutPage(own, {
		query: bound,
		limit: Math.min(limit, largestPage),
		direction,
		cursor,
		position: ({ createdAt, id }) => ({ time: createdAt, id }),
		dialect: world.dialect,
	});
	return {
		data: { chats: page.entries.map((chat) => viewChat(chat, timezone)) },
		meta: { chats: page.meta },
	};
}

/**
 * Returns a chat that is the user's own or public. Throws an ApiError (404) for any other id
 * unless the dialect answers null.
 */
export function getChat(world: World, id: string, timezone: string | undefined): ChatResponse {
	const zone = checkZone(timezone);
	const chat = world.chats.get(id);
	const readable = chat && (chat.owner === 'self' || chat.visibility === 'public');
	if (!readable && world.dialect.missing === '404') throw notFound();
	return { data: { chat: readable ? viewChat(chat, zone) : null } };
}

/** Deletes a chat of the user's own. Throws an ApiError (404) for any other id. */
export function deleteChat(world: World, id: string): DeleteResponse {
	if (world.chats.get(id)?.owner !== 'self') throw notFound();
	world.chats.delete(id);
	return { data: { success: true } };
}

const notFound = () => new ApiError(404, 'Chat not found');

// Undefined fields are left out of JSON.
const hidden = { owner: undefined, globalPromptId: undefined };

function viewChat(stored: StoredChat, timezone: string): Chat {
	const format = zoneFormatter(timezone);
	return {
		...stored,
		...hidden,
		createdAt: format(stored.createdAt),
		startedAt: format(stored.startedAt),
		messages: stored.messages.map((message) => ({
			...message,
			createdAt: format(message.createdAt),
		})),
	};
}
