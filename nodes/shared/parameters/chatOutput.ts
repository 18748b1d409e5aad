import type { IDataObject } from 'n8n-workflow';

import type { Chat } from '../../../lifelog/api.ts';
import { simplifyChat } from '../api/chats';
import type { ApiContext } from '../auth/connection';
import { type Output, outputParametersOf, readOutputOf } from './output';
import type { Place } from './read';

const chatOutput = outputParametersOf({
	noun: 'chat',
	simplified: "Prompt, response and the lifelogs that the assistant's tools read",
	raw: 'Everything that the API returns, with every message',
	fields: [
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
	],
	chosen: ['summary', 'prompt', 'response'],
});

export type ChatOutput = Output<(typeof chatOutput)['names'][number]>;

/** {@link readChatOutput} reads them. */
export const chatOutputParameters = [chatOutput.output, chatOutput.fields];

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readChatOutput(context: ApiContext, place: Place): ChatOutput {
	return readOutputOf(context, chatOutput, place);
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
