// Parameters of operations that return lists.
import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { trimmedText } from '../../../lifelog/text.ts';
import type { ApiContext } from '../auth/connection';
import { inputError } from '../errors/nodeErrors';
import { shownIf } from './conditions';
import { choices, readBoolean, readNumber, singleValueOf } from './read';
import { isTool } from './tool';

const MAX_LIMIT_OF_TOOL = 100;

export const limitParameter: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 50,
	description: 'Max number of results to return',
};

const returnAllParameter: INodeProperties = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
};

const limitOfTool: INodeProperties = {
	...limitParameter,
	typeOptions: { ...limitParameter.typeOptions, maxValue: MAX_LIMIT_OF_TOOL },
	description: `Max number of results to return, at most ${MAX_LIMIT_OF_TOOL}`,
};

/** {@link readLimit} reads them. */
export const limitParameters: INodeProperties[] = [
	...shownIf({ '@tool': [false] }, [returnAllParameter]),
	...shownIf({ '@tool': [false], returnAll: [false] }, [limitParameter]),
	...shownIf({ '@tool': [true] }, [limitOfTool]),
];

/**
 * @returns The parameter Limit, or Infinity with Return All. A tool always has a limit of up to
 *   {@link MAX_LIMIT_OF_TOOL}, because a model pays for what it reads.
 */
export function readLimit(context: IExecuteFunctions, itemIndex: number): number {
	const forModel = isTool(context);
	if (!forModel && readBoolean(context, returnAllParameter, itemIndex)) return Infinity;
	const limit = readNumber(
		context,
		limitParameter,
		itemIndex,
		"Enter a number such as 20. For all results, turn on 'Return All', if the operation has it.",
	);
	return forModel ? Math.min(limit, MAX_LIMIT_OF_TOOL) : limit;
}

export const directionOption = choices({
	displayName: 'Direction',
	name: 'direction',
	type: 'options',
	options: [
		{ name: 'Newest First', value: 'desc' },
		{ name: 'Oldest First', value: 'asc' },
	],
	default: 'desc',
	description: 'Order of the results',
});

export const isStarredFilter = {
	displayName: 'Is Starred',
	name: 'isStarred',
	type: 'boolean',
	default: true,
} satisfies INodeProperties;

export const isScheduledFilter: INodeProperties = {
	displayName: 'Is Scheduled',
	name: 'isScheduled',
	type: 'boolean',
	default: true,
	description:
		'Whether to return only chats of scheduled prompts (on) or only the others (off). Leave this filter out for both.',
};

/** {@link readPromptId} reads it. */
export const promptIdFilter: INodeProperties = {
	displayName: 'Global Prompt ID',
	name: 'globalPromptId',
	type: 'string',
	default: '',
	placeholder: 'e.g. 8f2kQ0pXw1Zr5TnB',
	description: 'Include only chats of the scheduled prompt with this ID',
};

/** What models write for "no filter"; sent, it would find nothing. */
const NO_IDS = ['all', 'any', 'none', 'null', 'undefined'];

/**
 * The ID of a scheduled prompt; the service doesn't list prompts.
 *
 * @throws NodeOperationError if it is a title or a word for "no filter".
 */
export function readPromptId(context: ApiContext, filters: IDataObject): string | undefined {
	const value = singleValueOf(context, promptIdFilter, filters);
	if (value === undefined) return undefined;
	const id = trimmedText(value);
	if (!/\s/.test(id) && !NO_IDS.includes(id.toLowerCase())) return id;
	throw inputError(
		context,
		`"${id}" is not the ID of a scheduled prompt`,
		"A title isn't an ID. Leave 'Global Prompt ID' empty for all prompts, or enter the ID of one.",
	);
}

/** @param options In the order of their names, as n8n wants them. */
export function optionsOf(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options,
	};
}

/** @param filters As {@link optionsOf}. */
export function filtersOf(filters: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		options: filters,
	};
}
