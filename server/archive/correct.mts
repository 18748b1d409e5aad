// Words that are heard wrong, and the right ones in their place.
import { IN_WORD } from '../../lifelog/scripts.ts';
import type { Correction } from './layout.mts';

/** Words to be replaced. */
export type Words = Omit<Correction, 'id'>;

const FIRST_IN_WORD = new RegExp(`^${IN_WORD}`, 'u');
const LAST_IN_WORD = new RegExp(`${IN_WORD}$`, 'u');

/**
 * Finds words, whatever their case, but not within other words.
 *
 * @param heard Not empty.
 * @param isPart Whether also within other words.
 */
export function wordsFinder(heard: string, { isPart = false } = {}): RegExp {
	const literal = heard.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
	if (isPart) return new RegExp(literal, 'giu');
	const before = FIRST_IN_WORD.test(heard) ? `(?<!${IN_WORD})` : '';
	const after = LAST_IN_WORD.test(heard) ? `(?!${IN_WORD})` : '';
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
