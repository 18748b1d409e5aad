import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { ApiContext } from '../auth/connection';
import { inputError } from '../errors/nodeErrors';
import { TITLES_ARE_NO_IDS } from '../errors/status';
import { described } from '../errors/sanitize';
import { fromAi, withDefaultOfTool } from './descriptions';
import { isSafePathSegment } from '../../../lifelog/names.ts';
import { trimmedText } from '../../../lifelog/text.ts';

/** What models write for "no filter"; sent, it would find nothing. */
const NO_IDS = ['all', 'any', 'none', 'null', 'undefined'];

/** The parameter that names a lifelog; the node needs `methods.listSearch.searchLifelogs`. */
export const lifelogIdParameter = idLocator('Lifelog', 'lifelogId', 'searchLifelogs');

/** It names a lifelog to read; in a tool, it is left to the model from the start. */
export const lifelogIdParameters = (description: string): INodeProperties[] =>
	leftToModel({ ...lifelogIdParameter, description }, 'The ID that a search returned');

/** It names a chat to read, as {@link lifelogIdParameters}; the node needs `methods.listSearch.searchChats`. */
export const chatIdParameters = (description: string): INodeProperties[] =>
	leftToModel(
		{ ...idLocator('Chat', 'chatId', 'searchChats'), description },
		'The ID that a list returned',
	);

/** What is deleted has a parameter of its own: a choice made for reading must not become one. */
export const lifelogIdToDelete = idLocator(
	'Lifelog to Delete',
	'lifelogIdToDelete',
	'searchLifelogs',
);
export const chatIdToDelete = idLocator('Chat to Delete', 'chatIdToDelete', 'searchChats');

export const deleteNoticeOfTool: INodeProperties = {
	displayName: 'An agent with this tool deletes without asking you',
	name: 'agentNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
};

/** @param searchListMethod The node's `methods.listSearch` function that fills the list. */
function idLocator(displayName: string, name: string, searchListMethod: string): INodeProperties {
	const [noun] = displayName.toLowerCase().split(' ');
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

function leftToModel(locator: INodeProperties, description: string): INodeProperties[] {
	const value = fromAi(locator.displayName, description);
	return withDefaultOfTool(locator, { __rl: true, mode: 'id', value });
}

/**
 * The ID of an entry, safe as one segment of a path.
 *
 * @throws NodeOperationError if it is blank, not a text, a title, or would change the path.
 */
export function readId(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	noun: string,
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

/**
 * The ID of a scheduled prompt; the service doesn't list prompts.
 *
 * @throws NodeOperationError if it is a title or a word for "no filter".
 */
export function promptIdOf(context: ApiContext, value: unknown): string | undefined {
	if (value === undefined) return undefined;
	const id = trimmedText(value);
	if (!/\s/.test(id) && !NO_IDS.includes(id.toLowerCase())) return id;
	throw inputError(
		context,
		`"${id}" is not the ID of a scheduled prompt`,
		"A title isn't an ID. Leave 'Global Prompt ID' empty for all prompts, or enter the ID of one.",
	);
}
