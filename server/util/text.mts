/** `1 day`, `2,000 days`. */
export const plural = (count: number, noun: string): string =>
	`${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/**
 * A line without characters that move a terminal's cursor or change the text direction. Names and
 * text of a service can contain them.
 */
export function printable(text: string): string {
	return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

/** A file name with `?` for every character that isn't printable ASCII. */
export function printableAscii(name: string): string {
	return name.replaceAll(/[^\x20-\x7e]/g, '?');
}

const MAX_QUOTED = 200;

/** A name or text in quotation marks, for an error. Long ones are cut. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_QUOTED));
