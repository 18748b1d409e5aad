import type { IDataObject, ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { Api } from '../transport/connection';
import { connect, PATIENCE_OF_EDITOR } from '../transport/connection';
import type { Lifelog } from './apiTypes';
import { getEntry, nameInList, zoneOfList } from './entries';
import { idLocator } from '../parameters/resourceLocator';
import { readPage } from '../transport/pagination';

/** What is asked of the service when only identity, title and times matter. */
export const METADATA_ONLY = {
	includeMarkdown: false,
	includeHeadings: false,
	includeContents: false,
};

/** The parameter that names a lifelog; the node needs `methods.listSearch.searchLifelogs`. */
export const lifelogIdParameter = idLocator('Lifelog', 'lifelogId', 'searchLifelogs');

/**
 * One lifelog by its ID (specification, section 4.3).
 *
 * @param query `timezone` and the include parameters.
 * @throws NodeApiError when there is none, said by a 404 or by null.
 */
export async function getLifelog(api: Api, id: string, query: IDataObject): Promise<Lifelog> {
	return await getEntry<Lifelog>(api, 'lifelog', id, query);
}

/**
 * Fills the list of the parameter {@link lifelogIdParameter}: the newest lifelogs, page by page,
 * or what the service finds for the words typed.
 */
export async function searchLifelogs(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const api = await connect(this, PATIENCE_OF_EDITOR);
	const timezone = zoneOfList(this);
	const query = { ...METADATA_ONLY, timezone, search: filter || undefined };
	const page = await readPage<Lifelog>(api, { name: 'lifelogs', query }, paginationToken);
	return {
		results: page.entries.map(({ id, title, startTime }) => ({
			name: nameInList(title, startTime, timezone),
			value: id,
		})),
		paginationToken: filter ? undefined : page.nextCursor,
	};
}
