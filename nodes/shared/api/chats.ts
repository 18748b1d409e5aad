import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { ApiContext } from '../transport/connection';
import type { Chat, ChatMessage } from './apiTypes';
import { type Output, outputParametersOf, readOutputOf } from '../parameters/output';
import { instantsOf } from '../util/dateTimes';

/** An answer is complete if nothing new came for so long. */
export const QUIET_MS = 15 * 60_000;

/** Beside `id`, in the order of the output. */
const FIELDS = [
	{ name: 'Summary', value: 'summary' },
	{ name: 'Visibility', value: 'visibility' },
	{ name: 'Created At', value: 'createdAt' },
	{ name: 'Started At', value: 'startedAt' },
	{ name: 'Prompt', value: 'prompt', description: 'The first text of the user' },
	{ name: 'Response', value: 'response', description: 'The last text of the assistant' },
	{ name: 'Message Count', value: 'messageCount' },
	{ name: 'Entries', value: 'entries', description: 'The lifelogs that the tools looked at' },
	{ name: 'Has Tool Error', value: 'hasToolError' },
	{ name: 'Messages', value: 'messages', description: 'Every message, as the API returns it' },
];

export type ChatOutput = Output<string>;

/** {@link readChatOutput} reads them. */
export const chatOutputParameters = outputParametersOf({
	noun: 'chat',
	simplified: 'Prompt, response and the entries that the tools looked at',
	raw: 'Everything that the API returns, with every message',
	kind: 'simplified',
	fields: FIELDS,
	chosen: ['summary', 'prompt', 'response'],
});

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readChatOutput(context: ApiContext, output: unknown, fields: unknown): ChatOutput {
	return readOutputOf(context, output, fields, FIELDS);
}

export function chatOutputOfItem(context: IExecuteFunctions, itemIndex: number): ChatOutput {
	const output = context.getNodeParameter('output', itemIndex, 'simplified') as unknown;
	return readChatOutput(context, output, context.getNodeParameter('fields', itemIndex, []));
}

/** A chat as an item's JSON: simplified, the API's object, or the ID and the fields chosen. */
export function chatJson(chat: Chat, { kind, fields }: ChatOutput): IDataObject {
	if (kind === 'raw') return { ...chat };
	const simplified = simplifyChat(chat);
	if (kind === 'simplified') return simplified;
	const all: IDataObject = { ...simplified, messages: chat.messages as unknown as IDataObject[] };
	return Object.fromEntries(['id', ...fields].map((field) => [field, all[field]]));
}

/**
 * A chat without its inner workings (specification, sections 2.3 to 2.6).
 *
 * @returns `prompt` is the first text of the user, `response` the last text of the assistant,
 *   Markdown; null if there is none. `entries` are `{ id, title }`, every ID once.
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

/** The first text of the user. */
export function promptOf(chat: Chat): string | null {
	return messagesBy('user', chat).at(0)?.text ?? null;
}

/** What the assistant said last; undefined while it has said nothing. */
function answerOf(chat: Chat): ChatMessage | undefined {
	return messagesBy('assistant', chat).at(-1);
}

/**
 * Whether the assistant's last text is its answer (specification, sections 2.4 to 2.6): `open` while
 * a tool that was called with it or later runs, `waits` when all have returned, because more follows.
 */
export function answerState(chat: Chat): 'none' | 'open' | 'waits' | 'answered' {
	const answer = answerOf(chat);
	if (!answer) return 'none';
	const messages = messagesOf(chat);
	const fromAnswer = messages.slice(messages.indexOf(answer));
	const calls = fromAnswer.flatMap(({ toolCalls }) => present(toolCalls));
	if (calls.length === 0) return 'answered';
	const results = messages.flatMap(({ toolResults }) => present(toolResults));
	const done = new Set(results.map(({ toolCallId }) => toolCallId));
	return calls.every(({ id }) => done.has(id)) ? 'waits' : 'open';
}

/** The time of the answer, epoch ms; undefined without one. After `QUIET_MS` what waits is one. */
export function answeredAt(chat: Chat, zone: string, now: number): number | undefined {
	const state = answerState(chat);
	if (state === 'none' || state === 'open') return undefined;
	const times = [chat, ...messagesOf(chat)].flatMap(({ createdAt }) => instantsOf(createdAt, zone));
	if (state === 'waits' && now - Math.max(...times, 0) < QUIET_MS) return undefined;
	return Math.max(...instantsOf(answerOf(chat)?.createdAt ?? chat.createdAt, zone), 0);
}

/** The number of messages and of tool results: it grows with everything new. */
export function messageCountOf(chat: Chat): number {
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
