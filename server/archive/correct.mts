// Replaces misheard words.
import { IN_WORD } from '../../lifelog/scripts.ts';
import type { Correction } from './layout.mts';

export type Words = Omit<Correction, 'id'>;

const FIRST_IN_WORD = new RegExp(`^${IN_WORD}`, 'u');
const LAST_IN_WORD = new RegExp(`${IN_WORD}$`, 'u');

/**
 * A pattern that finds words in any case, but not inside other words.
 *
 * @param heard Not empty.
 * @param isPart Whether to match inside other words, too.
 */
export function wordsFinder(heard: string, { isPart = false } = {}): RegExp {
	const literal = heard.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
	if (isPart) return new RegExp(literal, 'giu');
	const before = FIRST_IN_WORD.test(heard) ? `(?<!${IN_WORD})` : '';
	const after = LAST_IN_WORD.test(heard) ? `(?!${IN_WORD})` : '';
	return new RegExp(`${before}${literal}${after}`, 'giu');
}

/** A function that replaces the misheard words. */
export function corrector({ heard, right }: Words): (text: string) => string {
	const words = wordsFinder(heard);
	return (text) => text.replace(words, () => right);
}

/** Applies several corrections in order. */
export const correctAll = (text: string, corrections: Words[]): string =>
	corrections.reduce((corrected, words) => corrector(words)(corrected), text);
