import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { limitParameters } from '../../shared/descriptions';
import { outputParametersOfTool } from '../../shared/output';
import { firstEntries, LARGEST_PAGE } from '../../shared/pagination';
import { readLimit } from '../../shared/parameters';
import { readInLanes } from '../lanes';
import {
	hintIfContentsWithheld,
	LARGEST_PAGE_WITH_CONTENTS,
	listingParameters,
	outputOfItem,
	readListing,
	toItems,
} from '../listing';

export const description: INodeProperties[] = [
	...limitParameters,
	...outputParametersOfTool,
	...listingParameters,
];

/**
 * Lists lifelogs (specification, section 4.2), as many pages as it takes; all of them, where there are many, several at once.
 *
 * @returns One item per lifelog, in the form that is wanted (`outputOf`), in the service's order.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const limit = readLimit(this, itemIndex);
	const output = outputOfItem(this, itemIndex);
	const request = readListing(this, itemIndex, output);
	const { query, includes } = request;
	const largestPage = query.includeContents ? LARGEST_PAGE_WITH_CONTENTS : LARGEST_PAGE;
	const listing = { name: 'lifelogs' as const, query, pageSize: Math.min(limit, largestPage) };
	const isWanted = ({ startTime }: Lifelog) => includes(startTime);
	const lifelogs =
		limit === Infinity
			? (await readInLanes(api, listing)).filter(isWanted)
			: await firstEntries<Lifelog>(api, listing, limit, isWanted);
	if (query.includeContents) hintIfContentsWithheld(api, lifelogs);
	return toItems(lifelogs, output, request);
}
