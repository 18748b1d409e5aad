import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import { chatJson, chatOutputOfItem, chatOutputParameters, getChat } from '../../shared/api/chats';
import { maxWaitOption, optionsOf, timezoneOption } from '../../shared/parameters/descriptions';
import { readId } from '../../shared/parameters/resourceLocator';
import { readCollection, readZone } from '../../shared/parameters/read';
import { chatIdParameter } from '../list';

export const description: INodeProperties[] = [
	{ ...chatIdParameter, description: 'The chat to read, by its ID: the id that a list gives' },
	...chatOutputParameters,
	optionsOf([maxWaitOption, timezoneOption]),
];

/**
 * Reads one chat (specification, section 4.7).
 *
 * @returns One item, in the form that is wanted (`chatJson`).
 * @throws NodeApiError when there is none with this ID.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'chatId', itemIndex, 'chat');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const output = chatOutputOfItem(this, itemIndex);
	const chat = await getChat(api, id, { timezone });
	return [{ json: chatJson(chat, output) }];
}
