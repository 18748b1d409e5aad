// What was corrected in a line: the words that were heard, and the right ones.
import { BLANKLESS, IN_WORD } from '../../../lifelog/scripts.ts';

/** A letter of a script that is written without blanks between words. */
const UNSPACED = String.raw`(?=[\p{L}\p{M}\p{N}])[${BLANKLESS}]\p{M}*`;
/** Such a letter, a word of another script, or a character between words. */
const TOKENS = new RegExp(`${UNSPACED}|(?:${IN_WORD})+|[^]`, 'gu');
const IS_UNSPACED = new RegExp(`^${UNSPACED}`, 'u');
const IS_WORD = /^[\p{L}\p{M}\p{N}]/u;
/** What ends a sentence belongs to no word. */
const END = /[\s.,;:!?…]+$/u;
/** As many characters has a replacement. */
export const MAX_WORDS_LENGTH = 200;

/** What was heard, and what is right. */
export interface Words {
	heard: string;
	right: string;
}

const isUnspaced = (token: string) => IS_UNSPACED.test(token);
const isWord = (token: string) => IS_WORD.test(token);

/**
 * The one run of whole words that differs between two texts. In scripts without blanks, it's the changed
 * characters; a single one together with its neighbors, because alone it's a part of too many words.
 *
 * @returns Undefined if words were only added or taken out, if several places differ, or if no word does.
 */
export function changedWords(before: string, after: string): Words | undefined {
	const place = differing(before.match(TOKENS) ?? [], after.match(TOKENS) ?? []);
	if (isSeveral(...cut(place))) return undefined;
	const [old, now] = cut(widened(place));
	const first = old.findIndex(isWord);
	const end = old.findLastIndex(isWord) + 1;
	if (first < 0 || !now.some(isWord)) return undefined;
	const heard = old.slice(first, end).join('');
	// Marks around what was heard aren't part of it, so neither are those around what is right.
	const from = first > 0 ? now.findIndex(isWord) : 0;
	const to = end < old.length ? now.findLastIndex(isWord) + 1 : now.length;
	const right = now.slice(from, to).join('').trimStart().replace(END, '');
	const isTooLong = Math.max(heard.length, right.length) > MAX_WORDS_LENGTH;
	return heard === right || isTooLong ? undefined : { heard, right };
}

/** Two texts, cut into what they begin with, where they differ by whole words, and how they end. */
export function differenceOf(before: string, after: string) {
	const place = differing(before.match(TOKENS) ?? [], after.match(TOKENS) ?? []);
	const [old, now] = cut(place).map((tokens) => tokens.join(''));
	const start = place.old.slice(0, place.start).join('');
	return { start, old, now, end: before.slice(start.length + old!.length) };
}

/** Two texts, and how many tokens they have in common before and after what differs. */
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

/** A place with the characters beside it, if it's a single one of a script without blanks. */
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

/** Whether two texts have a word, or two characters in a row, in common: what's around it differs twice. */
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
