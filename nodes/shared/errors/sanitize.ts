import { DateTime } from 'luxon';

import { isBlank, plainLine, trimmedText } from '../../../lifelog/text.ts';

/** In UTF-16 units: less than the 64 KiB that are read of an error page, because that cut may halve a key. */
const MAX_EXAMINED_LENGTH = 16_384;
/** Removed at such a cut, because half a key can't be found. */
const ROOM_OF_A_KEY = 4_096;
const MAX_ECHO_LENGTH = 50;
/** A shorter key may be part of any word. */
const MIN_KEY_LENGTH = 8;

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

/** @param line Its blanks are collapsed. @returns It without the key, raw or URL-encoded. */
export function redactApiKey(apiKey: string, line: string): string {
	if (apiKey.length < MIN_KEY_LENGTH) return line;
	const encoded = encodeURIComponent(apiKey);
	const inSmallLetters = encoded.replace(/%../g, (code) => code.toLowerCase());
	const forms = [apiKey.replace(/ +/g, ' '), encoded, inSmallLetters];
	return forms.reduce((text, form) => text.replaceAll(form, '[API key]'), line);
}

/** A value in the words of an error: `"soon"`, `a list`, `an empty value`. */
export function described(value: unknown): string {
	if (isBlank(value)) return 'an empty value';
	if (Array.isArray(value)) return 'a list';
	const isDate = DateTime.isDateTime(value) || value instanceof Date;
	if (isDate && Number.isNaN(value.valueOf())) return 'an invalid date';
	if (isDate) return `the date ${new Date(value.valueOf()).toISOString()}`;
	return typeof value === 'object' ? 'an object' : quoted(trimmedText(value));
}

function quoted(text: string): string {
	return `"${sanitizeForDisplay('', text, MAX_ECHO_LENGTH)}"`;
}
