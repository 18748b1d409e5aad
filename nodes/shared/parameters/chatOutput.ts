import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import { simplifyChat } from '../api/chats';
import type { ApiContext } from '../auth/connection';
import { type Output, outputParametersOf, readOutputOf } from './output';

/** Beside `id`, in the order of the output. */
const CHAT_FIELDS = [
	{ name: 'Summary', value: 'summary' },
	{ name: 'Visibility', value: 'visibility' },
	{ name: 'Created At', value: 'createdAt' },
	{ name: 'Started At', value: 'startedAt' },
	{ name: 'Prompt', value: 'prompt', description: 'The first text of the user' },
	{ name: 'Response', value: 'response', description: 'The last text of the assistant' },
	{ name: 'Message Count', value: 'messageCount' },
	{ name: 'Entries', value: 'entries', description: "Lifelogs that the assistant's tools read" },
	{ name: 'Has Tool Error', value: 'hasToolError' },
	{ name: 'Messages', value: 'messages', description: 'Every message, as the API returns it' },
];

export type ChatOutput = Output<string>;

/** {@link readChatOutput} reads them. */
export const chatOutputParameters = outputParametersOf({
	noun: 'chat',
	simplified: "Prompt, response and the lifelogs that the assistant's tools read",
	raw: 'Everything that the API returns, with every message',
	fields: CHAT_FIELDS,
	chosen: ['summary', 'prompt', 'response'],
});

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readChatOutput(context: ApiContext, output: unknown, fields: unknown): ChatOutput {
	return readOutputOf(context, output, fields, CHAT_FIELDS);
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
	const { visibility } = chat;
	const all: IDataObject = {
		...simplified,
		visibility,
		messages: chat.messages as unknown as IDataObject[],
	};
	return Object.fromEntries(['id', ...fields].map((field) => [field, all[field]]));
}
