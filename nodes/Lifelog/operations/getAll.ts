import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { LARGEST_PAGE, pages } from '../../shared/pagination';
import { forOperation, readLimit } from '../../shared/parameters';
import {
	hintIfContentsWithheld,
	LARGEST_PAGE_WITH_CONTENTS,
	listingParameters,
	readListing,
} from '../listing';

export const description: INodeProperties[] = forOperation('getAll', [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		displayOptions: { show: { returnAll: [false] } },
		description: 'Max number of results to return',
	},
	...listingParameters,
]);

/**
 * Lists lifelogs, as many pages as it takes.
 *
 * @returns One item per lifelog, the API's object unchanged, in the service's order.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const limit = readLimit(this, itemIndex);
	const { query, includes } = readListing(this, itemIndex);
	const largestPage = query.includeContents ? LARGEST_PAGE_WITH_CONTENTS : LARGEST_PAGE;
	const listing = { name: 'lifelogs' as const, query, pageSize: Math.min(limit, largestPage) };

	const lifelogs: Lifelog[] = [];
	for await (const page of pages<Lifelog>(api, listing)) {
		const wanted = page.filter(({ startTime }) => includes(startTime));
		lifelogs.push(...wanted.slice(0, limit - lifelogs.length));
		if (lifelogs.length >= limit) break;
	}
	if (query.includeContents) hintIfContentsWithheld(this, lifelogs);
	return lifelogs.map((lifelog) => ({ json: { ...lifelog } }));
}
