import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import { readId } from '../../shared/ids';
import { getLifelog, lifelogIdParameter, lifelogJson } from '../../shared/lifelogs';
import {
	forOperation,
	includeOptions,
	includeQuery,
	maxWaitOption,
	readCollection,
	readZone,
	timezoneOption,
} from '../../shared/parameters';

export const description: INodeProperties[] = forOperation('get', [
	{ ...lifelogIdParameter, description: 'The lifelog to get' },
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			includeOptions.includeContents,
			includeOptions.includeHeadings,
			includeOptions.includeMarkdown,
			maxWaitOption,
			timezoneOption,
		],
	},
]);

/**
 * Reads one lifelog (specification, section 4.3).
 *
 * @returns One item: the API's object (`lifelogJson`).
 * @throws NodeApiError when there is none with this ID.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const include = includeQuery(this, options, true);
	const lifelog = await getLifelog(api, id, { timezone, ...include });
	return [{ json: lifelogJson(lifelog, include.includeContents) }];
}
