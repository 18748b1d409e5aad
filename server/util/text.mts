/** `1 day`, `2,000 days`. */
export const plural = (count: number, noun: string): string =>
	`${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/**
 * A line without what moves the cursor of a terminal or turns the direction of a text, as a name or
 * the words of a service can.
 */
export function printable(text: string): string {
	return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '\ufffd');
}

/** The name of a file with `?` for every character that isn't printable ASCII. */
export function printableAscii(name: string): string {
	return name.replaceAll(/[^\x20-\x7e]/g, '?');
}

const MAX_QUOTED = 200;

/** A name or words in quotation marks, for an error. Long ones are cut. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_QUOTED));
