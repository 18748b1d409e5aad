import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { inputError } from '../errors/nodeErrors';
import { readText } from './read';

/** {@link readBinaryProperty} reads it. */
export const binaryPropertyParameter: INodeProperties = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	description: 'Field from which later nodes read the file',
	hint: 'The name of the output binary field to put the file in',
};

/** @throws NodeOperationError if the name is empty. */
export function readBinaryProperty(context: IExecuteFunctions, itemIndex: number): string {
	const property = readText(context, binaryPropertyParameter, itemIndex);
	if (property !== '') return property;
	throw inputError(
		context,
		"'Put Output File in Field' is empty",
		'Enter a name, for example "data".',
	);
}
