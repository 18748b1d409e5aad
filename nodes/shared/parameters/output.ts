import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { beginning } from '../../../lifelog/text.ts';
import { durationOf } from '../../../lifelog/times.ts';
import type { ApiContext } from '../auth/connection';
import { simplifyLifelog } from '../content/simplify';
import type { Parts } from './parts';
import { choices, type Choices, labelOf, manyOf, type Place, readChoice, valueOf } from './read';

type Kind = 'simplified' | 'raw' | 'selectedFields';

/** What the parameters Output and Fields say of a kind of entry. */
interface OutputChoices<Name extends string> {
	noun: string;
	simplified: string;
	raw: string;
	/** The fields beside `id`, in the order of the output; `chosen` by default. */
	fields: Choices<Name>['options'];
	chosen: Name[];
}

/** The parameters Output and Fields of a kind of entry; {@link readOutputOf} reads them. */
export interface OutputParameters<Name extends string> {
	output: Choices<Kind>;
	fields: INodeProperties;
	/** The fields that can be chosen beside `id`, in the order of the output. */
	names: Name[];
}

export interface Output<Name extends string = LifelogField> {
	kind: Kind;
	/** Beside `id`; only for `selectedFields`. */
	fields: Name[];
}

export function outputParametersOf<Name extends string>({
	noun,
	simplified,
	raw,
	fields,
	chosen,
}: OutputChoices<Name>): OutputParameters<Name> {
	const names = fields.map(({ value }) => value);
	const options = [...fields].sort((a, b) => (a.name < b.name ? -1 : 1));
	return {
		output: choices({
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
		}),
		fields: {
			displayName: 'Fields',
			name: 'fields',
			type: 'multiOptions',
			options,
			default: [...chosen],
			description: `Fields of a ${noun} to return in addition to its ID`,
			displayOptions: { show: { output: ['selectedFields'] } },
		},
		names,
	};
}

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readOutputOf<Name extends string>(
	context: ApiContext,
	{ output, fields, names }: OutputParameters<Name>,
	place: Place,
): Output<Name> {
	const kind = readChoice(context, output, place);
	if (kind !== 'selectedFields') return { kind, fields: [] };
	const value = valueOf(context, fields, place);
	const chosen = manyOf<string>(context, value, ['id', ...names], labelOf(fields));
	return { kind, fields: names.filter((name) => chosen.includes(name)) };
}

const lifelogOutput = outputParametersOf({
	noun: 'lifelog',
	simplified: 'Title, times, headings and an excerpt of at most 300 characters',
	raw: 'Everything that the API returns, with the whole text',
	fields: [
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
	],
	chosen: ['title', 'startTime', 'excerpt'],
});

type LifelogField = (typeof lifelogOutput)['names'][number];

/** {@link readOutput} reads them. */
export const outputParameters = [lifelogOutput.output, lifelogOutput.fields];

/** @throws NodeOperationError on values that Output and Fields can't have. */
export function readOutput(context: ApiContext, place: Place): Output {
	return readOutputOf(context, lifelogOutput, place);
}

/** The parts to request: no more than the output needs. @param asked By the options. */
export function partsFor({ kind, fields }: Output, asked: Parts): Parts {
	if (kind === 'raw') return asked;
	// If the service withholds the contents, headings and excerpt are those of the Markdown.
	if (kind === 'simplified') return { ...asked, includeMarkdown: true, includeHeadings: true };
	const hasAny = (...wanted: LifelogField[]) => wanted.some((field) => fields.includes(field));
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
function selectFields(
	lifelog: Lifelog,
	fields: LifelogField[],
	{ timezone, search }: Asked,
): IDataObject {
	const { speakers, headings, excerpt } = simplifyLifelog(lifelog, search);
	const durationMs = durationOf(lifelog, timezone) ?? null;
	const given: IDataObject = { ...lifelog, durationMs, speakers, headings, excerpt };
	const known = ['id', ...fields].filter((field) => given[field] !== undefined);
	return Object.fromEntries(known.map((field) => [field, given[field]]));
}
