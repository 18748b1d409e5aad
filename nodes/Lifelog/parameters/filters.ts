import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import { daysAgo, toInstant, toRange } from '../../../lifelog/times.ts';
import type { Api } from '../../shared/auth/connection';
import { hint } from '../../shared/errors/hints';
import { inputError, listResource } from '../../shared/errors/nodeErrors';
import { fromAi, ifChosen, withDefaultOfTool } from '../../shared/parameters/conditions';
import {
	filtersOf,
	isScheduledFilter,
	isStarredFilter,
	promptIdFilter,
	readPromptId,
} from '../../shared/parameters/lists';
import { choices, readBoolean, readChoice, readCollection } from '../../shared/parameters/read';
import {
	dateParameters,
	readDate,
	readInstantIfSet,
	readZone,
	TIME_HINT,
} from '../../shared/parameters/times';

/** How many days before today a period begins. */
const DAYS_BEFORE = { last7Days: 6, last30Days: 29 };

/** In the order of time, not of names. */
const periodOptions = [
	{ name: 'Any Time', value: 'any', description: 'Lifelogs of any day' },
	{ name: 'Today', value: 'today', description: 'Today so far' },
	{ name: 'Yesterday', value: 'yesterday', description: 'The last complete day' },
	{ name: 'Last 7 Days', value: 'last7Days', description: 'Today and the six days before' },
	{ name: 'Last 30 Days', value: 'last30Days', description: 'Today and the 29 days before' },
	{ name: 'Date', value: 'date', description: 'A day of your choice' },
	{ name: 'Range', value: 'range', description: 'From a start to an end' },
] as const;

const periodParameter = choices({
	displayName: 'Period',
	name: 'period',
	type: 'options',
	options: [...periodOptions],
	default: 'any',
	description: 'Time in which the lifelogs begin',
});

const zoneNotice: INodeProperties = {
	displayName:
		"Days are in the workflow's time zone, unless you add the option Time Zone Name or ID. The output of a run names the zone.",
	name: 'zoneNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { period: ['any'] } },
};

const startParameter: INodeProperties = {
	displayName: 'Start',
	name: 'start',
	type: 'dateTime',
	default: '',
	description: 'Earliest time at which the lifelogs begin. Leave it empty for no start.',
	hint: TIME_HINT,
};

const endParameter: INodeProperties = {
	displayName: 'End',
	name: 'end',
	type: 'dateTime',
	default: '',
	description:
		'Latest time at which the lifelogs begin. A date without a time includes that day. Leave it empty for no end.',
	hint: TIME_HINT,
};

/** The parameters that choose a period; {@link readFilters} reads them. */
export const periodParameters: INodeProperties[] = [
	...withDefaultOfTool(periodParameter, 'range'),
	zoneNotice,
	...dateParameters('period', 'Day on which the lifelogs begin'),
	...ifChosen('period', 'range', [
		...withDefaultOfTool(
			startParameter,
			fromAi('Start', 'The first day or time: YYYY-MM-DD, today or yesterday; empty for no start'),
		),
		...withDefaultOfTool(
			endParameter,
			fromAi('End', 'The last day or time: YYYY-MM-DD, today or yesterday; empty for no end'),
		),
	]),
];

/** The parameter that chooses among the lifelogs of a period; {@link readFilters} reads it. */
export const filtersParameter: INodeProperties = filtersOf([
	{
		...promptIdFilter,
		description:
			'Include only lifelogs of the scheduled prompt with this ID. A service may ignore this for lifelogs.',
	},
	{
		...isScheduledFilter,
		description:
			'Whether to return only lifelogs of scheduled prompts (on) or only the others (off). A service may ignore this for lifelogs.',
	},
	{
		...isStarredFilter,
		description:
			'Whether to return only starred lifelogs (on) or only the others (off). Leave this filter out for both.',
	},
]);

export interface Filters {
	/** The list's query: which entries, and the zone of its times. */
	query: IDataObject & { timezone: string };
	/** Whether an entry begins in the range of time; see {@link toRange}. */
	isWanted: (lifelog: Lifelog) => boolean;
}

/** Reads Period, Filters and Time Zone. @throws NodeOperationError on values that can't be used. */
export function readFilters(context: IExecuteFunctions, itemIndex: number): Filters {
	const filters = readCollection(context, 'filters', itemIndex);
	const isStarred = readBoolean(context, isStarredFilter, filters);
	const isScheduled = readBoolean(context, isScheduledFilter, filters);
	const globalPromptId = readPromptId(context, filters);
	const timezone = readZone(context, readCollection(context, 'options', itemIndex));
	const { date, from, to } = readPeriod(context, itemIndex, timezone);
	const range = toRange(from, to, timezone);
	return {
		query: { timezone, isStarred, isScheduled, globalPromptId, ...range.query, date },
		isWanted: ({ startTime }) => range.includes(startTime),
	};
}

/** Names the days that were asked for, and their zone: the panel can't name that of the workflow. */
export function hintPeriod(api: Api, { date, start, end, timezone }: Filters['query']): void {
	if ((date ?? start ?? end) === undefined) return;
	hint(api, listResource('Lifelogs', { date, start, end, timezone }).noun);
}

/** A day, or a range of which each end may be open. */
interface Period {
	/** `YYYY-MM-DD`. */
	date?: string;
	/** Epoch ms. */
	from?: number;
	/** Epoch ms. */
	to?: number;
}

function readPeriod(context: IExecuteFunctions, itemIndex: number, zone: string): Period {
	const period = readChoice(context, periodParameter, itemIndex);
	switch (period) {
		case 'any':
			return {};
		case 'last7Days':
		case 'last30Days':
			return { from: toInstant(daysAgo(DAYS_BEFORE[period], zone), zone, 'start') };
		case 'range':
			return readRange(context, itemIndex, zone);
		default:
			return { date: readDate(context, period, itemIndex, zone, periodParameter) };
	}
}

function readRange(context: IExecuteFunctions, itemIndex: number, zone: string): Period {
	const from = readInstantIfSet(context, startParameter, itemIndex, zone, 'start');
	const to = readInstantIfSet(context, endParameter, itemIndex, zone, 'end');
	if (from !== undefined && to !== undefined && from > to) {
		throw inputError(context, "'Start' is later than 'End'", 'Swap them.');
	}
	return { from, to };
}
