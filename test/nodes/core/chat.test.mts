import type { Chat, ChatMessage, ToolResult } from '../../../lifelog/api.ts';
import { simplifyChat } from '../../../nodes/shared/api/chats.ts';

const createdAt = '2026-03-01T21:30:00+01:00';

const message = (
	role: ChatMessage['user']['role'],
	content: Partial<ChatMessage> = {},
): ChatMessage => ({ id: role, createdAt, user: { role }, ...content });

const result = (content: Partial<ToolResult> = {}): ToolResult => ({
	isError: false,
	toolCallId: '1',
	toolName: 'search',
	...content,
});

const chatOf = (...messages: ChatMessage[]): Chat => ({
	id: 'c1',
	summary: 'Daily recap',
	createdAt,
	startedAt: createdAt,
	visibility: 'private',
	messages,
});

test('has the question, the answer and the lifelogs that were read', () => {
	const garden = { id: 'l1', title: 'Planning the garden' };
	const chat = chatOf(
		message('system', { text: 'You are an assistant.' }),
		message('user', { text: 'What did I do today?' }),
		message('assistant', { toolCalls: [{ id: '1', toolName: 'search' }] }),
		message('tool', { toolResults: [result({ entriesReturned: [garden] })] }),
		message('assistant', { text: '## Today\n- the garden' }),
	);
	expect(simplifyChat(chat)).toEqual({
		id: 'c1',
		summary: 'Daily recap',
		createdAt,
		startedAt: createdAt,
		prompt: 'What did I do today?',
		response: '## Today\n- the garden',
		messageCount: 5,
		entries: [garden],
		hasToolError: false,
	});
});

test('has every field even if the chat has few', () => {
	expect(simplifyChat({ ...chatOf(), summary: null })).toMatchObject({
		summary: null,
		prompt: null,
		response: null,
		messageCount: 0,
		entries: [],
		hasToolError: false,
	});
	expect(simplifyChat({ ...chatOf(), summary: undefined }).summary).toBeNull();
});

test('has the user’s first and the assistant’s last text', () => {
	const chat = chatOf(
		message('assistant', { text: 'Good evening.' }),
		message('user', { text: null }),
		message('user', { text: '  ' }),
		message('user', { text: 'first' }),
		message('assistant', { text: 'one' }),
		message('user', { text: 'second' }),
		message('assistant', { text: 'two' }),
		message('assistant', { text: '' }),
		message('assistant', { text: null, toolCalls: [] }),
	);
	expect(simplifyChat(chat)).toMatchObject({
		prompt: 'first',
		response: 'two',
		messageCount: 9,
	});
});

test('has no response if the assistant only called tools', () => {
	const chat = chatOf(
		message('user', { text: 'Recap' }),
		message('assistant', { toolCalls: [{ id: '1', toolName: 'search', args: null }] }),
		message('tool', { toolResults: [result({ isError: true, entriesReturned: null })] }),
		message('tool', { text: 'found', toolResults: null }),
	);
	expect(simplifyChat(chat)).toMatchObject({
		prompt: 'Recap',
		response: null,
		entries: [],
		hasToolError: true,
	});
});

test('names each entry once, in the order the tools returned them', () => {
	const entry = (id: string, title = `Title ${id}`) => ({ id, title });
	const chat = chatOf(
		message('tool', {
			toolResults: [
				result({ entriesReturned: [entry('b'), entry('a')] }),
				result({ isError: true }),
				result({ entriesReturned: [entry('a', 'renamed'), entry('c')] }),
			],
		}),
		message('assistant', { toolResults: [result({ entriesReturned: [entry('b')] })] }),
	);
	expect(simplifyChat(chat)).toMatchObject({
		entries: [entry('b'), entry('a'), entry('c')],
		hasToolError: true,
	});
});

test("accepts messages that the specification doesn't describe", () => {
	const strange = {
		...chatOf(),
		messages: [null, { id: 'x', createdAt }, message('user', { text: 'Hello' })],
	};
	expect(simplifyChat(strange as unknown as Chat)).toMatchObject({
		prompt: 'Hello',
		messageCount: 2,
	});
	expect(simplifyChat({ ...chatOf(), messages: null as unknown as [] }).messageCount).toBe(0);
});
