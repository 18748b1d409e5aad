import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from '../../shared/auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import {
	directionOption,
	HIDDEN_IF_SIMPLIFIED,
	includeOptions,
	maxWaitOption,
	optionsOf,
	timezoneOption,
} from '../../shared/parameters/descriptions';
import { listResource } from '../../shared/errors/nodeErrors';
import { hint, hintOfNone } from '../../shared/errors/hints';
import {
	type Output,
	outputOf,
	outputOfItem,
	outputParameters,
	partsFor,
} from '../../shared/parameters/output';
import { readParts, readCollection, readDirection, readNumber } from '../../shared/parameters/read';
import { type Filters, filtersParameter, hintPeriod, readFilters } from './filters';
import { trimmedText } from '../../../lifelog/text.ts';

/** The option that bounds a text; {@link readMaxCharacters} reads it. */
export const maxCharactersOption: INodeProperties = {
	displayName: 'Max Characters',
	name: 'maxCharacters',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Maximum number of characters to return: at least 100, or 0 for all. The output field isTruncated says whether text was cut.',
};

/** The parameters of Get Many and Search; {@link readListing} reads them. */
export const listingParameters: INodeProperties[] = [
	...outputParameters,
	filtersParameter,
	optionsOf([
		directionOption,
		{
			...includeOptions.includeContents,
			default: false,
			description: `${includeOptions.includeContents.description}. The service sends them for at most 25 lifelogs at a time, so a list takes more requests.`,
		},
		includeOptions.includeHeadings,
		includeOptions.includeMarkdown,
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
	const output = outputOfItem(context, itemIndex);
	const options = readCollection(context, 'options', itemIndex);
	const parts = partsFor(output, readParts(context, options, false));
	return {
		query: {
			...query,
			...parts,
			direction: readDirection(context, options),
		},
		one: { timezone: query.timezone, ...parts },
		isWanted,
		output,
		maxCharacters: readMaxCharacters(context, options),
	};
}

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

/** A shorter text would hold little more than the speaker's name. */
const MIN_CHARACTERS = 100;

/**
 * @param options The collection `options` of an operation.
 * @returns How long a text may be, in UTF-16 units; 0 for all of it.
 * @throws NodeOperationError when it is neither 0 nor a whole number from 100 on.
 */
export function readMaxCharacters(
	context: IExecuteFunctions,
	{ maxCharacters = 0 }: IDataObject,
): number {
	const min = trimmedText(maxCharacters) === '0' ? 0 : MIN_CHARACTERS;
	const advice = 'Enter a number such as 20000, or 0 for all.';
	return readNumber(context, maxCharacters, 'Max Characters', { isWhole: true, min }, advice);
}
