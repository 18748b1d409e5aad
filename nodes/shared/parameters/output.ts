import type {
	IDataObject,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { ApiContext } from '../auth/connection';
import type { Lifelog } from '../../../lifelog/api.ts';
import { readChoice, readChoices } from './read';
import { simplifyLifelog } from '../content/simplify';
import { durationOf } from '../../../lifelog/times.ts';
import { beginning } from '../../../lifelog/text.ts';

const OUTPUTS = ['simplified', 'raw', 'selectedFields'] as const;

/** In the order of the output. */
const LIFELOG_FIELDS = [
	{ name: 'Title', value: 'title' },
	{ name: 'Start Time', value: 'startTime' },
	{ name: 'End Time', value: 'endTime' },
	{ name: 'Duration', value: 'durationMs', description: 'In milliseconds' },
	{ name: 'Is Starred', value: 'isStarred' },
	{ name: 'Updated At', value: 'updatedAt' },
	{ name: 'Speakers', value: 'speakers', description: 'Names of the people who spoke' },
	{ name: 'Headings', value: 'headings', description: 'List of topics' },
	{ name: 'Excerpt', value: 'excerpt', description: 'Up to 300 characters of the transcript' },
	{ name: 'Markdown', value: 'markdown', description: 'The whole text' },
	{ name: 'Contents', value: 'contents', description: 'Who said what and when, structured' },
] as const;

type Field = (typeof LIFELOG_FIELDS)[number]['value'];

export interface Output<Name extends string = Field> {
	kind: (typeof OUTPUTS)[number];
	/** Beside `id`; only for `selectedFields`. */
	fields: Name[];
}

/** The parts of a lifelog to request (specification, section 4.2). */
export interface Parts {
	includeMarkdown: boolean;
	includeHeadings: boolean;
	includeContents: boolean;
}

/** The fields of a kind of entry, beside `id`, in the order of the output. */
type Fields<Name extends string = string> = ReadonlyArray<INodePropertyOptions & { value: Name }>;

/** What the parameters Output and Fields offer for a kind of entry. */
interface OutputChoices {
	noun: string;
	simplified: string;
	raw: string;
	/** `chosen` by default. */
	fields: Fields;
	chosen: string[];
}

/** The parameters Output and Fields; {@link readOutputOf} reads them. */
export function outputParametersOf({
	noun,
	simplified,
	raw,
	fields,
	chosen,
}: OutputChoices): [output: INodeProperties, fields: INodeProperties] {
	const options = [...fields].sort((a, b) => (a.name < b.name ? -1 : 1));
	return [
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			options: [
				{ name: 'Simplified', value: 'simplified', description: simplified },
				{ name: 'Raw', value: 'raw', description: raw },
				{
					name: 'Selected Fields',
					value: 'selectedFields',
					description: 'The ID and the fields that you choose',
				},
			],
			default: 'simplified',
			description: `Amount of data to return for each ${noun}`,
		},
		{
			displayName: 'Fields',
			name: 'fields',
			type: 'multiOptions',
			options,
			default: [...chosen],
			description: `Fields of a ${noun} to return in addition to its ID`,
			displayOptions: { show: { output: ['selectedFields'] } },
		},
	];
}

/** {@link readOutput} reads them. */
export const outputParameters = outputParametersOf({
	noun: 'lifelog',
	simplified: 'Title, times, headings and an excerpt of at most 300 characters',
	raw: 'Everything that the API returns, with the whole text',
	fields: LIFELOG_FIELDS,
	chosen: ['title', 'startTime', 'excerpt'],
});

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readOutput(context: ApiContext, output: unknown, fields: unknown): Output {
	return readOutputOf(context, output, fields, LIFELOG_FIELDS);
}

/** The parameters Output and Fields of an input item. */
export function outputOfItem(context: IExecuteFunctions, itemIndex: number): Output {
	const fields = context.getNodeParameter('fields', itemIndex, []) as unknown;
	return readOutput(context, context.getNodeParameter('output', itemIndex, 'simplified'), fields);
}

/** The same for other entries. @param known Their fields. */
export function readOutputOf<Name extends string>(
	context: ApiContext,
	output: unknown,
	fields: unknown,
	known: Fields<Name>,
): Output<Name> {
	const kind = readChoice(context, output, OUTPUTS, 'Output');
	if (kind !== 'selectedFields') return { kind, fields: [] };
	const names = known.map(({ value }) => value);
	const chosen = readChoices<string>(context, fields, ['id', ...names], 'Fields');
	return { kind, fields: names.filter((field) => chosen.includes(field)) };
}

/** The parts to request: no more than the output needs. @param asked By the options. */
export function partsFor({ kind, fields }: Output, asked: Parts): Parts {
	if (kind === 'raw') return asked;
	// If the service withholds the contents, headings and excerpt are those of the Markdown.
	if (kind === 'simplified') return { ...asked, includeMarkdown: true, includeHeadings: true };
	const hasAny = (...wanted: Field[]) => wanted.some((field) => fields.includes(field));
	return {
		includeMarkdown: hasAny('markdown', 'headings', 'excerpt'),
		includeHeadings: hasAny('headings') || asked.includeHeadings,
		includeContents: hasAny('contents', 'speakers'),
	};
}

/** How a lifelog was requested. */
export interface Asked extends Pick<Parts, 'includeContents'> {
	/** Of times without offset. */
	timezone: string;
	search?: string;
	/** The maximum length of the Markdown, in UTF-16 units; 0 or undefined for all. */
	maxCharacters?: number;
}

/**
 * A lifelog as an item's JSON.
 *
 * @returns Raw: the API's object, without contents that weren't requested; simplified:
 *   {@link simplifyLifelog}; or the ID and the fields chosen. With `isTruncated: true` if the
 *   Markdown was cut.
 */
export function outputOf(lifelog: Lifelog, output: Output, asked: Asked): IDataObject {
	if (output.kind === 'simplified') return simplifyLifelog(lifelog, asked.search);
	// The service sends contents, mostly empty, even if they weren't requested.
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

/** Fields of the API are unchanged; what it doesn't send is left out. */
function selectFields(lifelog: Lifelog, fields: Field[], { timezone, search }: Asked): IDataObject {
	const { speakers, headings, excerpt } = simplifyLifelog(lifelog, search);
	const durationMs = durationOf(lifelog, timezone) ?? null;
	const given: IDataObject = { ...lifelog, durationMs, speakers, headings, excerpt };
	const known = ['id', ...fields].filter((field) => given[field] !== undefined);
	return Object.fromEntries(known.map((field) => [field, given[field]]));
}
