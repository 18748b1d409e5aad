import type { INodeExecutionData } from 'n8n-workflow';

import type { Lifelog } from '../../lifelog/api.ts';
import type { Api } from '../shared/auth/connection';
import { hint, hintOfNone } from '../shared/errors/hints';
import { listResource } from '../shared/errors/nodeErrors';
import { outputOf } from '../shared/parameters/output';
import { hintPeriod } from './parameters/filters';
import type { ListingRequest } from './parameters/listing';

const FEWER_WORDS = 'Use fewer words, or OR between alternatives.';

export function toItems(
	api: Api,
	lifelogs: Lifelog[],
	{ query, output, maxCharacters }: ListingRequest,
	search?: string,
): INodeExecutionData[] {
	const { timezone, includeContents } = query;
	if (lifelogs.length > 0) hintPeriod(api, query);
	else hintOfNone(api, listResource('lifelogs', { ...query, search }), search && FEWER_WORDS);
	if (includeContents) hintIfContentsWithheld(api, lifelogs);
	const asked = { timezone, includeContents, maxCharacters, search };
	return lifelogs.map((lifelog) => ({ json: outputOf(lifelog, output, asked) }));
}

function hintIfContentsWithheld(api: Api, lifelogs: Lifelog[]): void {
	const isWithheld = lifelogs.length > 0 && lifelogs.every(({ contents }) => !contents?.length);
	if (!isWithheld) return;
	hint(
		api,
		'The service sent no contents, although they were requested. The Markdown may contain the text.',
		'warning',
	);
}
