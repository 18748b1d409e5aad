import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { inputError } from './errors';

/** Half a character, which no URL can hold. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The parameter that names one entry: chosen from a searchable list, or given by its ID.
 *
 * @param searchListMethod The node's `methods.listSearch` function that fills the list.
 */
export function idLocator(
	displayName: string,
	name: string,
	searchListMethod: string,
): INodeProperties {
	return {
		displayName,
		name,
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		required: true,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: `Select a ${displayName.toLowerCase()}...`,
				typeOptions: { searchListMethod, searchable: true },
			},
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string',
				placeholder: 'e.g. 8f2kQ0pXw1Zr5TnB',
			},
		],
	};
}

/** Whether a value can be an ID: a text that, encoded, is one segment of a path, and stays one. */
export function isId(value: unknown): value is string {
	return typeof value === 'string' && !/^(\s*|\.\.?)$/.test(value) && !LONE_SURROGATE.test(value);
}

/**
 * The ID of an entry, safe to be put into a path as one segment.
 *
 * @param noun What it is the ID of: "lifelog".
 * @throws NodeOperationError when it is blank, no text, or would change the path.
 */
export function readId(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	noun: string,
): string {
	const value = context.getNodeParameter(name, itemIndex, '', { extractValue: true }) as unknown;
	const id = typeof value === 'string' || Number.isFinite(value) ? String(value).trim() : '';
	if (!isId(id)) {
		throw inputError(
			context,
			id === '' ? `The ID of the ${noun} is missing` : `"${id}" is not the ID of a ${noun}`,
			`Select a ${noun} from the list, or give its ID. Nothing was sent.`,
		);
	}
	return id;
}
