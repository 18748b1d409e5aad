import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import { mapConcurrent, MAX_CONCURRENT_READS } from '../../shared/transport/concurrency';
import { fromAi, withDefaultOfTool } from '../../shared/parameters/conditions';
import { limitParameter, readLimit } from '../../shared/parameters/lists';
import { inputError } from '../../shared/errors/nodeErrors';
import { hint } from '../../shared/errors/hints';
import { getLifelog, unlessDeleted } from '../../shared/api/entries';
import {
	FALLBACK_PAGE_SIZE,
	MAX_PAGE_SIZE,
	MAX_PAGE_SIZE_WITH_CONTENTS,
	readPage,
} from '../../shared/transport/pagination';
import { readText } from '../../shared/parameters/read';
import { eachOnce } from '../../../lifelog/names.ts';
import { periodParameters } from '../parameters/filters';
import { listingParameters, readListing } from '../parameters/listing';
import { itemsOf } from '../items';

const queryParameter: INodeProperties = {
	displayName: 'Query',
	name: 'query',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. budget OR invoice',
	description: 'Words to look for. All must occur, unless OR is between them.',
};

export const description: INodeProperties[] = [
	...withDefaultOfTool(
		queryParameter,
		fromAi('Query', 'A few keywords, which must all occur; OR between alternatives'),
	),
	...periodParameters,
	{
		...limitParameter,
		typeOptions: { ...limitParameter.typeOptions, maxValue: MAX_PAGE_SIZE },
		default: 10,
		hint: 'At most 100: the service returns no more for a search',
	},
	...listingParameters,
];

/**
 * Searches lifelogs. The service's search has no pages, and withholds the contents of more than 25
 * results (specification, section 4.2): one request, and one for each result without contents then.
 *
 * @returns One item per lifelog (`outputOf`), in the order of the service, best first.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const search = readText(this, queryParameter, itemIndex);
	if (search === '') throw inputError(this, "'Query' is empty", 'Enter the words to look for.');
	const asked = readLimit(this, itemIndex);
	const limit = Math.min(asked, MAX_PAGE_SIZE);
	const request = readListing(this, itemIndex);
	const { query, isWanted, one } = request;

	const page = await readPage<Lifelog>(api, {
		name: 'lifelogs',
		query: { ...query, search },
		pageSize: limit,
	});
	// A service may rank a result twice, by its words and by its meaning; the better rank counts.
	const found = page.entries.filter(eachOnce()).filter(isWanted).slice(0, limit);
	const mayLackContents = query.includeContents && limit > MAX_PAGE_SIZE_WITH_CONTENTS;
	const lifelogs = mayLackContents ? await withContents(api, found, one) : found;

	const { length } = page.entries;
	const isLimited = length < limit && (page.nextCursor || length === FALLBACK_PAGE_SIZE);
	if (isLimited || (asked > MAX_PAGE_SIZE && length >= MAX_PAGE_SIZE)) {
		hint(
			api,
			`The search returned ${length} results, and a search has no further pages. Narrow it, e.g. with 'Period', to see whether there are others.`,
		);
	}
	const { toItem, hinted } = itemsOf(api, request, search);
	return hinted(lifelogs.map(toItem));
}

/** Reads those without contents by their ID, and leaves out what was deleted meanwhile. */
async function withContents(api: Api, found: Lifelog[], query: IDataObject): Promise<Lifelog[]> {
	const lifelogs = await mapConcurrent(api, found, MAX_CONCURRENT_READS, async (own, lifelog) =>
		lifelog.contents?.length > 0
			? lifelog
			: await unlessDeleted(api, getLifelog(own, lifelog.id, query)),
	);
	return lifelogs.filter((lifelog) => lifelog !== undefined);
}
