import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { DateTime, IANAZone } from 'luxon';

import type { ApiContext } from '../transport/connection';
import { daysAgo, type Edge, toDate, toInstant } from '../util/dateTimes';
import { binaryPropertyParameter, DEFAULT_MAX_WAIT_S, MAX_LIMIT_OF_TOOL } from './descriptions';
import { inputError } from '../errors/errors';
import { described } from '../errors/sanitize';

/**
 * The parts of a lifelog to ask for, all sent explicitly, as the service's defaults are not
 * certain (specification, section 4.2).
 *
 * @param options The collection `options` of an operation.
 * @param contents Whether contents are wanted where the option is not set.
 * @throws NodeOperationError when an option is neither true nor false.
 */
export function includeQuery(context: ApiContext, options: IDataObject, contents: boolean) {
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
	const seconds = toNumber(maxWait);
	if (!(seconds >= 0)) {
		throw inputError(
			context,
			"'Max Rate Limit Wait' must be a number of seconds, 0 or more",
			'Without the option it is 300; 0 fails at once instead of waiting.',
		);
	}
	return seconds * 1000;
}

/** Whether a node is a tool of an agent, so that a model reads what it gives. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

/**
 * How many entries are wanted.
 *
 * @returns The parameter Limit, or Infinity with Return All. As a tool Limit counts, up to
 *   {@link MAX_LIMIT_OF_TOOL}: a model has to pay for what it is given.
 * @throws NodeOperationError when Limit is no whole number above 0, or Return All no boolean.
 */
export function readLimit(context: IExecuteFunctions, itemIndex: number): number {
	const forModel = isTool(context);
	const returnAll = context.getNodeParameter('returnAll', itemIndex, false) as unknown;
	if (!forModel && readBoolean(context, returnAll, 'Return All')) return Infinity;
	const limit = toNumber(context.getNodeParameter('limit', itemIndex));
	if (!Number.isInteger(limit) || limit < 1) {
		throw inputError(
			context,
			"'Limit' must be a whole number, 1 or more",
			"Give a number such as 20. For all results turn on 'Return All', where the operation has it.",
		);
	}
	return forModel ? Math.min(limit, MAX_LIMIT_OF_TOOL) : limit;
}

/**
 * @param value A parameter that is true or false, or the text of either, as expressions often give.
 * @param label The parameter's display name, for the error.
 * @returns undefined when it is blank, which counts as not set.
 * @throws NodeOperationError when it is anything else: a filter would not filter.
 */
export function readBoolean(
	context: ApiContext,
	value: unknown,
	label: string,
): boolean | undefined {
	if (typeof value === 'boolean') return value;
	requireSingle(context, value, label);
	const text = String(value ?? '')
		.trim()
		.toLowerCase();
	if (text === '') return undefined;
	if (text !== 'true' && text !== 'false') {
		throw inputError(
			context,
			`'${label}' must be true or false, not ${described(value)}`,
			'Give true or false; an empty text counts as not set.',
		);
	}
	return text === 'true';
}

/**
 * A parameter that is one of several values, as an expression may give it: upper and lower case
 * count alike.
 *
 * @param value As it was given; where it may be left out, its default.
 * @param choices What it may be.
 * @param label The parameter's display name, for the error.
 * @throws NodeOperationError when it is anything else, with the list of what it may be.
 */
export function readChoice<T extends string>(
	context: ApiContext,
	value: unknown,
	choices: readonly T[],
	label: string,
): T {
	requireSingle(context, value, label);
	const text = String(value ?? '').trim();
	const choice = choices.find((each) => each.toLowerCase() === text.toLowerCase());
	if (choice !== undefined) return choice;
	const known = [choices.slice(0, -1).join(', '), choices.at(-1)].filter(Boolean).join(' or ');
	throw inputError(
		context,
		`'${label}' must be ${known}, not ${described(value)}`,
		'Give one of these, or choose it in the list.',
	);
}

/**
 * A parameter that is several of some values: a list or, as a model writes it, a text with commas
 * between them. Blanks are passed over.
 *
 * @param choices What each may be; see {@link readChoice}.
 * @returns Each once, in the order of `choices`.
 * @throws NodeOperationError when one is anything else.
 */
export function readChoices<T extends string>(
	context: ApiContext,
	value: unknown,
	choices: readonly T[],
	label: string,
): T[] {
	const given = typeof value === 'string' ? value.split(',') : [value].flat();
	const chosen = given
		.filter((each) => typeof each !== 'string' || each.trim() !== '')
		.filter((each) => each !== undefined && each !== null)
		.map((each) => readChoice(context, each, choices, label));
	return choices.filter((choice) => chosen.includes(choice));
}

/**
 * The time zone that counts: the option Time Zone, else the one of the workflow.
 *
 * @returns An IANA name, in any case as an option.
 * @throws NodeOperationError when there is no such zone.
 */
