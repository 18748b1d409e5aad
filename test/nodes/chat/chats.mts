import type { Chat } from '../../../lifelog/api.ts';
import type { StoredChat } from '../../support/sandbox.mts';
import { useNode } from '../../support/useNode.mts';

/** The node, and a month of chats before each test. */
export function useChats() {
	const { sandbox, engine, run } = useNode('lifelogChat');

	beforeEach(async () => {
		await sandbox.control.reset({ days: 31, lifelogs: 62, now: '2026-03-20T23:00:00Z' });
	});

	return {
		sandbox,
		engine,
		run,

		/** The user's own chats, newest first. */
		async ownChats(): Promise<StoredChat[]> {
			const chats = await sandbox.control.chats();
			return chats.filter(({ owner }) => owner === 'self').reverse();
		},

		async fetchChat(id: string): Promise<Chat> {
			const headers = { 'x-api-key': sandbox.apiKey };
			const response = await fetch(`${sandbox.url}/v1/chats/${id}?timezone=UTC`, { headers });
			return ((await response.json()) as { data: { chat: Chat } }).data.chat;
		},
	};
}

export const idsOf = (chats: Array<{ id?: unknown }>) => chats.map(({ id }) => id);
