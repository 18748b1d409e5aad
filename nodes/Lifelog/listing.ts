import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';

import type { Api } from '../shared/api';
import type { Lifelog } from '../shared/api-types';
import { type Range, toRange } from '../shared/date-times';
import {
	directionOption,
	filtersOf,
	includeOptions,
	maxCharactersOption,
	maxWaitOption,
	optionsOf,
	timezoneOption,
} from '../shared/descriptions';
import { inputError } from '../shared/errors';
import { hint } from '../shared/hints';
import { promptIdOf } from '../shared/ids';
import {
	HIDDEN_IF_SELECTED,
	HIDDEN_IF_SIMPLIFIED,
	HIDDEN_UNLESS_RAW,
	type Output,
	outputOf,
	partsFor,
	readOutput,
} from '../shared/output';
import {
	includeQuery,
	readBoolean,
	readCollection,
	readDate,
	readDirection,
	readInstant,
	readMaxCharacters,
	readZone,
} from '../shared/parameters';

/** Pages above this size come without contents (specification, section 4.2). */
export const LARGEST_PAGE_WITH_CONTENTS = 25;

/** The parameters that Get Many and Search have in common. */
export const listingParameters: INodeProperties[] = [
	filtersOf([
		{
			displayName: 'Date',
			name: 'date',
			type: 'dateTime',
			typeOptions: { dateOnly: true },
			default: '',
			description:
				'Only lifelogs that begin on this day: YYYY-MM-DD, today or yesterday. Cannot be combined with Start or End.',
		},
		{
			displayName: 'Start',
			name: 'start',
			type: 'dateTime',
			default: '',
			description:
				'Only lifelogs that begin from this time on: a date, or date and time such as 2026-03-29T10:00:00, today or yesterday',
		},
		{
			displayName: 'End',
			name: 'end',
			type: 'dateTime',
			default: '',
			description:
				'Only lifelogs that begin up to this time: a date, which is its whole day, or date and time such as 2026-03-29T10:00:00, today or yesterday',
		},
		{
			displayName: 'Is Starred',
			name: 'isStarred',
			type: 'boolean',
			default: true,
			description:
				'Whether to return only starred lifelogs (on) or only the others (off). Both without this filter.',
		},
	]),
	optionsOf([
		directionOption,
		{
			displayName: 'Global Prompt ID',
			name: 'globalPromptId',
			type: 'string',
			default: '',
			placeholder: 'e.g. 8f2kQ0pXw1Zr5TnB',
			description:
				'Only what the scheduled prompt with this ID made. The service defines this for chats and may ignore it for lifelogs.',
		},
		{
			...includeOptions.includeContents,
			default: false,
			displayOptions: HIDDEN_IF_SELECTED,
			description: `${includeOptions.includeContents.description}. The service sends them for at most 25 lifelogs at a time, so a list takes more requests.`,
		},
		{ ...includeOptions.includeHeadings, displayOptions: HIDDEN_IF_SIMPLIFIED },
		{ ...includeOptions.includeMarkdown, displayOptions: HIDDEN_UNLESS_RAW },
		{
			displayName: 'Is Scheduled',
			name: 'isScheduled',
			type: 'boolean',
			default: true,
			description:
				'Whether to return only what scheduled prompts made (on) or only the rest (off). The service defines this for chats and may ignore it for lifelogs.',
		},
		{ ...maxCharactersOption, displayOptions: HIDDEN_IF_SIMPLIFIED },
		maxWaitOption,
		timezoneOption,
	]),
];

/** What the listing parameters of an input item ask for. */
export interface ListingRequest {
	query: IDataObject & { timezone: string; includeContents: boolean };
	/** The part of the query that the read of one lifelog takes (specification, section 4.3). */
	one: IDataObject;
	/** Whether an entry begins inside the range of time that was given; see {@link toRange}. */
	includes: Range['includes'];
	/** How much of the Markdown of each is wanted; 0 for all. */
	maxCharacters: number;
}

const RAW: Output = { kind: 'raw', fields: [] };

/** The parameters Output and Fields of an input item. */
export function outputOfItem(context: IExecuteFunctions, itemIndex: number): Output {
	const fields = context.getNodeParameter('fields', itemIndex, []) as unknown;
	return readOutput(context, context.getNodeParameter('output', itemIndex, 'raw'), fields);
}

/** Lifelogs as items, each in the form that is wanted. */
export function toItems(
	lifelogs: Lifelog[],
	output: Output,
	{ query: { timezone, includeContents }, maxCharacters }: ListingRequest,
	search?: string,
): INodeExecutionData[] {
	const asked = { timezone, includeContents, maxCharacters, search };
	return lifelogs.map((lifelog) => ({ json: outputOf(lifelog, output, asked) }));
}

/**
 * Reads Filters and Options.
 *
 * @throws NodeOperationError on values that cannot be used, or that contradict each other.
 */
export function readListing(
	context: IExecuteFunctions,
	itemIndex: number,
	output: Output = RAW,
): ListingRequest {
	const filters = readCollection(context, 'filters', itemIndex);
	const options = readCollection(context, 'options', itemIndex);
	const timezone = readZone(context, options.timezone);
	const { date, start, end } = filters;

	if (date !== undefined && (start !== undefined || end !== undefined)) {
		throw inputError(
			context,
			"'Date' cannot be combined with 'Start' or 'End'",
			'The service would ignore the date. Remove one of the filters.',
		);
	}
	const from =
		start === undefined ? start : readInstant(context, start, timezone, 'start', 'Start');
	const to = end === undefined ? end : readInstant(context, end, timezone, 'end', 'End');
	if (from !== undefined && to !== undefined && from > to) {
		throw inputError(context, "'Start' is later than 'End'", 'Exchange the two filters.');
	}
	const range = toRange(from, to, timezone);
	const one = { timezone, ...partsFor(output, includeQuery(context, options, false)) };
	return {
		query: {
			...one,
			direction: readDirection(context, options),
			isStarred: readBoolean(context, filters.isStarred, 'Is Starred'),
			isScheduled: readBoolean(context, options.isScheduled, 'Is Scheduled'),
			globalPromptId: promptIdOf(context, options.globalPromptId),
			...range.query,
			date: date === undefined ? date : readDate(context, date, timezone, 'Date'),
		},
		one,
		includes: range.includes,
		maxCharacters: readMaxCharacters(context, options),
	};
}

/** Says so when contents were wanted and none came. */
export function hintIfContentsWithheld(api: Api, lifelogs: Lifelog[]): void {
	const isWithheld = lifelogs.length > 0 && lifelogs.every(({ contents }) => !contents?.length);
	if (!isWithheld) return;
	hint(
		api,
		'The service sent no contents, although they were asked for. The Markdown may hold the text.',
		'warning',
	);
}
