import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readNumber } from '../../shared/parameters/read';

/** The option that bounds a text; {@link readMaxCharacters} reads it. */
export const maxCharactersOption: INodeProperties = {
	displayName: 'Max Characters',
	name: 'maxCharacters',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'The longest text to return, in characters: at least 100, or 0 for all of it. What is cut says so in isTruncated.',
};

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
	const min = String(maxCharacters).trim() === '0' ? 0 : MIN_CHARACTERS;
	const advice = 'Give a number such as 20000, or 0 for all.';
	return readNumber(context, maxCharacters, 'Max Characters', { isWhole: true, min }, advice);
}
