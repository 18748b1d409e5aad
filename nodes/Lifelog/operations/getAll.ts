import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { firstEntries, LARGEST_PAGE } from '../../shared/pagination';
import { forOperation, limitParameters, readLimit } from '../../shared/parameters';
import {
	hintIfContentsWithheld,
	LARGEST_PAGE_WITH_CONTENTS,
	listingParameters,
	readListing,
} from '../listing';

export const description: INodeProperties[] = forOperation('getAll', [
	...limitParameters,
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
	const lifelogs = await firstEntries<Lifelog>(api, listing, limit, ({ startTime }) =>
		includes(startTime),
	);
	if (query.includeContents) hintIfContentsWithheld(this, lifelogs);
	return lifelogs.map((lifelog) => ({ json: { ...lifelog } }));
}
