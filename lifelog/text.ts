const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** How far back, in UTF-16 units, a cut may move to fall between words. */
const MAX_WORD_LENGTH = 100;
const MAX_UNBREAKABLE_LENGTH = 10;

/** Whether a parameter has no value: blank, null or undefined. */
export function isBlank(value: unknown): boolean {
	return value === undefined || value === null || (typeof value === 'string' && !value.trim());
}

/** A single value, such as a number or a date, as text without blanks around it; '' for none. */
export function trimmedText(value: unknown): string {
	return String((value ?? '') as string).trim();
}

/** Printable ASCII with single blanks, as most lines are. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** One line without what deceives: forged lines of a log, text in the other direction. */
export function plainLine(text: string): string {
	// Most lines need no change, and the searches below take time for each.
	if (PLAIN_LINE.test(text)) return text;
	return text
		.replace(/\p{Surrogate}/gu, '\ufffd')
		.replace(/\p{Bidi_Control}/gu, '')
		.replace(/[\p{Cc}\s]+/gu, ' ')
		.trim();
}

/** A text of the service as {@link plainLine}; empty if it isn't a text. */
export function oneLine(text: unknown): string {
	return typeof text === 'string' ? plainLine(text) : '';
}

/** What was said, without line breaks and runs of blanks; empty if it isn't a text. */
export function collapseSpaces(text: unknown): string {
	return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
}

export function textOrNull(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

/**
 * Cuts a text into pieces that together are the text: between words if possible, and never within a
 * visible character, unless that is too long.
 *
 * @param maxLength Of a piece, in UTF-16 units; more than 10.
 * @param unbreakable Matches, with the flag `g`, what else must stay whole; at most 10 units long.
 */
export function splitText(text: string, maxLength: number, unbreakable?: RegExp): string[] {
	const found: string[] = [];
	let rest = text;
	while (rest.length > maxLength) {
		const cut = cutBefore(rest, maxLength, unbreakable);
		found.push(rest.slice(0, cut));
		rest = rest.slice(cut);
	}
	return [...found, rest].filter((piece) => piece !== '');
}

/** The beginning of a text, cut as by {@link splitText}. @param maxLength 0 for all of it. */
export function beginning(text: string, maxLength: number): string {
	return maxLength === 0 || text.length <= maxLength
		? text
		: text.slice(0, cutBefore(text, maxLength));
}

/** The beginning of a text, cut as by {@link splitText}. @param maxLength In UTF-16 units. */
export function cutToBytes(text: string, maxBytes: number, maxLength: number): string {
	let length = 0;
	let bytes = 0;
	for (const character of text) {
		bytes += utf8Bytes(character);
		if (bytes > maxBytes || length + character.length > maxLength) break;
		length += character.length;
	}
	return length === 0 ? '' : beginning(text, length);
}

export function utf8Bytes(text: string): number {
	let bytes = 0;
	for (const character of text) {
		const code = character.codePointAt(0)!;
		bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
	}
	return bytes;
}

function cutBefore(text: string, maxLength: number, unbreakable?: RegExp): number {
	const space = text.lastIndexOf(' ', maxLength - 1) + 1;
	const isBetweenWords = space > Math.max(0, maxLength - MAX_WORD_LENGTH);
	// No visible character begins with a blank and goes on with ASCII.
	if (isBetweenWords && /^[ -~]/.test(text.charAt(space))) return space;
	// Segmenting a long text is slow.
	const graphemes = SEGMENTER.segment(text.slice(0, maxLength + 2));
	if (isBetweenWords && graphemes.containing(space)?.index === space) return space;

	const grapheme = graphemes.containing(maxLength)?.index ?? maxLength;
	return (
		outside(unbreakable, text, grapheme) || outside(unbreakable, text, codePoint(text, maxLength))
	);
}

/** The cut, or the start of the match that it would divide. */
function outside(unbreakable: RegExp | undefined, text: string, cut: number): number {
	if (!unbreakable) return cut;
	const from = Math.max(0, cut - MAX_UNBREAKABLE_LENGTH);
	const near = text.slice(from, cut + MAX_UNBREAKABLE_LENGTH);
	for (const { index, 0: match } of near.matchAll(unbreakable)) {
		const start = from + index;
		if (start < cut && cut < start + match.length) return start;
	}
	return cut;
}

function codePoint(text: string, at: number): number {
	const isInside = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1));
	return isInside ? at - 1 : at;
}
