import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { chatIdToDelete, readId } from '../../shared/parameters/resourceLocator';
import { deleteNoticeOfTool } from '../../shared/parameters/tool';
import { deleteEntry } from '../../shared/transport/request';

export const description: INodeProperties[] = [
	{
		displayName:
			"Deleting a chat is permanent: it can't be recovered. You can delete only your own chats, not other people's public ones.",
		name: 'deleteNotice',
		type: 'notice',
		default: '',
	},
	deleteNoticeOfTool,
	{
		...chatIdToDelete,
		description: 'The chat to delete permanently. Its ID is the id that a list returns.',
	},
];

/**
 * Deletes a chat for good (specification, section 4.8).
 *
 * @returns One item `{ deleted: true, id }`.
 * @throws NodeApiError if none has this ID, or the service doesn't confirm the deletion.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, chatIdToDelete, itemIndex, 'chat');
	await deleteEntry(api, 'chat', id);
	return [{ json: { deleted: true, id } }];
}
