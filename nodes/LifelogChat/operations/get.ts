import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { getChat } from '../../shared/api/entries';
import type { Api } from '../../shared/auth/connection';
import { chatJson, chatOutputParameters, readChatOutput } from '../../shared/parameters/chatOutput';
import { optionsOf } from '../../shared/parameters/lists';
import { readCollection } from '../../shared/parameters/read';
import { chatIdParameter, chatIdParameters, readId } from '../../shared/parameters/resourceLocator';
import { readZone, timezoneOption } from '../../shared/parameters/times';

export const description: INodeProperties[] = [
	...chatIdParameters('The chat to read. Its ID is the id that a list returns.'),
	...chatOutputParameters,
	optionsOf([timezoneOption]),
];

/**
 * Reads one chat (specification, section 4.7).
 *
 * @returns One item (`chatJson`). @throws NodeApiError if none has this ID.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, chatIdParameter, itemIndex, 'chat');
	const timezone = readZone(this, readCollection(this, 'options', itemIndex));
	const output = readChatOutput(this, itemIndex);
	const chat = await getChat(api, id, { timezone });
	return [{ json: chatJson(chat, output) }];
}
