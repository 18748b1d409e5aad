const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** How far, in UTF-16 units, a cut may move back to fall between words. */
const MAX_WORD_LENGTH = 100;
const MAX_UNBREAKABLE_LENGTH = 10;

/**
 * A text as one line of what can be seen: a line break could forge a line of a log, and a character
 * that turns the direction of writing makes what follows look like something else.
 */
export function plainLine(text: string): string {
	return text
		.replace(/\p{Surrogate}/gu, '\ufffd')
		.replace(/\p{Bidi_Control}/gu, '')
		.replace(/[\p{Cc}\s]+/gu, ' ')
		.trim();
}

/**
 * A text of the service in one line that can be sent as JSON: without control characters,
 * halves of characters and what turns the direction of writing; empty for what is no text.
 */
export function oneLine(text: unknown): string {
	return typeof text === 'string' ? plainLine(text) : '';
}

/** A text of the service as an output has it; null for what is missing or no text. */
export function textOrNull(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

/**
 * Cuts a text into pieces that together are the text. Cuts fall between words where they can, and
 * never into what a person sees as one character, unless that alone is too long.
 *
 * @param most The longest piece, in UTF-16 units, of which a text has at least as many as of any
 *   other character count; more than 10.
 * @param unbreakable Matches, with the flag `g`, what else must stay whole; at most 10 units long.
 */
export function pieces(text: string, most: number, unbreakable?: RegExp): string[] {
	const found: string[] = [];
	let rest = text;
	while (rest.length > most) {
		const cut = cutBefore(rest, most, unbreakable);
		found.push(rest.slice(0, cut));
		rest = rest.slice(cut);
	}
	return [...found, rest].filter((piece) => piece !== '');
}

/**
 * The beginning of a text, cut as {@link pieces} are.
 *
 * @param most The longest beginning, in UTF-16 units; 0 or Infinity for all of it.
 */
export function beginning(text: string, most: number): string {
	return most === 0 || text.length <= most ? text : text.slice(0, cutBefore(text, most));
}

function cutBefore(text: string, most: number, unbreakable?: RegExp): number {
	// What comes later does not move the cut, and segmenting a long text is slow.
	const graphemes = SEGMENTER.segment(text.slice(0, most + 2));
	const space = text.lastIndexOf(' ', most - 1) + 1;
	const isBetweenWords = space > Math.max(0, most - MAX_WORD_LENGTH);
	if (isBetweenWords && graphemes.containing(space)?.index === space) return space;

	const grapheme = graphemes.containing(most)?.index ?? most;
	return outside(unbreakable, text, grapheme) || outside(unbreakable, text, codePoint(text, most));
}

/** The place itself, or the start of the match that it would cut. */
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
