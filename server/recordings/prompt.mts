// Expected words: the names and terms that a transcription endpoint gets as a prompt, and their echoes.
import type { Segment } from './segments.mts';

/** In characters. */
export const MAX_PROMPT_LENGTH = 400;

/** Whether the expected words are too long for an endpoint. */
export const isTooLong = (prompt: string) => [...prompt].length > MAX_PROMPT_LENGTH;

/** An echo of fewer words is indistinguishable from speech. */
const MIN_WORDS = 3;

/**
 * Removes segments that only repeat the prompt, as Whisper does in silence. Such a segment has all
 * of the prompt's words in order and no others. It may repeat them, with the last repetition cut
 * off. Case and punctuation are ignored. Everything else may be speech and is kept: a part of the
 * prompt, its words in another order or with others, and a prompt of one or two words.
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

/** Words without case and punctuation, also for scripts without spaces. */
function wordsOf(text: string): string[] {
	// Upper case makes `ß` equal to `ss`, and `ς` to `σ`.
	const plain = text.normalize('NFKC').toUpperCase();
	return [...SEGMENTER.segment(plain)].flatMap(({ segment, isWordLike }) =>
		isWordLike ? segment.replace(/[^\p{L}\p{M}\p{N}]/gu, '') : [],
	);
}
