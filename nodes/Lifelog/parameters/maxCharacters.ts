import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readNumber } from '../../shared/parameters/read';

/** A shorter text would hold little more than the speaker's name. */
const MIN_CHARACTERS = 100;

/** The option that bounds a text; {@link readMaxCharacters} reads it. */
export const maxCharactersOption: INodeProperties = {
	displayName: 'Max Characters',
	name: 'maxCharacters',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	description:
		'Maximum number of characters to return: at least 100, or 0 for all. The output field isTruncated says whether text was cut.',
};

/**
 * @param options The collection `options` of an operation.
 * @returns How long a text may be, in UTF-16 units; 0 for all of it.
 * @throws NodeOperationError when it is neither 0 nor a whole number from 100 on.
 */
export function readMaxCharacters(context: IExecuteFunctions, options: IDataObject): number {
	const { maxCharacters = 0 } = options;
	const isAll = typeof maxCharacters !== 'object' && Number(maxCharacters) === 0;
	const minValue = isAll ? 0 : MIN_CHARACTERS;
	const option = { ...maxCharactersOption, typeOptions: { minValue, numberPrecision: 0 } };
	const advice = 'Enter a number such as 20000, or 0 for all.';
	return readNumber(context, option, options, advice);
}
