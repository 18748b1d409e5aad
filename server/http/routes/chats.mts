import type { Chat, ChatList, ChatResponse, DeleteResponse } from '../../../lifelog/api.ts';
import type { operations } from '../../../lifelog/api.ts';
import { decodeCursor, type Cursor } from '../cursors.mts';
import { ApiError } from '../../util/errors.mts';
import { cutPage, MAX_PAGE } from '../cutPage.mts';
import type { Service } from '../service.mts';
import { checkZone, zoneFormatter } from '../../util/times.mts';

export type ChatListQuery = NonNullable<operations['listChats']['parameters']['query']>;

// The content is compared with the request's own query below.
const isObject = (value: unknown): value is BoundQuery => typeof value === 'object';

type BoundQuery = Omit<Required<ChatListQuery>, 'cursor' | 'isScheduled' | 'globalPromptId'> &
	Pick<ChatListQuery, 'isScheduled' | 'globalPromptId'>;

/**
 * Lists the user's own chats. Throws an ApiError (400) for an unknown time zone, an invalid cursor,
 * or a cursor with other parameters than before.
 */
export function listChats(service: Service, query: ChatListQuery): ChatList {
	const bound: BoundQuery = {
		direction: query.direction ?? 'desc',
		limit: query.limit ?? 50,
		timezone: checkZone(query.timezone),
		isScheduled: query.isScheduled,
		globalPromptId: query.globalPromptId,
	};
	const { direction, limit, timezone, isScheduled, globalPromptId } = bound;
	const cursor: Cursor<BoundQuery> | undefined =
		query.cursor === undefined ? undefined : decodeCursor(query.cursor, isObject);
	if (cursor && JSON.stringify(cursor.query) !== JSON.stringify(bound)) {
		throw new ApiError(400, 'cursor belongs to a request with other parameters');
	}
	const filter = { isScheduled, globalPromptId };
	const page = cutPage((slice) => service.current().listChats(filter, slice), {
		query: bound,
		limit: Math.min(limit, MAX_PAGE),
		direction,
		cursor,
		position: ({ createdAt, id }) => ({ time: createdAt, id }),
	});
	return {
		data: { chats: page.entries.map((chat) => viewChat(chat, timezone)) },
		meta: { chats: page.meta },
	};
}

/** Returns the user's own chat, or a public one. Throws an ApiError (404) for any other ID. */
export function getChat(service: Service, id: string, timezone: string | undefined): ChatResponse {
	const zone = checkZone(timezone);
	const chat = service.current().getChat(id);
	if (!chat) throw notFound();
	return { data: { chat: viewChat(chat, zone) } };
}

/** Deletes the user's own chat. Throws an ApiError (404) for any other ID. */
export async function deleteChat(service: Service, id: string): Promise<DeleteResponse> {
	if (!(await service.current().deleteChat(id))) throw notFound();
	return { data: { success: true } };
}

const notFound = () => new ApiError(404, 'Chat not found');

function viewChat(stored: Chat, timezone: string): Chat {
	const format = zoneFormatter(timezone);
	return {
		...stored,
		createdAt: format(stored.createdAt),
		startedAt: format(stored.startedAt),
		messages: stored.messages.map((message) => ({
			...message,
			createdAt: format(message.createdAt),
		})),
	};
}
