import { DateTime } from 'luxon';

import { redactApiKey } from '../auth/apiKey';
import { isBlank, plainLine } from '../util/text';

/** In UTF-16 units: less than the 64 KiB read of an error page, whose end may be half a key. */
const MAX_EXAMINED_LENGTH = 16_384;
/** Removed at such a cut, because half a key can't be found. */
const ROOM_OF_A_KEY = 4_096;
const MAX_ECHO_LENGTH = 50;

/**
 * A text for an error, a hint or a log: one line, the API key redacted.
 *
 * @param apiKey Empty if it isn't known.
 * @param maxLength In UTF-16 units; a longer text ends with `…`.
 */
export function sanitizeForDisplay(apiKey: string, text: string, maxLength: number): string {
	const line = redactApiKey(apiKey, plainLine(text.slice(0, MAX_EXAMINED_LENGTH)));
	const whole = text.length > MAX_EXAMINED_LENGTH ? line.slice(0, -ROOM_OF_A_KEY) : line;
	return whole.length > maxLength ? `${plainLine(whole.slice(0, maxLength))}…` : whole;
}

/** A value in the words of an error: `"soon"`, `a list`, `an empty value`. */
export function described(value: unknown): string {
	if (isBlank(value)) return 'an empty value';
	if (Array.isArray(value)) return 'a list';
	const isDate = DateTime.isDateTime(value) || value instanceof Date;
	if (isDate && Number.isNaN(value.valueOf())) return 'an invalid date';
	if (isDate) return `the date ${new Date(value.valueOf()).toISOString()}`;
	return typeof value === 'object' ? 'an object' : quoted(String(value));
}

function quoted(text: string): string {
	return `"${sanitizeForDisplay('', text, MAX_ECHO_LENGTH)}"`;
}
