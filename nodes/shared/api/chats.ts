import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api, ApiContext } from '../transport/connection';
import type { Chat, ChatMessage } from './apiTypes';
import { getEntry } from './entries';
import { type Output, readOutputOf } from '../parameters/output';

/** Those beside `id`, in the order in which they come out. */
const FIELDS = [
	'summary',
	'visibility',
	'createdAt',
	'startedAt',
	'prompt',
	'response',
	'messageCount',
	'entries',
	'hasToolError',
	'messages',
] as const;

/** In which form chats come out. */
export interface ChatOutput {
	kind: Output['kind'];
	/** Those wanted beside `id`; only counts for `selectedFields`. */
	fields: Array<(typeof FIELDS)[number]>;
}

/** The parameters that say in which form chats come out; {@link readChatOutput} reads them. */
export const chatOutputParameters: INodeProperties[] = [
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		options: [
			{
				name: 'Simplified',
				value: 'simplified',
				description: 'What was asked, what was answered, and the entries that were looked at',
			},
			{ name: 'Raw', value: 'raw', description: 'All that the API gives, with every message' },
			{
				name: 'Selected Fields',
				value: 'selectedFields',
				description: 'The ID and the fields that you choose',
			},
		],
		default: 'simplified',
		description: 'How much of each chat comes out: simplified, raw or selectedFields',
	},
	{
		displayName: 'Fields',
		name: 'fields',
		type: 'multiOptions',
		options: [
			{ name: 'Created At', value: 'createdAt' },
			{ name: 'Entries', value: 'entries', description: 'The lifelogs that were looked at' },
			{ name: 'Has Tool Error', value: 'hasToolError' },
			{ name: 'Message Count', value: 'messageCount' },
			{ name: 'Messages', value: 'messages', description: 'Every message, as the API gives it' },
			{ name: 'Prompt', value: 'prompt', description: 'What was asked first' },
			{ name: 'Response', value: 'response', description: 'What was answered last' },
			{ name: 'Started At', value: 'startedAt' },
			{ name: 'Summary', value: 'summary' },
			{ name: 'Visibility', value: 'visibility' },
		],
		default: ['summary', 'prompt', 'response'],
		description:
			'Which fields of a chat come out beside its ID: createdAt, entries, hasToolError, messageCount, messages, prompt, response, startedAt, summary, visibility',
		displayOptions: { show: { output: ['selectedFields'] } },
	},
];

/** @throws NodeOperationError on what Output and Fields cannot be. */
export function readChatOutput(context: ApiContext, output: unknown, fields: unknown): ChatOutput {
	return readOutputOf(context, output, fields, FIELDS);
}

/** The parameters Output and Fields of an input item. */
export function chatOutputOfItem(context: IExecuteFunctions, itemIndex: number): ChatOutput {
	const output = context.getNodeParameter('output', itemIndex, 'simplified') as unknown;
	return readChatOutput(context, output, context.getNodeParameter('fields', itemIndex, []));
}

/** A chat as an item's JSON: simplified, the API's object unchanged, or the ID and fields chosen. */
export function chatJson(chat: Chat, { kind, fields }: ChatOutput): IDataObject {
	if (kind === 'raw') return { ...chat };
	const simplified = simplifyChat(chat);
	if (kind === 'simplified') return simplified;
	const given: IDataObject = { ...simplified, messages: chat.messages as unknown as IDataObject[] };
	return Object.fromEntries(['id', ...fields].map((field) => [field, given[field]]));
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
 * looked at. What has not been said is null. Specification, sections 2.3 to 2.6.
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
		prompt: promptOf(chat),
		response: answerOf(chat)?.text ?? null,
		messageCount: messages.length,
		entries: [...entries.values()],
		hasToolError: results.some(({ isError }) => isError),
	};
}

function messagesOf({ messages }: Chat): ChatMessage[] {
	return present(messages);
}

/** The first text of the user; null where there is none. */
export function promptOf(chat: Chat): string | null {
	return messagesBy('user', chat).at(0)?.text ?? null;
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
