import type { Lifelog } from '../../../lifelog/api.ts';
import { contentNodes, transcriptText, utterances } from '../../../lifelog/contents.ts';
import { beginning, oneLine } from '../../../lifelog/text.ts';

/** In UTF-16 units, `…` included. */
export const MAX_EXCERPT_LENGTH = 300;
const LEFT_OUT = '…';
/** Characters before the first word of the query. */
const LEAD_LENGTH = 60;
const MAX_WORDS = 20;
/** Shorter words count only if a query has no others. */
const MIN_WORD_LENGTH = 3;
/** Occurrences of a word that count. */
const MAX_PLACES = 500;
const OPERATORS = new Set(['AND', 'OR', 'NOT']);
const WORD_SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });
const LETTER = /[\p{L}\p{N}]/u;
/** Scripts without blanks between words: a word can begin anywhere and be short. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const ANY_HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** The mark of a quotation or a list item in Markdown. */
const LINE_MARK = /^[ \t]*(?:[>*+-][ \t]+)?/;

/**
 * A part of what was said in a lifelog, in one line: its beginning or, with a query, the place with
 * most of its words. From the contents or, without any, from the Markdown.
 *
 * @returns At most 300 UTF-16 units, with `…` for what is left out; empty if nothing is said.
 */
export function excerptOf(lifelog: Lifelog, query = ''): string {
	const words = wordsOf(query);
	// Without a query, its beginning is enough: most lifelogs are long.
	const said = joined(saidIn(lifelog), words.length > 0 ? Infinity : MAX_EXCERPT_LENGTH);
	if (said.length <= MAX_EXCERPT_LENGTH) return said;
	const from = startOf(said, bestPlace(said, words));
	const rest = said.slice(from);
	const before = from > 0 ? LEFT_OUT : '';
	const room = MAX_EXCERPT_LENGTH - before.length;
	if (rest.length <= room) return before + rest;
	return before + beginning(rest, room - LEFT_OUT.length).trimEnd() + LEFT_OUT;
}

/** Lines in one, up to the line with which it is longer than `maxLength`. */
function joined(lines: Iterable<unknown>, maxLength: number): string {
	let text = '';
	for (const line of lines) {
		const more = oneLine(line);
		if (more !== '') text += text === '' ? more : ` ${more}`;
		if (text.length > maxLength) break;
	}
	return text;
}

function* saidIn(lifelog: Lifelog): Generator<unknown> {
	const spoken = utterances(lifelog);
	for (const utterance of spoken) yield transcriptText([utterance]);
	if (spoken.length > 0) return;
	const others = [...contentNodes(lifelog.contents)]
		.filter(({ type }) => typeof type !== 'string' || !type.startsWith('heading'))
		.map(({ content }) => content);
	if (others.some((content) => oneLine(content) !== '')) yield* others;
	else yield* linesOfMarkdown(lifelog.markdown);
}

function* linesOfMarkdown(markdown: unknown): Generator<string> {
	if (typeof markdown !== 'string') return;
	for (const [line] of markdown.matchAll(/[^\r\n]+/g)) {
		if (!ANY_HEADING.test(line)) yield line.replace(LINE_MARK, '');
	}
}

function wordsOf(query: string): string[] {
	if (query === '') return [];
	// A longer text isn't a query.
	const segments = WORD_SEGMENTER.segment(query.slice(0, 1000));
	const words = [...segments]
		.filter(({ segment, isWordLike }) => isWordLike && !OPERATORS.has(segment))
		.map(({ segment }) => lowerCase(segment));
	const longer = words.filter((word) => !isShort(word));
	return [...new Set(longer.length > 0 ? longer : words)].slice(0, MAX_WORDS);
}

function isShort(word: string): boolean {
	return word.length < MIN_WORD_LENGTH && !UNSPACED.test(word);
}

/**
 * The index at which an excerpt has most words of a query; 0 if it has none. Frequent words weigh
 * less, so that no language needs a list of words without meaning.
 */
function bestPlace(text: string, words: string[]): number {
	if (words.length === 0) return 0;
	const lower = lowerCase(text);
	const found = words.flatMap((word) => {
		const places = placesOf(lower, word);
		return places.map((at) => ({ at, word, weight: 1 / places.length }));
	});
	found.sort((a, b) => a.at - b.at);
	const room = MAX_EXCERPT_LENGTH - LEAD_LENGTH;
	let best = { at: 0, weight: 0 };
	for (const [index, { at }] of found.entries()) {
		const seen = new Map<string, number>();
		for (let next = index; next < found.length && found[next].at < at + room; next++) {
			seen.set(found[next].word, found[next].weight);
		}
		const weight = [...seen.values()].reduce((sum, each) => sum + each, 0);
		if (weight > best.weight) best = { at, weight };
	}
	return best.at;
}

/** Lower case of the same length, so that indexes stay valid. */
function lowerCase(text: string): string {
	// The only letter whose lower case is longer.
	return text.replaceAll('İ', 'I').toLowerCase();
}

function placesOf(text: string, word: string): number[] {
	const isAnywhere = UNSPACED.test(word);
	const places: number[] = [];
	for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
		if (places.length === MAX_PLACES) break;
		const begins = isAnywhere || at === 0 || !LETTER.test(text[at - 1]);
		// Many longer words begin with a short one.
		const ends = !isShort(word) || !LETTER.test(text.charAt(at + word.length));
		if (begins && ends) places.push(at);
	}
	return places;
}

/** The beginning of a sentence shortly before a place, else of a word; 0 if that is near. */
function startOf(text: string, place: number): number {
	if (place <= LEAD_LENGTH) return 0;
	const lead = text.slice(place - LEAD_LENGTH, place);
	const sentence = Math.max(...['. ', '? ', '! '].map((end) => lead.lastIndexOf(end)));
	const cut = sentence >= 0 ? sentence + 2 : lead.indexOf(' ') + 1;
	return cut > 0 ? place - LEAD_LENGTH + cut : place;
}
