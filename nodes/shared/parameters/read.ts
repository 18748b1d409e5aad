import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { DateTime, IANAZone } from 'luxon';

import type { ApiContext } from '../auth/connection';
import { daysAgo, type Edge, toDate, toInstant } from '../../../lifelog/times.ts';
import {
	binaryPropertyParameter,
	DEFAULT_MAX_WAIT_S,
	limitParameters,
	MAX_LIMIT_OF_TOOL,
} from './descriptions';
import { inputError } from '../errors/nodeErrors';
import { described } from '../errors/sanitize';
import { isBlank, trimmedText } from '../../../lifelog/text.ts';

// `label` is always the parameter's display name, for the error.

/**
 * The parts of a lifelog to request, all sent explicitly because the service's defaults aren't
 * certain (specification, section 4.2).
 *
 * @param contents Whether contents are wanted if the option isn't set.
 */
export function readParts(context: ApiContext, options: IDataObject, contents: boolean) {
	const { includeMarkdown, includeHeadings, includeContents } = options;
	return {
		includeMarkdown: readBoolean(context, includeMarkdown, 'Include Markdown') ?? true,
		includeHeadings: readBoolean(context, includeHeadings, 'Include Headings') ?? true,
		includeContents: readBoolean(context, includeContents, 'Include Contents') ?? contents,
	};
}

/** @returns The option Max Rate Limit Wait, in ms. */
export function readMaxWaitMs(context: IExecuteFunctions, itemIndex: number): number {
	const { maxWait = DEFAULT_MAX_WAIT_S } = readCollection(context, 'options', itemIndex);
	return 1000 * readNumber(context, maxWait, 'Max Rate Limit Wait', { unit: 'seconds' });
}

/** Whether the node is a tool of an agent, so that a model reads its output. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

/**
 * @returns The parameter Limit, or Infinity with Return All. A tool always has a limit of up to
 *   {@link MAX_LIMIT_OF_TOOL}, because a model pays for what it reads.
 */
export function readLimit(context: IExecuteFunctions, itemIndex: number): number {
	const forModel = isTool(context);
	const returnAll = context.getNodeParameter('returnAll', itemIndex, false) as unknown;
	if (!forModel && readBoolean(context, returnAll, 'Return All')) return Infinity;
	const advice =
		"Enter a number such as 20. For all results, turn on 'Return All', if the operation has it.";
	const given = context.getNodeParameter('limit', itemIndex) as unknown;
	const set = isBlank(given) ? limitParameters[1].default : given;
	const limit = readNumber(context, set, 'Limit', { isWhole: true, min: 1 }, advice);
	return forModel ? Math.min(limit, MAX_LIMIT_OF_TOOL) : limit;
}

/**
 * @param value True or false, or the text of either, as expressions often return it.
 * @returns undefined for a blank, which counts as not set.
 * @throws NodeOperationError on anything else: a filter would not filter.
 */
export function readBoolean(
	context: ApiContext,
	value: unknown,
	label: string,
): boolean | undefined {
	if (typeof value === 'boolean') return value;
	requireSingle(context, value, label);
	const text = trimmedText(value).toLowerCase();
	if (text === '') return undefined;
	if (text !== 'true' && text !== 'false') {
		throw inputError(
			context,
			`'${label}' must be true or false, not ${described(value)}`,
			'Enter true or false. Empty text counts as not set.',
		);
	}
	return text === 'true';
}

/**
 * @param value One of the choices, in upper or lower case.
 * @throws NodeOperationError on anything else, with the list of choices.
 */
export function readChoice<T extends string>(
	context: ApiContext,
	value: unknown,
	choices: readonly T[],
	label: string,
): T {
	requireSingle(context, value, label);
	const text = trimmedText(value);
	const choice = choices.find((each) => each.toLowerCase() === text.toLowerCase());
	if (choice !== undefined) return choice;
	const known = [choices.slice(0, -1).join(', '), choices.at(-1)].filter(Boolean).join(' or ');
	throw inputError(
		context,
		`'${label}' must be ${known}, not ${described(value)}`,
		'Enter one of these, or choose from the list.',
	);
}

