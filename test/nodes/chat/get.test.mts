import type { Chat } from '../../../lifelog/api.ts';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { useChats } from './chats.mts';

const { sandbox, run, ownChats, fetchChat } = useChats();

const foreignChat = async (visibility: Chat['visibility']) =>
	(await sandbox.control.chats()).find(
		(chat) => chat.owner === 'other' && chat.visibility === visibility,
	)!;

const get = async (id: unknown, parameters: IDataObject = {}) =>
	await run({ operation: 'get', chatId: byId(id), ...parameters });

test('returns one chat, simplified', async () => {
	const scheduled = (await ownChats()).find(({ globalPromptId }) => globalPromptId)!;
	const { json, requests } = await get(scheduled.id);
	const [question] = scheduled.messages;
	expect(json).toHaveLength(1);
	expect(json[0]).toMatchObject({
		id: scheduled.id,
		prompt: question.text,
		response: scheduled.messages.at(-1)!.text,
		messageCount: scheduled.messages.length,
		hasToolError: false,
	});
	expect(requests.map(({ path }) => path)).toEqual([`/v1/chats/${scheduled.id}`]);
});

test('refuses an unknown Output before any request', async () => {
	const { error, requests } = await get('unknown', { output: 'maybe' });
	expect(error?.message).toMatch(
		/^'Output' must be simplified, raw or selectedFields, not "maybe"/,
	);
	expect(requests).toEqual([]);
});

test('without Simplify returns the API’s object unchanged, with times in the time zone', async () => {
	const [{ id }] = await ownChats();
	expect((await get(id, { output: 'raw' })).json).toEqual([await fetchChat(id)]);
	const { json } = await get(id, { output: 'raw', options: { timezone: 'Asia/Tokyo' } });
	expect(json[0].createdAt).toContain('+09:00');
});

test('reads every kind of message', async () => {
	const message = (role: string, rest: object) =>
		({ id: role, createdAt: '2026-03-20T10:00:00Z', user: { role }, ...rest }) as never;
	const failed = { isError: true, toolCallId: '1', toolName: 'search', result: {} };
	const { id } = await sandbox.control.addChat({
		summary: null,
		messages: [
			message('user', { text: null }),
			message('user', { text: 'Recap' }),
			message('assistant', { text: 'Let me look.', toolCalls: [] }),
			message('tool', { toolResults: [failed] }),
			message('assistant', { text: 'Done.' }),
			message('assistant', { text: null }),
		],
	});
	expect((await get(id)).json[0]).toMatchObject({
		summary: null,
		prompt: 'Recap',
		response: 'Done.',
		messageCount: 6,
		hasToolError: true,
		entries: [],
	});
});

test('reads a public chat of someone else', async () => {
	const { id } = await foreignChat('public');
	expect((await get(id, { output: 'raw' })).json[0]).toMatchObject({ id, visibility: 'public' });
});

test.each(['404', 'null'] as const)('names the ID that was not found, by %s', async (missing) => {
	await sandbox.control.dialect({ missing });
	const { id } = await foreignChat('private');
	const { message, description } = await get(id);
	expect(message).toBe(`No chat with the ID "${id}" was found`);
	expect(description).toContain('Check the ID');
});

test('an answer without a chat is an error', async () => {
	await sandbox.control.faults([{ body: { data: {} } }]);
	expect((await get('x')).message).toContain('it has no chat (data.chat)');
});
