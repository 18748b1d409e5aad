import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import {
	chatJson,
	chatOutputOfItem,
	chatOutputParameters,
} from '../../shared/parameters/chatOutput';
import { getChat } from '../../shared/api/entries';
import { optionsOf, timezoneOption } from '../../shared/parameters/descriptions';
import { chatIdParameters, readId } from '../../shared/parameters/resourceLocator';
import { readCollection, readZone } from '../../shared/parameters/read';

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
	const id = readId(this, 'chatId', itemIndex, 'chat');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const output = chatOutputOfItem(this, itemIndex);
	const chat = await getChat(api, id, { timezone });
	return [{ json: chatJson(chat, output) }];
}
