import { DateTime } from 'luxon';

import { redactApiKey } from '../auth/redact';
import { plainLine } from '../util/text';

/**
 * What is looked at of a text of the service, in UTF-16 units. What is read of an error page, 64 KiB,
 * is always more than that, so that half a key at its end goes too.
 */
const MAX_EXAMINED_LENGTH = 16_384;
/** The half of a key that such a cut leaves is not found any more, so this much goes with it. */
const ROOM_OF_A_KEY = 4_096;
/** How much of a wrong value an error repeats. */
const MAX_ECHO_LENGTH = 50;

/**
 * A text that leaves for a person: an error, a hint, a line of a log. One line, without the API key.
 *
 * @param apiKey The key that the service may have quoted; empty where it is not known.
 * @param most The longest text, in UTF-16 units; a longer one ends with `…`.
 */
export function sanitizeForDisplay(apiKey: string, text: string, most: number): string {
	const line = redactApiKey(apiKey, plainLine(text.slice(0, MAX_EXAMINED_LENGTH)));
	const whole = text.length > MAX_EXAMINED_LENGTH ? line.slice(0, -ROOM_OF_A_KEY) : line;
	return whole.length > most ? `${plainLine(whole.slice(0, most))}…` : whole;
}

/** A value in the words of an error: `"soon"`, `a list`, `an empty value`. */
export function described(value: unknown): string {
	if (value === undefined || value === null) return 'an empty value';
	if (typeof value === 'string' && value.trim() === '') return 'an empty value';
	if (Array.isArray(value)) return 'a list';
	const isDate = DateTime.isDateTime(value) || value instanceof Date;
	if (isDate && Number.isNaN(value.valueOf())) return 'an invalid date';
	if (isDate) return `the date ${new Date(value.valueOf()).toISOString()}`;
	return typeof value === 'object' ? 'an object' : quoted(String(value));
}

/** The beginning of a text tells which it is. */
function quoted(text: string): string {
	return `"${sanitizeForDisplay('', text, MAX_ECHO_LENGTH)}"`;
}
