import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { firstEntries, LARGEST_PAGE } from '../../shared/pagination';
import { forOperation, limitParameters, readLimit } from '../../shared/parameters';
import { readSpan } from '../lanes';
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
 * Lists lifelogs (specification, section 4.2), as many pages as it takes; all of a range of time several pages at once.
 *
 * @returns One item per lifelog, the API's object unchanged, in the service's order.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const limit = readLimit(this, itemIndex);
	const { query, includes, span } = readListing(this, itemIndex);
	const largestPage = query.includeContents ? LARGEST_PAGE_WITH_CONTENTS : LARGEST_PAGE;
	const listing = { name: 'lifelogs' as const, query, pageSize: Math.min(limit, largestPage) };
	const isWanted = ({ startTime }: Lifelog) => includes(startTime);
	const lifelogs =
		span && limit === Infinity
			? (await readSpan(api, listing, span)).filter(isWanted)
			: await firstEntries<Lifelog>(api, listing, limit, isWanted);
	if (query.includeContents) hintIfContentsWithheld(api, lifelogs);
	return lifelogs.map((lifelog) => ({ json: { ...lifelog } }));
}
