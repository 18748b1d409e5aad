// Words that are heard wrong, and the right ones in their place.
import type { Correction } from './layout.mts';

/** Words to be replaced. */
export type Words = Omit<Correction, 'id'>;

const BLANKLESS = [
	...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'],
	...['Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Javanese', 'Balinese'],
];
/** Signs of Japanese that are of no script, such as the long vowel in サーバー. */
const SIGNS = '\\u3006\\u3031-\\u3035\\u303c\\u3099-\\u309c\\u30fc\\uff70\\uff9e\\uff9f';
/** What is written without blanks between words. */
const blankless = BLANKLESS.map((script) => `\\p{sc=${script}}`).join('') + SIGNS;
/** What goes on a word: a letter, a digit or a mark, but of a script that has no blanks. */
const inWord = `(?![${blankless}])[\\p{L}\\p{N}\\p{M}]`;
const FIRST_IN_WORD = new RegExp(`^${inWord}`, 'u');
const LAST_IN_WORD = new RegExp(`${inWord}$`, 'u');

/**
 * Finds words, whatever their case, but not within other words.
 *
 * @param heard Not empty.
 * @param isPart Whether also within other words.
 */
export function wordsFinder(heard: string, { isPart = false } = {}): RegExp {
	const literal = heard.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
	if (isPart) return new RegExp(literal, 'giu');
	const before = FIRST_IN_WORD.test(heard) ? `(?<!${inWord})` : '';
	const after = LAST_IN_WORD.test(heard) ? `(?!${inWord})` : '';
	return new RegExp(`${before}${literal}${after}`, 'giu');
}

/** Puts the right words in place of those that were heard. */
export function corrector({ heard, right }: Words): (text: string) => string {
	const words = wordsFinder(heard);
	return (text) => text.replace(words, () => right);
}

/** A text with several corrections, one after the other. */
export const correctAll = (text: string, corrections: Words[]): string =>
	corrections.reduce((corrected, words) => corrector(words)(corrected), text);
