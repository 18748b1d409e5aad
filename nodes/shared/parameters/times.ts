// Parameters for time zones, days and times.
import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { DateTime, IANAZone } from 'luxon';

import { isBlank, trimmedText } from '../../../lifelog/text.ts';
import { daysAgo, type Edge, toDate, toInstant } from '../../../lifelog/times.ts';
import type { ApiContext } from '../auth/connection';
import { inputError } from '../errors/nodeErrors';
import { described } from '../errors/sanitize';
import { fromAi, ifChosen, withDefaultOfTool } from './conditions';
import { choices, labelOf, type Place, readChoice, singleValueOf, valueOf } from './read';

/** n8n's picker empties the field on any other form, or keeps the older date. */
const DAY_HINT = 'Pick a day, or type it as 2026-11-25';
export const TIME_HINT = 'Pick a time, or type it as 2026-11-25 09:30:00';

const OFFSET = /^(utc|gmt)?\s*[+-]\s*\d/i;
const ORDERS = ['d.M.yyyy', 'd/M/yyyy', 'M/d/yyyy', 'd-M-yyyy', 'M-d-yyyy', 'yyyy/M/d', 'yyyy.M.d'];

/** The node needs `methods.loadOptions.getTimezones`. */
export const timezoneOption: INodeProperties = {
	displayName: 'Time Zone Name or ID',
	name: 'timezone',
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
	default: '',
	description:
		'Time zone of all dates and times, as an IANA name such as Europe/Berlin. Defaults to the time zone of the workflow. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

/**
 * @param options The options of an operation.
 * @returns The IANA name of the {@link timezoneOption}, else of the workflow's zone.
 * @throws NodeOperationError if there is no such zone.
 */
export function readZone(context: ApiContext, options: IDataObject = {}): string {
	const option = singleValueOf(context, timezoneOption, options);
	const zone = trimmedText(option) || context.getTimezone();
	// Newer versions of Node.js accept offsets as zones; the service accepts only names.
	if (OFFSET.test(zone) || !IANAZone.create(zone).isValid) {
		throw inputError(
			context,
			`There is no time zone "${zone}"`,
			`Use an IANA name such as Europe/Berlin or America/New_York, or leave the option 'Time Zone Name or ID' empty to use the workflow's time zone.${OFFSET.test(zone) ? " An offset isn't a time zone. For a fixed offset, use a name such as Etc/GMT-2, which is two hours ahead of UTC." : ''}`,
		);
	}
	return asNamed(zone);
}

/** The name of a zone in IANA's upper and lower case, because a service may insist on it. */
function asNamed(zone: string): string {
	const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
	const isOtherName = timeZone.toLowerCase() !== zone.toLowerCase();
	const isWellWritten = /^[A-Z]/.test(zone) && (/[a-z]/.test(zone) || !zone.includes('/'));
	return isOtherName && isWellWritten ? zone : timeZone;
}

/** @returns Epoch ms; see `toInstant`. @throws NodeOperationError if it is empty or no date-time. */
export function readInstant(
	context: ApiContext,
	parameter: INodeProperties,
	place: Place,
	zone: string,
	edge: Edge,
): number {
	const instant = readInstantIfSet(context, parameter, place, zone, edge);
	if (instant !== undefined) return instant;
	const label = labelOf(parameter);
	throw inputError(
		context,
		`'${label}' is empty`,
		'Enter a time such as 2026-11-25 09:30:00. An expression can also return today or yesterday.',
	);
}

/** The same; undefined if it is empty. */
export function readInstantIfSet(
	context: ApiContext,
	parameter: INodeProperties,
	place: Place,
	zone: string,
	edge: Edge,
): number | undefined {
	const value = valueOf(context, parameter, place);
	if (isBlank(value)) return undefined;
	const instant = toInstant(namedDay(value, zone) ?? value, zone, edge);
	if (instant !== undefined) return instant;
	throw notATimeError(context, value, labelOf(parameter), [
		'In the field, pick it, or type 2026-11-25 09:30:00.',
		FORMS,
		'If it is optional, you can leave it empty.',
	]);
}

const dayParameter = choices({
	displayName: 'Day',
	name: 'day',
	type: 'options',
	options: [
		{ name: 'Yesterday', value: 'yesterday', description: 'The last complete day' },
		{ name: 'Today', value: 'today', description: 'Today so far' },
		{ name: 'Date', value: 'date', description: 'A day of your choice' },
	],
	default: 'yesterday',
	description: 'Day to use',
	hint: "In the workflow's time zone, unless you add the option Time Zone Name or ID",
});

const dateParameter: INodeProperties = {
	displayName: 'Date',
	name: 'date',
	type: 'dateTime',
	typeOptions: { dateOnly: true },
	default: '',
	description: 'The day',
	hint: DAY_HINT,
};

/** {@link readDay} reads them. */
export const dayParameters: INodeProperties[] = [
	...withDefaultOfTool(dayParameter, 'date'),
	...dateParameters('day', 'The day'),
];

/** The parameter Date, for the choice `date` of another parameter; {@link readDate} reads it. */
export function dateParameters(chosenBy: string, description: string): INodeProperties[] {
	const date = { ...dateParameter, description };
	const ofTool = fromAi('Date', 'The day: YYYY-MM-DD, today or yesterday');
	return ifChosen(chosenBy, 'date', withDefaultOfTool(date, ofTool));
}

/** @returns The day that {@link dayParameters} choose, `YYYY-MM-DD`. */
export function readDay(context: IExecuteFunctions, itemIndex: number, zone: string): string {
	const day = readChoice(context, dayParameter, itemIndex);
	return readDate(context, day, itemIndex, zone, dayParameter);
}

/**
 * @param day `date` for the day in the parameter Date.
 * @param chosenBy The parameter that chose it.
 * @returns `YYYY-MM-DD`.
 */
export function readDate(
	context: IExecuteFunctions,
	day: 'yesterday' | 'today' | 'date',
	itemIndex: number,
	zone: string,
	chosenBy: Pick<INodeProperties, 'displayName'>,
): string {
	if (day === 'today') return daysAgo(0, zone);
	if (day === 'yesterday') return daysAgo(1, zone);
	const value = valueOf(context, dateParameter, itemIndex);
	if (isBlank(value)) {
		throw inputError(
			context,
			"'Date' is empty",
			`Enter a day such as 2026-11-25. An expression can also return today or yesterday. Or choose another '${chosenBy.displayName}'.`,
		);
	}
	const date = namedDay(value, zone) ?? toDate(value, zone);
	if (date !== undefined) return date;
	const inField = 'In the field, pick it, or type 2026-11-25.';
	throw notATimeError(context, value, labelOf(dateParameter), [inField, FORMS]);
}

function namedDay(value: unknown, zone: string): string | undefined {
	const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (word === 'today') return daysAgo(0, zone);
	return word === 'yesterday' ? daysAgo(1, zone) : undefined;
}

const FORMS =
	'An expression can return today, yesterday, a date in ISO 8601 such as 2026-11-25, 2026-11-25T09:30:00 or 2026-11-25T09:30:00+01:00, or milliseconds since 1970 (13 digits, not seconds).';

function notATimeError(context: ApiContext, value: unknown, label: string, advice: string[]) {
	const written = asIsoDate(value);
	const correction = written === undefined ? [] : [`Write it as ${written}.`];
	return inputError(
		context,
		`'${label}' is not a date and time: ${described(value)}`,
		[...correction, ...advice].join(' '),
	);
}

/** `2026-11-25 09:30` for `25.11.2026 09:30`; undefined if a date can't be read, or in two ways. */
function asIsoDate(value: unknown): string | undefined {
	if (typeof value !== 'string') return undefined;
	const [date, ...time] = value.trim().split(/[\sT]+/);
	const read = ORDERS.map((order) => DateTime.fromFormat(date, order, { zone: 'utc' }).toISODate());
	const days = new Set(read.filter((day) => day !== null));
	const written = [...days, ...time].join(' ');
	return days.size === 1 && toDate(written, 'UTC') !== undefined ? written : undefined;
}
