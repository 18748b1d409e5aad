// Readers of parameters. Label, bounds and choices are those of the parameter's description.
import type {
	IDataObject,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { DateTime } from 'luxon';

import { isBlank, trimmedText } from '../../../lifelog/text.ts';
import type { ApiContext } from '../auth/connection';
import { inputError } from '../errors/nodeErrors';
import { described } from '../errors/sanitize';

/** Where a value is: a parameter in an input item, by its index; an option in its collection. */
export type Place = number | IDataObject;

/** A parameter with choices, whose values the compiler knows. */
export type Choices<T extends string> = Omit<INodeProperties, 'options'> & {
	options: Array<Omit<INodePropertyOptions, 'value'> & { value: T }>;
};

/** Describes a parameter with choices; {@link readChoice} then returns one of them. */
export function choices<T extends string>(parameter: Choices<T>): Choices<T> {
	return parameter;
}

/** @returns undefined for an option that isn't set; the default of a parameter that isn't shown. */
export function valueOf(
	context: ApiContext,
	{ name, default: unset }: INodeProperties,
	place: Place,
): unknown {
	if (typeof place !== 'number') return place[name];
	return (context as IExecuteFunctions).getNodeParameter(name, place, unset);
}

/** The fields of a collection. A blank counts as not set. */
export function readCollection(
	context: IExecuteFunctions,
	name: 'options' | 'filters' | 'updateFields',
	itemIndex: number,
): IDataObject {
	return withoutBlanks(context.getNodeParameter(name, itemIndex, {}));
}

export function withoutBlanks(collection: unknown): IDataObject {
	const fields = Object.entries((collection as IDataObject | null) ?? {});
	return Object.fromEntries(fields.filter(([, value]) => !isBlank(value)));
}

/** @returns A trimmed text, '' if it isn't set. @throws NodeOperationError on a list or an object. */
export function readText(context: ApiContext, parameter: INodeProperties, place: Place): string {
	return trimmedText(singleValueOf(context, parameter, place));
}

/**
 * Reads true or false, or the text of either, as expressions often return it.
 *
 * @returns undefined for a blank, which counts as not set.
 * @throws NodeOperationError on anything else: a filter would not filter.
 */
export function readBoolean(
	context: ApiContext,
	parameter: INodeProperties,
	place: Place,
): boolean | undefined {
	const value = singleValueOf(context, parameter, place);
	const text = trimmedText(value).toLowerCase();
	if (text === '') return undefined;
	if (text === 'true') return true;
	if (text === 'false') return false;
	throw inputError(
		context,
		`'${labelOf(parameter)}' must be true or false, not ${described(value)}`,
		'Enter true or false. Empty text counts as not set.',
	);
}

/**
 * Reads a number, or the text of one, as expressions often return it.
 *
 * @param parameter Its display name ends with the unit, if it has one: `Padding (Seconds)`.
 * @returns The default if it isn't set.
 * @throws NodeOperationError if it isn't a finite number, or out of bounds.
 */
export function readNumber(
	context: ApiContext,
	parameter: INodeProperties,
	place: Place,
	advice = 'Correct the option, or remove it to use its default.',
): number {
	const {
		minValue: min = 0,
		maxValue: max = Infinity,
		numberPrecision,
	} = parameter.typeOptions ?? {};
	const given = valueOf(context, parameter, place);
	const value = isBlank(given) ? parameter.default : given;
	const isText = typeof value === 'string' && value.trim() !== '';
	const number = typeof value === 'number' || isText ? Number(value) : NaN;
	const isWhole = numberPrecision === 0;
	const isKind = isWhole ? Number.isInteger(number) : Number.isFinite(number);
	if (isKind && number >= min && number <= max) return number;
	const unit = UNIT.exec(parameter.displayName)?.[1].toLowerCase();
	const kind = `a ${isWhole ? 'whole ' : ''}number${unit ? ` of ${unit}` : ''}`;
	const bounds = max === Infinity ? `${min} or more` : `${min} to ${max}`;
	throw inputError(
		context,
		`'${labelOf(parameter)}' must be ${kind}, ${bounds}, not ${described(value)}`,
		advice,
	);
}

/**
 * Reads one of the choices, in upper or lower case.
 *
 * @returns The default if it isn't set.
 * @throws NodeOperationError on anything else, with the list of choices.
 */
export function readChoice<T extends string>(
	context: ApiContext,
	parameter: Choices<T>,
	place: Place,
): T {
	const value = valueOf(context, parameter, place);
	const given = value === undefined ? parameter.default : value;
	return oneOf(context, given, valuesOf(parameter), labelOf(parameter));
}

/** The same without a default. */
export function readChoiceIfSet<T extends string>(
	context: ApiContext,
	parameter: Choices<T>,
	collection: IDataObject,
): T | undefined {
	const isSet = collection[parameter.name] !== undefined;
	return isSet ? readChoice(context, parameter, collection) : undefined;
}

/**
 * Reads a list of choices or, as a model writes it, a text with commas. Blanks are skipped.
 *
 * @returns Each choice once, in the order of the choices.
 * @throws NodeOperationError as {@link readChoice}.
 */
export function readChoices<T extends string>(
	context: ApiContext,
	parameter: Choices<T>,
	place: Place,
): T[] {
	const value = valueOf(context, parameter, place);
	return manyOf(context, value, valuesOf(parameter), labelOf(parameter));
}

/** {@link readChoices} of a value. */
export function manyOf<T extends string>(
	context: ApiContext,
	value: unknown,
	known: readonly T[],
	label: string,
): T[] {
	const given = typeof value === 'string' ? value.split(',') : [value].flat();
	const chosen = given
		.filter((each) => !isBlank(each))
		.map((each) => oneOf(context, each, known, label));
	return known.filter((choice) => chosen.includes(choice));
}

/** {@link readChoice} of a value. */
export function oneOf<T extends string>(
	context: ApiContext,
	value: unknown,
	known: readonly T[],
	label: string,
): T {
	requireSingle(context, value, label);
	const text = trimmedText(value).toLowerCase();
	const choice = known.find((each) => each.toLowerCase() === text);
	if (choice !== undefined) return choice;
	const listed = [known.slice(0, -1).join(', '), known.at(-1)].filter(Boolean).join(' or ');
	throw inputError(
		context,
		`'${label}' must be ${listed}, not ${described(value)}`,
		'Enter one of these, or choose from the list.',
	);
}

function valuesOf<T extends string>({ options }: Choices<T>): T[] {
	return options.map(({ value }) => value);
}

const UNIT = / \(([^()]+)\)$/;

/** The name of a parameter in messages: without its unit. */
export function labelOf({ displayName }: INodeProperties): string {
	return displayName.replace(UNIT, '');
}

/** @throws NodeOperationError on a list or an object: a filter would not filter. */
export function singleValueOf(
	context: ApiContext,
	parameter: INodeProperties,
	place: Place,
): unknown {
	const value = valueOf(context, parameter, place);
	requireSingle(context, value, labelOf(parameter));
	return value;
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
