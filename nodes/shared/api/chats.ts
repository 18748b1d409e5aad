import type { IDataObject } from 'n8n-workflow';

import type { Chat, ChatMessage } from '../../../lifelog/api.ts';
import { instantsOf } from '../../../lifelog/times.ts';

/** An answer is complete if nothing new came for so long. */
export const QUIET_MS = 15 * 60_000;

/**
 * A chat in nine fields, without its inner workings (specification, sections 2.3 to 2.6).
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
