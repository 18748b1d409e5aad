import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/apiTypes';
import { limitParameters } from '../../shared/descriptions';
import { firstEntries, MAX_PAGE_SIZE, MAX_PAGE_SIZE_WITH_CONTENTS } from '../../shared/pagination';
import { readLimit } from '../../shared/parameters';
import { periodParameters } from '../filters';
import { listingParameters, readListing, toItems } from '../listing';

export const description: INodeProperties[] = [
	...periodParameters,
	...limitParameters,
	...listingParameters,
];

/**
 * Lists lifelogs (specification, section 4.2), as many pages as it takes.
 *
 * @returns One item per lifelog, in the form that is wanted (`outputOf`), in the service's order.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const limit = readLimit(this, itemIndex);
	const request = readListing(this, itemIndex);
	const { query, isWanted } = request;
	const largestPage = query.includeContents ? MAX_PAGE_SIZE_WITH_CONTENTS : MAX_PAGE_SIZE;
	const listing = { name: 'lifelogs' as const, query, pageSize: Math.min(limit, largestPage) };
	const lifelogs = await firstEntries<Lifelog>(api, listing, limit, isWanted);
	return toItems(api, lifelogs, request);
}
