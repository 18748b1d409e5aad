import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Api } from '../../shared/api';
import type { Lifelog } from '../../shared/api-types';
import { readFromBothEnds } from '../../shared/both-ends';
import { daysAgo } from '../../shared/date-times';
import { filtersOf, maxWaitOption, optionsOf, timezoneOption } from '../../shared/descriptions';
import { inputError } from '../../shared/errors';
import { hint } from '../../shared/hints';
import { LARGEST_PAGE_WITH_CONTENTS } from '../../shared/pagination';
import {
	readBoolean,
	readChoice,
	readCollection,
	readDate,
	readZone,
} from '../../shared/parameters';
import { beginsOn } from '../daily-summary/day';
import { toMarkdown } from '../daily-summary/markdown';
import { toNotion } from '../daily-summary/notion';
import { toSlack } from '../daily-summary/slack';
import {
	type Entry,
	entryOf,
	summarize,
	type Summary,
	summaryFields,
} from '../daily-summary/summary';

const FORMATS = { markdown: toMarkdown, notion: toNotion, slack: toSlack };
const FORMAT_NAMES = Object.keys(FORMATS) as Array<keyof typeof FORMATS>;
const DAYS = ['yesterday', 'today', 'date'] as const;

export const description: INodeProperties[] = [
	{
		displayName:
			'To let the model choose, set Day or Format to an expression: <code>$fromAI("day", "yesterday or today")</code>, <code>$fromAI("format", "markdown, slack or notion")</code>. For any day at all, leave Day at Date and give Date <code>$fromAI("date", "YYYY-MM-DD")</code>.',
		name: 'fromAiNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { '@tool': [true] } },
	},
	{
		displayName: 'Day',
		name: 'day',
		type: 'options',
		options: [
			{ name: 'Yesterday', value: 'yesterday', description: 'The last whole day' },
			{ name: 'Today', value: 'today', description: 'What there is of today so far' },
			{ name: 'Date', value: 'date', description: 'A day of your choice' },
		],
		default: 'yesterday',
		description:
			'Which day to summarize: yesterday, today or date (the one that Date names). A day begins and ends in the time zone of the options.',
	},
	{
		displayName: 'Date',
		name: 'date',
		type: 'dateTime',
		typeOptions: { dateOnly: true },
		default: '',
		displayOptions: { show: { day: ['date'] } },
		description: 'The day to summarize where Day is date: YYYY-MM-DD, today or yesterday',
	},
	{
		displayName: 'Format',
		name: 'format',
		type: 'options',
		options: [
			{ name: 'Markdown', value: 'markdown', description: 'One text' },
			{
				name: 'Notion',
				value: 'notion',
				description: 'Title, properties and blocks of a page, in batches that Notion accepts',
			},
			{
				name: 'Slack',
				value: 'slack',
				description: 'Text and blocks of one or more messages that Slack accepts',
			},
		],
		default: 'markdown',
		description: 'What the summary is written for: markdown, notion or slack',
	},
	filtersOf([
		{
			displayName: 'Is Starred',
			name: 'isStarred',
			type: 'boolean',
			default: true,
			description:
				'Whether to summarize only starred lifelogs (on) or only the others (off). Both without this filter.',
		},
	]),
	optionsOf([maxWaitOption, timezoneOption]),
];

/**
 * Summarizes the lifelogs that begin on a day (specification, section 4.2, `date`), without adding anything to what the service knows.
 *
 * @returns One item, also for a day without lifelogs: the day, the fields of the format chosen, and
 *   those of every format.
 */
export async function execute(
	this: IExecuteFunctions,
	api: Api,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const options = readCollection(this, 'options', itemIndex);
	const timezone = readZone(this, options.timezone);
	const date = readDay(this, itemIndex, timezone);
	const filters = readCollection(this, 'filters', itemIndex);
	const isStarred = readBoolean(this, filters.isStarred, 'Is Starred');
	const format = readChoice(
		this,
		this.getNodeParameter('format', itemIndex),
		FORMAT_NAMES,
		'Format',
	);
	const entries = await readEntries(api, { date, timezone, isStarred });
	hintIfWithheld(api, entries);
	const summary = summarize(entries, { date, timezone, isStarred });
	return [
		{
			json: {
				date,
				timezone,
				...FORMATS[format](summary),
				...summaryFields(summary),
			},
		},
	];
}

/** @returns `YYYY-MM-DD` */
function readDay(context: IExecuteFunctions, itemIndex: number, zone: string): string {
	const day = readChoice(context, context.getNodeParameter('day', itemIndex), DAYS, 'Day');
	if (day === 'yesterday') return daysAgo(1, zone);
	if (day === 'today') return daysAgo(0, zone);
	// Not a required parameter: where Day is an expression n8n would require it for every day.
	const date = context.getNodeParameter('date', itemIndex, '') as unknown;
	if (date === '' || date === undefined || date === null) {
		throw inputError(context, "'Date' is empty", "Set it, or let 'Day' be yesterday or today.");
	}
	return readDate(context, date, zone, 'Date');
}

/** What the service has of the day, in pages of the size that contents are given for. */
async function readEntries(
	api: Api,
	{ date, timezone, isStarred }: Pick<Summary, 'date' | 'timezone' | 'isStarred'>,
): Promise<Entry[]> {
	const query = {
		timezone,
		date,
		direction: 'asc',
		includeMarkdown: true,
		includeHeadings: true,
		includeContents: true,
		isStarred,
	};
	const listing = { name: 'lifelogs' as const, query, pageSize: LARGEST_PAGE_WITH_CONTENTS };
	const lifelogs = await readFromBothEnds<Lifelog>(api, listing);
	const entries = lifelogs
		.filter(({ startTime }) => beginsOn(startTime, date, timezone))
		.map((lifelog) => entryOf(lifelog, timezone));
	return entries.filter((entry) => isStarred === undefined || entry.isStarred === isStarred);
}

function hintIfWithheld(api: Api, entries: Entry[]): void {
	const withheld = entries.filter(({ isWithheld }) => isWithheld).length;
	if (withheld === 0) return;
	const which = withheld === entries.length ? '' : ` of ${withheld} of ${entries.length} lifelogs`;
	hint(
		api,
		`The service sent no contents${which}, although they were asked for. The headings are taken from the Markdown there, and who took part is not known.`,
		'warning',
	);
}
