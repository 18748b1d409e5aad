// Words to expect: what a transcription endpoint is told of names and terms, and what comes back of it.
import type { Segment } from './segments.mts';

/** In characters. */
export const MAX_PROMPT_LENGTH = 400;

/** Whether words to expect are longer than an endpoint may be told. */
export const isTooLong = (prompt: string) => [...prompt].length > MAX_PROMPT_LENGTH;

/** Of fewer words than these, what comes back can't be told from somebody who says a name. */
const MIN_WORDS = 3;

/**
 * Leaves out segments that only repeat the prompt, as Whisper does in silence. Such a segment has all of
 * the prompt's words in their order, from the first to the last, and no other word. It may have them
 * several times, the last time cut off. Case and punctuation don't count. Everything else may have been
 * said, and stays: a part of the prompt, its words in another order or beside others, and a prompt of
 * one or two words.
 */
export function withoutEchoes(segments: Segment[], prompt: string): Segment[] {
	const expected = wordsOf(prompt);
	if (expected.length < MIN_WORDS) return segments;
	return segments.filter(({ text }) => {
		const words = wordsOf(text);
		const isEcho =
			words.length >= expected.length &&
			words.every((word, nth) => word === expected[nth % expected.length]);
		return !isEcho;
	});
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** Words without case and punctuation. Scripts without blanks have some, too. */
function wordsOf(text: string): string[] {
	// In capitals, because `ß` and `ς` have none of their own.
	const plain = text.normalize('NFKC').toUpperCase();
	return [...SEGMENTER.segment(plain)].flatMap(({ segment, isWordLike }) =>
		isWordLike ? segment.replace(/[^\p{L}\p{M}\p{N}]/gu, '') : [],
	);
}
