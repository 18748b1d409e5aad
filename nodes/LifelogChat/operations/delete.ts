import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import { maxWaitOption, optionsOf } from '../../shared/parameters/descriptions';
import { readId } from '../../shared/parameters/resourceLocator';
import { deleteEntry } from '../../shared/transport/request';
import { chatIdParameter } from '../list';

export const description: INodeProperties[] = [
	{
		displayName:
			'Deleting a chat is permanent: it cannot be recovered. Only chats of your own can be deleted, not public ones of others.',
		name: 'deleteNotice',
		type: 'notice',
		default: '',
	},
	{
		...chatIdParameter,
		description: 'The chat to delete permanently, by its ID: the id that a list gives',
	},
	optionsOf([maxWaitOption]),
];

/**
 * Deletes a chat for good (specification, section 4.8).
 *
 * @returns One item `{ deleted: true, id }`.
 * @throws NodeApiError when there is none with this ID, or the service does not confirm it.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'chatId', itemIndex, 'chat');
	await deleteEntry(api, 'chat', id);
	return [{ json: { deleted: true, id } }];
}
