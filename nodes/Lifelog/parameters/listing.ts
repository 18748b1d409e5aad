import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { directionOption, optionsOf } from '../../shared/parameters/lists';
import { maxWaitOption } from '../../shared/parameters/maxWait';
import {
	type Output,
	outputParameters,
	partsFor,
	readOutput,
} from '../../shared/parameters/output';
import {
	HIDDEN_IF_SIMPLIFIED,
	includeContentsOption,
	includeHeadingsOption,
	includeMarkdownOption,
	readParts,
} from '../../shared/parameters/parts';
import { readChoiceIfSet, readCollection } from '../../shared/parameters/read';
import { timezoneOption } from '../../shared/parameters/times';
import { type Filters, filtersParameter, readFilters } from './filters';
import { maxCharactersOption, readMaxCharacters } from './maxCharacters';

/** The parameters of Get Many and Search; {@link readListing} reads them. */
export const listingParameters: INodeProperties[] = [
	...outputParameters,
	filtersParameter,
	optionsOf([
		directionOption,
		{
			...includeContentsOption,
			default: false,
			description: `${includeContentsOption.description}. The service sends them for at most 25 lifelogs at a time, so a list takes more requests.`,
		},
		includeHeadingsOption,
		includeMarkdownOption,
		{ ...maxCharactersOption, displayOptions: HIDDEN_IF_SIMPLIFIED },
		maxWaitOption,
		timezoneOption,
	]),
];

export interface ListingRequest extends Filters {
	query: Filters['query'] & { includeContents: boolean };
	/** The part of the query that the read of one lifelog takes (specification, section 4.3). */
	one: IDataObject;
	output: Output;
	/** The maximum length of each Markdown; 0 for all. */
	maxCharacters: number;
}

/**
 * Reads the {@link listingParameters}.
 *
 * @throws NodeOperationError on values that cannot be used, or that contradict each other.
 */
export function readListing(context: IExecuteFunctions, itemIndex: number): ListingRequest {
	const { query, isWanted } = readFilters(context, itemIndex);
	const output = readOutput(context, itemIndex);
	const options = readCollection(context, 'options', itemIndex);
	const parts = partsFor(output, readParts(context, options, false));
	return {
		query: {
			...query,
			...parts,
			direction: readChoiceIfSet(context, directionOption, options),
		},
		one: { timezone: query.timezone, ...parts },
		isWanted,
		output,
		maxCharacters: readMaxCharacters(context, options),
	};
}
