import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import { limitParameters, readLimit } from '../../shared/parameters/lists';
import {
	mapFirstEntries,
	MAX_PAGE_SIZE,
	MAX_PAGE_SIZE_WITH_CONTENTS,
} from '../../shared/transport/pagination';
import { periodParameters } from '../parameters/filters';
import { listingParameters, readListing } from '../parameters/listing';
import { itemsOf } from '../items';

export const description: INodeProperties[] = [
	...periodParameters,
	...limitParameters,
	...listingParameters,
];

/**
 * Lists lifelogs (specification, section 4.2), as many pages as it takes.
 *
 * @returns One item per lifelog (`outputOf`), in the service's order.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const limit = readLimit(this, itemIndex);
	const request = readListing(this, itemIndex);
	const { query, isWanted } = request;
	const maxPageSize = query.includeContents ? MAX_PAGE_SIZE_WITH_CONTENTS : MAX_PAGE_SIZE;
	const listing = { name: 'lifelogs' as const, query, pageSize: Math.min(limit, maxPageSize) };
	const { toItem, hinted } = itemsOf(api, request);
	const toWanted = (lifelog: Lifelog) => (isWanted(lifelog) ? toItem(lifelog) : undefined);
	return hinted(await mapFirstEntries(api, listing, limit, toWanted));
}
