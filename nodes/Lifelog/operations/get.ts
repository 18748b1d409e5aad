import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/transport/connection';
import {
	includeOptions,
	maxWaitOption,
	optionsOf,
	timezoneOption,
} from '../../shared/parameters/descriptions';
import { readId } from '../../shared/parameters/resourceLocator';
import { getLifelog, lifelogIdParameter } from '../../shared/api/lifelogs';
import {
	HIDDEN_IF_SELECTED,
	HIDDEN_IF_SIMPLIFIED,
	HIDDEN_UNLESS_RAW,
	outputOf,
	outputParametersOfTool,
	partsFor,
} from '../../shared/parameters/output';
import { includeQuery, readCollection, readZone } from '../../shared/parameters/read';
import { outputOfItem } from '../parameters/list';
import { maxCharactersOption, readMaxCharacters } from '../parameters/maxCharacters';

export const description: INodeProperties[] = [
	{
		...lifelogIdParameter,
		description: 'The lifelog to read, by its ID: the id that a list or a search gives',
	},
	...outputParametersOfTool,
	optionsOf([
		{ ...includeOptions.includeContents, displayOptions: HIDDEN_IF_SELECTED },
		{ ...includeOptions.includeHeadings, displayOptions: HIDDEN_IF_SIMPLIFIED },
		{ ...includeOptions.includeMarkdown, displayOptions: HIDDEN_UNLESS_RAW },
		{ ...maxCharactersOption, displayOptions: HIDDEN_IF_SIMPLIFIED },
		maxWaitOption,
		timezoneOption,
	]),
];

/**
 * Reads one lifelog (specification, section 4.3).
 *
 * @returns One item, in the form that is wanted (`outputOf`).
 * @throws NodeApiError when there is none with this ID.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const id = readId(this, 'lifelogId', itemIndex, 'lifelog');
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const output = outputOfItem(this, itemIndex);
	const parts = partsFor(output, includeQuery(this, options, true));
	const maxCharacters = readMaxCharacters(this, options);
	const lifelog = await getLifelog(api, id, { timezone, ...parts });
	const { includeContents } = parts;
	return [{ json: outputOf(lifelog, output, { timezone, includeContents, maxCharacters }) }];
}
