import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { ApiContext } from '../transport/connection';
import type { Lifelog } from '../api/apiTypes';
import { withDefaultOfTool } from './descriptions';
import { readChoice, readChoices } from './read';
import { simplifyLifelog } from '../content/simplify';
import { beginning } from '../util/text';

const OUTPUTS = ['simplified', 'raw', 'selectedFields'] as const;

/** In the order in which they come out. */
const FIELDS = [
	'title',
	'startTime',
	'endTime',
	'durationMs',
	'isStarred',
	'updatedAt',
	'speakers',
	'headings',
	'excerpt',
	'markdown',
	'contents',
] as const;

type Field = (typeof FIELDS)[number];

/** In which form lifelogs come out. */
export interface Output {
	kind: (typeof OUTPUTS)[number];
	/** Those wanted beside `id`; counts for `selectedFields` alone. */
	fields: Field[];
}

/** The parts of a lifelog that are asked for (specification, section 4.2). */
export interface Parts {
	includeMarkdown: boolean;
	includeHeadings: boolean;
	includeContents: boolean;
}

const outputParameter: INodeProperties = {
	displayName: 'Output',
	name: 'output',
	type: 'options',
	options: [
		{
			name: 'Simplified',
			value: 'simplified',
			description: 'Title, times, headings and an excerpt of at most 300 characters',
		},
		{
			name: 'Raw',
			value: 'raw',
			description: 'All that the API gives, with the whole text',
		},
		{
			name: 'Selected Fields',
			value: 'selectedFields',
			description: 'The ID and the fields that you choose',
		},
	],
	default: 'raw',
	description: 'How much of each lifelog comes out: simplified, raw or selectedFields',
};

const fieldsParameter: INodeProperties = {
	displayName: 'Fields',
	name: 'fields',
	type: 'multiOptions',
	options: [
		{ name: 'Contents', value: 'contents', description: 'Who said what and when, structured' },
		{ name: 'Duration', value: 'durationMs', description: 'In milliseconds' },
		{ name: 'End Time', value: 'endTime' },
		{ name: 'Excerpt', value: 'excerpt', description: 'At most 300 characters of what was said' },
		{ name: 'Headings', value: 'headings', description: 'What it was about, a list' },
		{ name: 'Is Starred', value: 'isStarred' },
		{ name: 'Markdown', value: 'markdown', description: 'The whole text' },
		{ name: 'Speakers', value: 'speakers', description: 'Names of those who spoke' },
		{ name: 'Start Time', value: 'startTime' },
		{ name: 'Title', value: 'title' },
		{ name: 'Updated At', value: 'updatedAt' },
	],
	default: ['title', 'startTime', 'excerpt'],
	description:
		'Which fields of a lifelog come out beside its ID: contents, durationMs, endTime, excerpt, headings, isStarred, markdown, speakers, startTime, title, updatedAt',
	displayOptions: { show: { output: ['selectedFields'] } },
};

/** The parameters that say in which form lifelogs come out; {@link readOutput} reads them. */
export const outputParameters: INodeProperties[] = [outputParameter, fieldsParameter];

/** The same for a node that can be a tool: a model has to pay for what it is given. */
export const outputParametersOfTool: INodeProperties[] = [
	...withDefaultOfTool(outputParameter, 'simplified'),
	fieldsParameter,
];

/** Options that count for the text as the API gives it, or that Fields decides, are shown so. */
export const HIDDEN_IF_SIMPLIFIED = { hide: { '/output': ['simplified'] } };
export const HIDDEN_IF_SELECTED = { hide: { '/output': ['selectedFields'] } };
export const HIDDEN_UNLESS_RAW = { hide: { '/output': ['simplified', 'selectedFields'] } };

/**
 * @param output The parameter Output.
 * @param fields The parameter Fields; a list, or its names in a text with commas between them.
 * @throws NodeOperationError on what they cannot be.
 */
export function readOutput(context: ApiContext, output: unknown, fields: unknown): Output {
	return readOutputOf(context, output, fields, FIELDS);
}

/**
 * The same for entries with other fields.
 *
 * @param known The fields there are beside `id`, in the order in which they come out.
 */
export function readOutputOf<Name extends string>(
	context: ApiContext,
	output: unknown,
	fields: unknown,
	known: readonly Name[],
): { kind: Output['kind']; fields: Name[] } {
	const kind = readChoice(context, output, OUTPUTS, 'Output');
	if (kind !== 'selectedFields') return { kind, fields: [] };
	const chosen = readChoices<string>(context, fields, ['id', ...known], 'Fields');
	return { kind, fields: known.filter((field) => chosen.includes(field)) };
}

/**
 * What to ask the service for, so that an output can be made of it: no more than it takes.
 *
 * @param asked What the options ask for.
 */
export function partsFor({ kind, fields }: Output, asked: Parts): Parts {
	if (kind === 'raw') return asked;
	// Where the service withholds the contents, headings and excerpt are those of the Markdown.
	if (kind === 'simplified') return { ...asked, includeMarkdown: true, includeHeadings: true };
	const hasAny = (...wanted: Field[]) => wanted.some((field) => fields.includes(field));
	return {
		includeMarkdown: hasAny('markdown', 'headings', 'excerpt'),
		includeHeadings: hasAny('headings') || asked.includeHeadings,
		includeContents: hasAny('contents', 'speakers'),
	};
}

/** How a lifelog was asked for. */
export interface Asked extends Pick<Parts, 'includeContents'> {
	/** In which a time without offset is read. */
	timezone: string;
	/** What was searched for, if anything. */
	search?: string;
	/** How much of the Markdown is wanted, in UTF-16 units; 0 or undefined for all. */
	maxCharacters?: number;
}

/**
 * A lifelog as an item's JSON.
 *
 * @returns Raw: the API's object unchanged, without contents that were not asked for; simplified:
 *   {@link simplifyLifelog}; or the ID and the fields chosen. Where Markdown was cut, with
 *   `isTruncated: true`.
 */
export function outputOf(lifelog: Lifelog, output: Output, asked: Asked): IDataObject {
	if (output.kind === 'simplified') return simplifyLifelog(lifelog, asked.timezone, asked.search);
	// The service sends contents, mostly empty, even if they were not asked for.
	const { contents, ...others } = lifelog;
	const raw: IDataObject =
		contents !== undefined && asked.includeContents ? { ...lifelog } : others;
	const json = output.kind === 'raw' ? raw : selectFields(lifelog, output.fields, asked);
	const { markdown } = json;
	const { maxCharacters = 0 } = asked;
	if (typeof markdown !== 'string' || maxCharacters === 0 || markdown.length <= maxCharacters) {
		return json;
	}
	return { ...json, markdown: beginning(markdown, maxCharacters).trimEnd(), isTruncated: true };
}

/** What the API gives comes as it gives it; what it does not send is left out. */
function selectFields(lifelog: Lifelog, fields: Field[], { timezone, search }: Asked): IDataObject {
	const simplified = simplifyLifelog(lifelog, timezone, search);
	const { durationMs, speakers, headings, excerpt } = simplified;
	const given: IDataObject = { ...lifelog, durationMs, speakers, headings, excerpt };
	const known = ['id', ...fields].filter((field) => given[field] !== undefined);
	return Object.fromEntries(known.map((field) => [field, given[field]]));
}