/** The choice of a parameter that is called `name`; see {@link readChoice}. */
export function readChoiceOf<T extends string>(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	choices: readonly T[],
): T {
	return readChoice(context, context.getNodeParameter(name, itemIndex), choices, labelOf(name));
}

/**
 * @param value A list or, as a model writes it, a text with commas. Blanks are skipped.
 * @returns Each choice once, in the order of `choices`.
 * @throws NodeOperationError as {@link readChoice}.
 */
export function readChoices<T extends string>(
	context: ApiContext,
	value: unknown,
	choices: readonly T[],
	label: string,
): T[] {
	const given = typeof value === 'string' ? value.split(',') : [value].flat();
	const chosen = given
		.filter((each) => !isBlank(each))
		.map((each) => readChoice(context, each, choices, label));
	return choices.filter((choice) => chosen.includes(choice));
}

/**
 * @returns The IANA name of the option Time Zone, else of the workflow's zone.
 * @throws NodeOperationError if there is no such zone.
 */
export function readZone(context: ApiContext, option: unknown): string {
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

const OFFSET = /^(utc|gmt)?\s*[+-]\s*\d/i;

/** The name of a zone in IANA's upper and lower case, because a service may insist on it. */
function asNamed(zone: string): string {
	const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
	const isOtherName = timeZone.toLowerCase() !== zone.toLowerCase();
	const isWellWritten = /^[A-Z]/.test(zone) && (/[a-z]/.test(zone) || !zone.includes('/'));
	return isOtherName && isWellWritten ? zone : timeZone;
}

/** @returns Epoch ms; see {@link toInstant}. @throws NodeOperationError if it isn't a date-time. */
export function readInstant(
	context: IExecuteFunctions,
	value: unknown,
	zone: string,
	edge: Edge,
	label: string,
): number {
	const instant = toInstant(namedDay(value, zone) ?? value, zone, edge);
	if (instant === undefined) throw notADateTime(context, value, label);
	return instant;
}

function namedDay(value: unknown, zone: string): string | undefined {
	const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (word === 'today') return daysAgo(0, zone);
	return word === 'yesterday' ? daysAgo(1, zone) : undefined;
}

const DAYS = ['yesterday', 'today', 'date'] as const;

/** @returns The day that `dayParameters` choose, `YYYY-MM-DD`. */
export function readDay(context: IExecuteFunctions, itemIndex: number, zone: string): string {
	const day = readChoiceOf(context, 'day', itemIndex, DAYS);
	return dateOf(context, day, itemIndex, zone, 'Day');
}

/**
 * @param day `date` for the day in the parameter Date. @param chosenBy The label of its parameter.
 * @returns `YYYY-MM-DD`.
 */
export function dateOf(
	context: IExecuteFunctions,
	day: (typeof DAYS)[number],
	itemIndex: number,
	zone: string,
	chosenBy: 'Day' | 'Period',
): string {
	if (day !== 'date') return daysAgo(day === 'today' ? 0 : 1, zone);
	const value = context.getNodeParameter('date', itemIndex, '') as unknown;
	if (isBlank(value)) {
		throw inputError(
			context,
			"'Date' is empty",
			`Enter a day such as 2026-11-25. An expression can also return today or yesterday. Or choose another '${chosenBy}'.`,
		);
	}
	const date = namedDay(value, zone) ?? toDate(value, zone);
	if (date === undefined) throw notADateTime(context, value, 'Date');
	return date;
}

function notADateTime(context: IExecuteFunctions, value: unknown, label: string) {
	const written = asIsoDate(value);
	const advice = [
		written && `Write it as ${written}.`,
		`In the field, pick it, or type ${label === 'Date' ? '2026-11-25' : '2026-11-25 09:30:00'}.`,
		'An expression can return today, yesterday, a date in ISO 8601 such as 2026-11-25, 2026-11-25T09:30:00 or 2026-11-25T09:30:00+01:00, or milliseconds since 1970 (13 digits, not seconds).',
		label !== 'Date' && 'If it is optional, you can leave it empty.',
	];
	return inputError(
		context,
		`'${label}' is not a date and time: ${described(value)}`,
		advice.filter(Boolean).join(' '),
	);
}

const ORDERS = ['d.M.yyyy', 'd/M/yyyy', 'M/d/yyyy', 'd-M-yyyy', 'M-d-yyyy', 'yyyy/M/d', 'yyyy.M.d'];

/** `2026-11-25 09:30` for `25.11.2026 09:30`; undefined if a date can't be read, or in two ways. */
function asIsoDate(value: unknown): string | undefined {
	if (typeof value !== 'string') return undefined;
	const [date, ...time] = value.trim().split(/[\sT]+/);
	const read = ORDERS.map((order) => DateTime.fromFormat(date, order, { zone: 'utc' }).toISODate());
	const days = new Set(read.filter((day) => day !== null));
	const written = [...days, ...time].join(' ');
	return days.size === 1 && toDate(written, 'UTC') !== undefined ? written : undefined;
}

/** A collection parameter; see {@link withoutBlanks}. */
export function readCollection(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
): IDataObject {
	return withoutBlanks(context, context.getNodeParameter(name, itemIndex, {}));
}

/**
 * The fields of a collection that aren't blank: a blank counts as not set.
 *
 * @throws NodeOperationError on a list or an object: the service would ignore it, and a filter would
 *   not filter.
 */
export function withoutBlanks(context: ApiContext, collection: unknown): IDataObject {
	const all = Object.entries((collection as IDataObject | null) ?? {});
	const fields = all.filter(([, value]) => !isBlank(value));
	for (const [name, value] of fields) requireSingle(context, value, labelOf(name));
	return Object.fromEntries(fields);
}

/** @returns A trimmed text. @throws NodeOperationError on a list or an object. */
export function readText(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	label: string,
): string {
	const value = context.getNodeParameter(name, itemIndex) as unknown;
	requireSingle(context, value, label);
	return trimmedText(value);
}

/** @throws NodeOperationError if the name is empty. */
export function readBinaryProperty(context: IExecuteFunctions, itemIndex: number): string {
	const { name, displayName } = binaryPropertyParameter;
	const property = readText(context, name, itemIndex, displayName);
	if (property !== '') return property;
	throw inputError(
		context,
		"'Put Output File in Field' is empty",
		'Enter a name, for example "data".',
	);
}

export function readDirection(context: ApiContext, { direction }: IDataObject) {
	if (direction === undefined) return undefined;
	return readChoice(context, direction, ['desc', 'asc'], 'Direction');
}

/** `Is Starred` for `isStarred`, as the editor writes it. */
function labelOf(name: string): string {
	const words = name.replace(/([A-Z])/g, ' $1').replace(/Id$/, 'ID');
	return words.charAt(0).toUpperCase() + words.slice(1);
}

function requireSingle(context: ApiContext, value: unknown, label: string): void {
	const isSingle = typeof value !== 'object' && typeof value !== 'function';
	if (isSingle || value === null || value instanceof Date || DateTime.isDateTime(value)) return;
	throw inputError(
		context,
		`'${label}' must be a single value, not ${described(value)}`,
		'Let the expression return one text, number, date or boolean.',
	);
}

interface NumberRule {
	unit?: string;
	isWhole?: boolean;
	min?: number;
	max?: number;
}

/**
 * @param value A number, or the text of one, as expressions often return it.
 * @throws NodeOperationError if it isn't a finite number, or breaks the rule.
 */
export function readNumber(
	context: ApiContext,
	value: unknown,
	label: string,
	{ unit, isWhole = false, min = 0, max = Infinity }: NumberRule,
	advice = 'Correct the option, or remove it to use its default.',
): number {
	const isText = typeof value === 'string' && value.trim() !== '';
	const number = typeof value === 'number' || isText ? Number(value) : NaN;
	const isKind = isWhole ? Number.isInteger(number) : Number.isFinite(number);
	if (isKind && number >= min && number <= max) return number;
	const kind = `a ${isWhole ? 'whole ' : ''}number${unit ? ` of ${unit}` : ''}`;
	const bounds = max === Infinity ? `${min} or more` : `${min} to ${max}`;
	throw inputError(
		context,
		`'${label}' must be ${kind}, ${bounds}, not ${described(value)}`,
		advice,
	);
}
