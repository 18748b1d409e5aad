import type {
	IDataObject,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Lifelog } from '../../../lifelog/api.ts';
import type { Api } from '../../shared/auth/connection';
import { daysAgo, toInstant, toRange } from '../../../lifelog/times.ts';
import {
	dateParameters,
	filtersOf,
	fromAi,
	isScheduledFilter,
	isStarredFilter,
	promptIdFilter,
	TIME_HINT,
	withDefaultOfTool,
} from '../../shared/parameters/descriptions';
import { inputError, listResource } from '../../shared/errors/nodeErrors';
import { hint } from '../../shared/errors/hints';
import { promptIdOf } from '../../shared/parameters/resourceLocator';
import {
	dateOf,
	readBoolean,
	readChoice,
	readCollection,
	readInstant,
	readZone,
	withoutBlanks,
} from '../../shared/parameters/read';

const PERIODS = ['any', 'today', 'yesterday', 'last7Days', 'last30Days', 'date', 'range'] as const;
/** How many days before today a period begins. */
const DAYS_BEFORE = { last7Days: 6, last30Days: 29 };

const periodOptions: INodePropertyOptions[] = [
	{ name: 'Any Time', value: 'any', description: 'Lifelogs of any day' },
	{ name: 'Today', value: 'today', description: 'Today so far' },
	{ name: 'Yesterday', value: 'yesterday', description: 'The last complete day' },
	{ name: 'Last 7 Days', value: 'last7Days', description: 'Today and the six days before' },
	{ name: 'Last 30 Days', value: 'last30Days', description: 'Today and the 29 days before' },
	{ name: 'Date', value: 'date', description: 'A day of your choice' },
	{ name: 'Range', value: 'range', description: 'From a start to an end' },
];

const periodParameter: INodeProperties = {
	displayName: 'Period',
	name: 'period',
	type: 'options',
	options: periodOptions,
	default: 'any',
	description: 'Time in which the lifelogs begin',
};

const zoneNotice: INodeProperties = {
	displayName:
		"Days are in the workflow's time zone, unless you add the option Time Zone Name or ID. The output of a run names the zone.",
	name: 'zoneNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { period: PERIODS.filter((period) => period !== 'any') } },
};

const startParameter: INodeProperties = {
	displayName: 'Start',
	name: 'start',
	type: 'dateTime',
	default: '',
	displayOptions: { show: { period: ['range'] } },
	description: 'Earliest time at which the lifelogs begin. Leave it empty for no start.',
	hint: TIME_HINT,
};

const endParameter: INodeProperties = {
	displayName: 'End',
	name: 'end',
	type: 'dateTime',
	default: '',
	displayOptions: { show: { period: ['range'] } },
	description:
		'Latest time at which the lifelogs begin. A date without a time includes that day. Leave it empty for no end.',
	hint: TIME_HINT,
};

/** The parameters that choose a period; {@link readFilters} reads them. */
export const periodParameters: INodeProperties[] = [
	...withDefaultOfTool(periodParameter, 'range'),
	zoneNotice,
	...dateParameters('period', PERIODS, 'Day on which the lifelogs begin'),
	...withDefaultOfTool(
		startParameter,
		fromAi('Start', 'The first day or time: YYYY-MM-DD, today or yesterday; empty for no start'),
	),
	...withDefaultOfTool(
		endParameter,
		fromAi('End', 'The last day or time: YYYY-MM-DD, today or yesterday; empty for no end'),
	),
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
	const isStarred = readBoolean(context, filters.isStarred, 'Is Starred');
	const isScheduled = readBoolean(context, filters.isScheduled, 'Is Scheduled');
	const globalPromptId = promptIdOf(context, filters.globalPromptId);
	const timezone = readZone(context, readCollection(context, 'options', itemIndex).timezone);
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
	const parameter = (name: string, otherwise: string) =>
		context.getNodeParameter(name, itemIndex, otherwise) as unknown;
	const period = readChoice(context, parameter('period', 'any'), PERIODS, 'Period');
	switch (period) {
		case 'any':
			return {};
		case 'last7Days':
		case 'last30Days':
			return { from: toInstant(daysAgo(DAYS_BEFORE[period], zone), zone, 'start') };
		case 'range': {
			const range = { start: parameter('start', ''), end: parameter('end', '') };
			return periodBetween(context, withoutBlanks(context, range), zone);
		}
		default:
			return { date: dateOf(context, period, itemIndex, zone, 'Period') };
	}
}

function periodBetween(
	context: IExecuteFunctions,
	{ start, end }: IDataObject,
	zone: string,
): Period {
	const from = start === undefined ? start : readInstant(context, start, zone, 'start', 'Start');
	const to = end === undefined ? end : readInstant(context, end, zone, 'end', 'End');
	if (from !== undefined && to !== undefined && from > to) {
		throw inputError(context, "'Start' is later than 'End'", 'Swap them.');
	}
	return { from, to };
}
