import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import {
	HIDDEN_IF_SIMPLIFIED,
	includeOptions,
	optionsOf,
	timezoneOption,
} from '../../shared/parameters/descriptions';
import { lifelogIdParameters, readId } from '../../shared/parameters/resourceLocator';
import { getLifelog } from '../../shared/api/entries';
import { outputOf, outputOfItem, outputParameters, partsFor } from '../../shared/parameters/output';
import { readParts, readCollection, readZone } from '../../shared/parameters/read';
import { maxCharactersOption, readMaxCharacters } from '../parameters/list';

export const description: INodeProperties[] = [
	...lifelogIdParameters('The lifelog to read. Its ID is the id that a list or a search returns.'),
	...outputParameters,
	optionsOf([
		includeOptions.includeContents,
		includeOptions.includeHeadings,
		includeOptions.includeMarkdown,
		{ ...maxCharactersOption, displayOptions: HIDDEN_IF_SIMPLIFIED },
		timezoneOption,
	]),
];

/**
 * Reads one lifelog (specification, section 4.3).
 *
 * @returns One item (`outputOf`). @throws NodeApiError if none has this ID.
 */
export async function execute(this: IExecuteFunctions, api: Api, itemIndex: number) {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const output = outputOfItem(this, itemIndex);
	const parts = partsFor(output, readParts(this, options, true));
	const maxCharacters = readMaxCharacters(this, options);
	const lifelog = await getLifelog(api, id, { timezone, ...parts });
	const { includeContents } = parts;
	return [{ json: outputOf(lifelog, output, { timezone, includeContents, maxCharacters }) }];
}
