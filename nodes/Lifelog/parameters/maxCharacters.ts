import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { inputError } from '../../shared/errors/errors';
import { toNumber } from '../../shared/parameters/read';
import { described } from '../../shared/errors/sanitize';

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

/** A shorter text would hold next to nothing beside the name of who speaks. */
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
	const most = toNumber(maxCharacters);
	if (!Number.isInteger(most) || (most !== 0 && most < MIN_CHARACTERS)) {
		throw inputError(
			context,
			`'Max Characters' must be a whole number, ${MIN_CHARACTERS} or more, or 0 for all, not ${described(maxCharacters)}`,
			'Give a number such as 20000.',
		);
	}
	return most;
}
