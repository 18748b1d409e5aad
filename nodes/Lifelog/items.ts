import type { INodeExecutionData } from 'n8n-workflow';

import type { Lifelog } from '../../lifelog/api.ts';
import type { Api } from '../shared/auth/connection';
import { hint, hintOfNone } from '../shared/errors/hints';
import { listResource } from '../shared/errors/nodeErrors';
import { outputOf } from '../shared/parameters/output';
import { hintPeriod } from './parameters/filters';
import type { ListingRequest } from './parameters/listing';

const FEWER_WORDS = 'Use fewer words, or OR between alternatives.';

/** `toItem` makes an item of a lifelog. `hinted` adds the hints about all items, and returns them. */
export function itemsOf(api: Api, request: ListingRequest, search?: string) {
	const { query, output, maxCharacters } = request;
	const { timezone, includeContents } = query;
	const asked = { timezone, includeContents, maxCharacters, search };
	let hasContents = false;
	return {
		toItem(this: void, lifelog: Lifelog): INodeExecutionData {
			hasContents ||= lifelog.contents?.length > 0;
			return { json: outputOf(lifelog, output, asked) };
		},
		hinted(this: void, items: INodeExecutionData[]): INodeExecutionData[] {
			if (items.length > 0) hintPeriod(api, query);
			else hintOfNone(api, listResource('lifelogs', { ...query, search }), search && FEWER_WORDS);
			if (includeContents && items.length > 0 && !hasContents) hintContentsWithheld(api);
			return items;
		},
	};
}

function hintContentsWithheld(api: Api): void {
	hint(
		api,
		'The service sent no contents, although they were requested. The Markdown may contain the text.',
		'warning',
	);
}
