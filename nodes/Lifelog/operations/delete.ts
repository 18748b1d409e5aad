import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { lifelogIdToDelete, readId } from '../../shared/parameters/resourceLocator';
import { deleteNoticeOfTool } from '../../shared/parameters/tool';
import { deleteEntry } from '../../shared/transport/request';

export const description: INodeProperties[] = [
	{
		displayName:
			"Deleting a lifelog is permanent: its transcript, audio and metadata can't be recovered",
		name: 'deleteNotice',
		type: 'notice',
		default: '',
	},
	deleteNoticeOfTool,
	{
		...lifelogIdToDelete,
		description:
			'The lifelog to delete permanently. Its ID is the id that a list or a search returns.',
	},
];

/**
 * Deletes a lifelog for good (specification, section 4.4).
 *
 * @returns One item `{ deleted: true, id }`.
 * @throws NodeApiError if none has this ID, or the service doesn't confirm the deletion.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, lifelogIdToDelete, itemIndex, 'lifelog');
	await deleteEntry(api, 'lifelog', id);
	return [{ json: { deleted: true, id } }];
}