export function readZone(context: ApiContext, option: unknown): string {
	const zone = String(option ?? '').trim() || context.getTimezone();
	// Newer versions of Node.js know offsets as zones; the service knows names alone.
	if (OFFSET.test(zone) || !IANAZone.create(zone).isValid) {
		throw inputError(
			context,
			`There is no time zone "${zone}"`,
			`Use an IANA name such as Europe/Berlin or America/New_York, or leave the option 'Time Zone' empty to use that of the workflow.${OFFSET.test(zone) ? ' An offset is none, as it knows no daylight saving; for a fixed one of whole hours there are names such as Etc/GMT-2, which is two hours ahead of UTC.' : ''}`,
		);
	}
	return asNamed(zone);
}

const OFFSET = /^(utc|gmt)?\s*[+-]\s*\d/i;

/** The name of a zone in the case the IANA gives it, as not every service is as lenient. */
function asNamed(zone: string): string {
	const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
	const isOtherName = timeZone.toLowerCase() !== zone.toLowerCase();
	const isWellWritten = /^[A-Z]/.test(zone) && (/[a-z]/.test(zone) || !zone.includes('/'));
	return isOtherName && isWellWritten ? zone : timeZone;
}

/**
 * @param label The parameter's display name, for the error.
 * @returns Epoch ms of a date-time parameter; see {@link toInstant}.
 * @throws NodeOperationError when the value is no date-time.
 */
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

/**
 * @param label The parameter's display name, for the error.
 * @returns `YYYY-MM-DD` of a date parameter; see {@link toDate}.
 * @throws NodeOperationError when the value is no date.
 */
export function readDate(
	context: IExecuteFunctions,
	value: unknown,
	zone: string,
	label: string,
): string {
	const date = namedDay(value, zone) ?? toDate(value, zone);
	if (date === undefined) throw notADateTime(context, value, label);
	return date;
}

/** The day that a word names in a zone, as a person or a model says it: `YYYY-MM-DD`. */
function namedDay(value: unknown, zone: string): string | undefined {
	const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (word === 'today') return daysAgo(0, zone);
	return word === 'yesterday' ? daysAgo(1, zone) : undefined;
}

function notADateTime(context: IExecuteFunctions, value: unknown, label: string) {
	return inputError(
		context,
		`'${label}' is not a date and time: ${described(value)}`,
		'Pick one in the editor, or give today, yesterday, an ISO 8601 text such as 2026-03-29, 2026-03-29T10:00:00 or 2026-03-29T10:00:00+02:00, or milliseconds since 1970 (13 digits; not seconds). Where it may be left out, leave it empty.',
	);
}

/** A collection parameter without the fields that are blank, which count as not set. */
export function readCollection(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
): IDataObject {
	return withoutBlanks(context, context.getNodeParameter(name, itemIndex, {}));
}

/**
 * The fields of a collection parameter's value that are not blank.
 *
 * @throws NodeOperationError when a field holds a list or an object, as an expression can give it:
 *   the service would ignore what it cannot read, and a filter would not filter.
 */
export function withoutBlanks(context: ApiContext, collection: unknown): IDataObject {
	const fields = Object.entries((collection as IDataObject | null) ?? {}).filter(
		([, value]) =>
			value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== ''),
	);
	for (const [name, value] of fields) requireSingle(context, value, inWords(name));
	return Object.fromEntries(fields);
}

/**
 * @param label The parameter's display name, for the error.
 * @returns A text parameter without white space around it; empty when it is not set.
 * @throws NodeOperationError when the value is a list or an object.
 */
export function readText(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	label: string,
): string {
	const value = context.getNodeParameter(name, itemIndex) as unknown;
	requireSingle(context, value, label);
	return String(value ?? '').trim();
}

/**
 * @returns The name of the binary field to put a file in.
 * @throws NodeOperationError when it is empty.
 */
export function readBinaryProperty(context: IExecuteFunctions, itemIndex: number): string {
	const { name, displayName } = binaryPropertyParameter;
	const property = readText(context, name, itemIndex, displayName);
	if (property !== '') return property;
	throw inputError(context, "'Put Output File in Field' is empty", 'Name it, for example "data".');
}

/** The order in which entries are to be listed; undefined where the option is not set. */
export function readDirection(context: ApiContext, { direction }: IDataObject) {
	if (direction === undefined) return undefined;
	return readChoice(context, direction, ['desc', 'asc'], 'Direction');
}

/** The name of a field as the editor writes it, `isStarred` as `Is Starred`. */
function inWords(name: string): string {
	const words = name.replace(/([A-Z])/g, ' $1').replace(/Id$/, 'ID');
	return words.charAt(0).toUpperCase() + words.slice(1);
}

function requireSingle(context: ApiContext, value: unknown, label: string): void {
	const isSingle = typeof value !== 'object' && typeof value !== 'function';
	if (isSingle || value === null || value instanceof Date || DateTime.isDateTime(value)) return;
	throw inputError(
		context,
		`'${label}' must be a single value, not ${described(value)}`,
		'Let the expression give one text, number, date or boolean.',
	);
}

/** Numbers, and the text of one, as expressions often give it; NaN for all else. */
export function toNumber(value: unknown): number {
	const isText = typeof value === 'string' && value.trim() !== '';
	return typeof value === 'number' || isText ? Number(value) : NaN;
}
