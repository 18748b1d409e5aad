// Finds the corrected words of a line: as heard, and as corrected.
import { BLANKLESS, IN_WORD } from '../../../lifelog/scripts.ts';

/** A letter of a script without spaces between words. */
const UNSPACED = String.raw`(?=[\p{L}\p{M}\p{N}])[${BLANKLESS}]\p{M}*`;
/** Such a letter, a word of another script, or a character between words. */
const TOKENS = new RegExp(`${UNSPACED}|(?:${IN_WORD})+|[^]`, 'gu');
const IS_UNSPACED = new RegExp(`^${UNSPACED}`, 'u');
const IS_WORD = /^[\p{L}\p{M}\p{N}]/u;
/** Punctuation at the end of a sentence belongs to no word. */
const END = /[\s.,;:!?…]+$/u;
/** Maximum characters of a replacement. */
export const MAX_WORDS_LENGTH = 200;

export interface Words {
	heard: string;
	right: string;
}

const isUnspaced = (token: string) => IS_UNSPACED.test(token);
const isWord = (token: string) => IS_WORD.test(token);

/**
 * The only run of whole words that differs between two texts. In scripts without spaces, the changed
 * characters. A single one gets its neighbors, because it alone is part of too many words.
 *
 * @returns undefined if words were only added or removed, if several places differ, or if no word does.
 */
export function changedWords(before: string, after: string): Words | undefined {
	const place = differing(before.match(TOKENS) ?? [], after.match(TOKENS) ?? []);
	if (isSeveral(...cut(place))) return undefined;
	const [old, now] = cut(widened(place));
	const first = old.findIndex(isWord);
	const end = old.findLastIndex(isWord) + 1;
	if (first < 0 || !now.some(isWord)) return undefined;
	const heard = old.slice(first, end).join('');
	// If quotation marks aren't part of the heard words, they aren't part of the right words either.
	const from = first > 0 ? now.findIndex(isWord) : 0;
	const to = end < old.length ? now.findLastIndex(isWord) + 1 : now.length;
	const right = now.slice(from, to).join('').trimStart().replace(END, '');
	const isTooLong = Math.max(heard.length, right.length) > MAX_WORDS_LENGTH;
	return heard === right || isTooLong ? undefined : { heard, right };
}

/** Splits two texts into common beginning, whole words that differ, and common end. */
export function differenceOf(before: string, after: string) {
	const place = differing(before.match(TOKENS) ?? [], after.match(TOKENS) ?? []);
	const [old, now] = cut(place).map((tokens) => tokens.join(''));
	const start = place.old.slice(0, place.start).join('');
	return { start, old, now, end: before.slice(start.length + old!.length) };
}

/** Two texts, and their numbers of common tokens before and after the difference. */
interface Place {
	old: string[];
	now: string[];
	start: number;
	rest: number;
}

function differing(old: string[], now: string[]): Place {
	const shorter = Math.min(old.length, now.length);
	let start = 0;
	while (start < shorter && old[start] === now[start]) start += 1;
	let rest = 0;
	while (rest < shorter - start && old.at(-1 - rest) === now.at(-1 - rest)) rest += 1;
	return { old, now, start, rest };
}

const cut = ({ old, now, start, rest }: Place): [old: string[], now: string[]] => [
	old.slice(start, old.length - rest),
	now.slice(start, now.length - rest),
];

/** Adds the neighboring characters to a single character of a script without spaces. */
function widened(place: Place): Place {
	const [old, now] = cut(place);
	if (old.length > 1 && now.length > 0) return place;
	if (![...old, ...now].every(isUnspaced)) return place;
	const before = place.old[place.start - 1] ?? '';
	const after = place.old[place.old.length - place.rest] ?? '';
	return {
		...place,
		start: place.start - Number(isUnspaced(before)),
		rest: place.rest - Number(isUnspaced(after)),
	};
}

/**
 * Whether two texts have a common word, or two common consecutive characters. If so, they differ in
 * several places.
 */
function isSeveral(old: string[], now: string[]): boolean {
	const unitsOf = (tokens: string[]) =>
		tokens.flatMap((token, at) => {
			if (!isUnspaced(token)) return isWord(token) ? [token] : [];
			const next = tokens[at + 1];
			return next !== undefined && isUnspaced(next) ? [token + next] : [];
		});
	const units = new Set(unitsOf(old));
	return unitsOf(now).some((unit) => units.has(unit));
}
