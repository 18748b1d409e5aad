import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import { getLifelog } from '../../shared/api/entries';
import { optionsOf } from '../../shared/parameters/lists';
import { outputOf, outputParameters, partsFor, readOutput } from '../../shared/parameters/output';
import {
	HIDDEN_IF_SIMPLIFIED,
	includeContentsOption,
	includeHeadingsOption,
	includeMarkdownOption,
	readParts,
} from '../../shared/parameters/parts';
import { readCollection } from '../../shared/parameters/read';
import {
	lifelogIdParameter,
	lifelogIdParameters,
	readId,
} from '../../shared/parameters/resourceLocator';
import { readZone, timezoneOption } from '../../shared/parameters/times';
import { maxCharactersOption, readMaxCharacters } from '../parameters/maxCharacters';

export const description: INodeProperties[] = [
	...lifelogIdParameters('The lifelog to read. Its ID is the id that a list or a search returns.'),
	...outputParameters,
	optionsOf([
		includeContentsOption,
		includeHeadingsOption,
		includeMarkdownOption,
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
	const id = readId(this, lifelogIdParameter, itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options);
	const output = readOutput(this, itemIndex);
	const parts = partsFor(output, readParts(this, options, true));
	const maxCharacters = readMaxCharacters(this, options);
	const lifelog = await getLifelog(api, id, { timezone, ...parts });
	const { includeContents } = parts;
	return [{ json: outputOf(lifelog, output, { timezone, includeContents, maxCharacters }) }];
}
