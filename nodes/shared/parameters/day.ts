import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { daysAgo } from '../util/dateTimes';
import { inputError } from '../errors/errors';
import { readChoice, readDate } from './read';

const DAYS = ['yesterday', 'today', 'date'] as const;

/** The parameters that choose a day; {@link readDay} reads them. */
export const dayParameters: INodeProperties[] = [
	{
		displayName: 'Day',
		name: 'day',
		type: 'options',
		options: [
			{ name: 'Yesterday', value: 'yesterday', description: 'The last whole day' },
			{ name: 'Today', value: 'today', description: 'Today so far' },
			{ name: 'Date', value: 'date', description: 'A day of your choice' },
		],
		default: 'yesterday',
		description:
			'Which day: yesterday, today or date (the one in Date). A day begins and ends in the time zone of the options.',
	},
	{
		displayName: 'Date',
		name: 'date',
		type: 'dateTime',
		typeOptions: { dateOnly: true },
		default: '',
		displayOptions: { show: { day: ['date'] } },
		description: 'The day, if Day is date: YYYY-MM-DD, today or yesterday',
	},
];

/**
 * Reads {@link dayParameters}.
 *
 * @returns `YYYY-MM-DD`
 * @throws NodeOperationError on values that cannot be used.
 */
export function readDay(context: IExecuteFunctions, itemIndex: number, zone: string): string {
	const day = readChoice(context, context.getNodeParameter('day', itemIndex), DAYS, 'Day');
	if (day === 'yesterday') return daysAgo(1, zone);
	if (day === 'today') return daysAgo(0, zone);
	// Not a required parameter: if Day is an expression, n8n would require it for every day.
	const date = context.getNodeParameter('date', itemIndex, '') as unknown;
	if (date === undefined || date === null || (typeof date === 'string' && date.trim() === '')) {
		throw inputError(
			context,
			"'Date' is empty",
			"Give a day as YYYY-MM-DD, today or yesterday, or let 'Day' be yesterday or today.",
		);
	}
	return readDate(context, date, zone, 'Date');
}
