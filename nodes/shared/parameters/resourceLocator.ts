import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { isSafePathSegment } from '../../../lifelog/names.ts';
import { trimmedText } from '../../../lifelog/text.ts';
import { inputError } from '../errors/nodeErrors';
import { described } from '../errors/sanitize';
import { TITLES_ARE_NO_IDS } from '../errors/status';
import { fromAi, withDefaultOfTool } from './conditions';

type Noun = 'lifelog' | 'chat';

/** The functions of a node's `methods.listSearch` that fill the lists. */
const LIST_METHODS = { lifelog: 'searchLifelogs', chat: 'searchChats' };

/** The parameter that names a lifelog; the node needs `methods.listSearch.searchLifelogs`. */
export const lifelogIdParameter = idLocator('lifelog', 'Lifelog', 'lifelogId');

/** The parameter that names a chat; the node needs `methods.listSearch.searchChats`. */
export const chatIdParameter = idLocator('chat', 'Chat', 'chatId');

/** What is deleted has a parameter of its own: a choice made for reading must not become one. */
export const lifelogIdToDelete = idLocator('lifelog', 'Lifelog to Delete', 'lifelogIdToDelete');
export const chatIdToDelete = idLocator('chat', 'Chat to Delete', 'chatIdToDelete');

/** It names a lifelog to read; in a tool, it is left to the model from the start. */
export function lifelogIdParameters(description: string): INodeProperties[] {
	return leftToModel({ ...lifelogIdParameter, description }, 'The ID that a search returned');
}

/** It names a chat to read, as {@link lifelogIdParameters}. */
export function chatIdParameters(description: string): INodeProperties[] {
	return leftToModel({ ...chatIdParameter, description }, 'The ID that a list returned');
}

function leftToModel(locator: INodeProperties, description: string): INodeProperties[] {
	const value = fromAi(locator.displayName, description);
	return withDefaultOfTool(locator, { __rl: true, mode: 'id', value });
}

function idLocator(noun: Noun, displayName: string, name: string): INodeProperties {
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
				placeholder: `Select a ${noun}...`,
				typeOptions: { searchListMethod: LIST_METHODS[noun], searchable: true },
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

/**
 * The ID of an entry, safe as one segment of a path.
 *
 * @throws NodeOperationError if it is blank, not a text, a title, or would change the path.
 */
export function readId(
	context: IExecuteFunctions,
	{ name }: INodeProperties,
	itemIndex: number,
	noun: Noun,
): string {
	const value = context.getNodeParameter(name, itemIndex, '', { extractValue: true }) as unknown;
	// Another number may have lost digits, and be the ID of another entry.
	const isText = typeof value === 'string' || Number.isSafeInteger(value);
	const id = isText ? trimmedText(value) : '';
	if (isSafePathSegment(id) && !/\s/.test(id)) return id;

	const isMissing = value === undefined || value === null || (isText && id === '');
	const advice = `Select a ${noun} from the list, or enter its ID. Nothing was sent.`;
	if (isMissing) throw inputError(context, `The ID of the ${noun} is missing`, advice);
	throw inputError(
		context,
		isText
			? `"${id}" is not the ID of a ${noun}`
			: `The ID of the ${noun} must be text, not ${described(value)}`,
		/\s/.test(id) ? `${TITLES_ARE_NO_IDS} Nothing was sent.` : advice,
	);
}
