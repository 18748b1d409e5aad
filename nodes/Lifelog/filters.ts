import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { Lifelog } from '../shared/api-types';
import { toRange } from '../shared/date-times';
import { filtersOf } from '../shared/descriptions';
import { inputError } from '../shared/errors';
import { readBoolean, readCollection, readDate, readInstant, readZone } from '../shared/parameters';

/** The parameter that says of which lifelogs; {@link readFilters} reads it. */
export const filtersParameter: INodeProperties = filtersOf([
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
]);

/** What the filters of an input item ask for. */
export interface Filters {
	/** The part of a list's query that says of which entries, and in which zone its times are. */
	query: IDataObject & { timezone: string };
	/** Whether an entry begins inside the range of time that was given; see {@link toRange}. */
	isWanted: (lifelog: Lifelog) => boolean;
}

/**
 * Reads Filters, and the option Time Zone, in which their dates are.
 *
 * @throws NodeOperationError on values that cannot be used, or that contradict each other.
 */
export function readFilters(context: IExecuteFunctions, itemIndex: number): Filters {
	const { date, start, end, isStarred } = readCollection(context, 'filters', itemIndex);
	const timezone = readZone(context, readCollection(context, 'options', itemIndex).timezone);

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
	return {
		query: {
			timezone,
			isStarred: readBoolean(context, isStarred, 'Is Starred'),
			...range.query,
			date: date === undefined ? date : readDate(context, date, timezone, 'Date'),
		},
		isWanted: ({ startTime }) => range.includes(startTime),
	};
}
