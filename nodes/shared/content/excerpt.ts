import type { Lifelog } from '../api/apiTypes';
import { contentNodes, transcriptText, utterances } from './utterances';
import { beginning, oneLine } from '../util/text';

/** In UTF-16 units, with the marks of what is left out. */
export const MAX_EXCERPT_LENGTH = 300;
const LEFT_OUT = '…';
/** What is shown before the first word that was looked for. */
const LEAD = 60;
/** Of a query, so many words are looked for. */
const MAX_WORDS = 20;
/** Shorter ones are looked for where a query has no others. */
const SHORTEST_WORD = 3;
/** Of a word that is said more often than this, the first places will do. */
const MAX_PLACES = 500;
const OPERATORS = new Set(['AND', 'OR', 'NOT']);
const WORDS = new Intl.Segmenter('en', { granularity: 'word' });
const LETTER = /[\p{L}\p{N}]/u;
/** Scripts in which no blank stands between words, so that one may begin anywhere and be short. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/;
/** What Markdown puts before a line of a quotation or a list. */
const LINE_MARK = /^[ \t]*(?:[>*+-][ \t]+)?/;

/**
 * Some of what was said in a lifelog, in one line: its beginning or, where something was looked
 * for, the place where most of it stands. From the contents or, where none came, the Markdown.
 *
 * @param query What was looked for; words that stand nowhere are passed over.
 * @returns At most 300 UTF-16 units; `…` stands for what is left out. Empty where nothing is said.
 */
export function excerptOf(lifelog: Lifelog, query = ''): string {
	const said = whatWasSaid(lifelog);
	if (said.length <= MAX_EXCERPT_LENGTH) return said;
	const from = startOf(said, placeOf(said, wordsOf(query)));
	const rest = said.slice(from);
	const before = from > 0 ? LEFT_OUT : '';
	const room = MAX_EXCERPT_LENGTH - before.length;
	if (rest.length <= room) return before + rest;
	return before + beginning(rest, room - LEFT_OUT.length).trimEnd() + LEFT_OUT;
}

function whatWasSaid(lifelog: Lifelog): string {
	const spoken = oneLine(transcriptText(utterances(lifelog)));
	if (spoken !== '') return spoken;
	const others = [...contentNodes(lifelog.contents)]
		.filter(({ type }) => typeof type !== 'string' || !type.startsWith('heading'))
		.map(({ content }) => oneLine(content));
	return others.filter(Boolean).join(' ') || wordsOfMarkdown(lifelog.markdown);
}

function wordsOfMarkdown(markdown: unknown): string {
	if (typeof markdown !== 'string') return '';
	return markdown
		.split(/\r\n?|\n/)
		.filter((line) => !HEADING.test(line))
		.map((line) => oneLine(line.replace(LINE_MARK, '')))
		.filter(Boolean)
		.join(' ');
}

/** The words of a query in lower case, each once. */
function wordsOf(query: string): string[] {
	// A query is short; of a text that was given in its place the beginning will do.
	const segments = WORDS.segment(query.slice(0, 1000));
	const words = [...segments]
		.filter(({ segment, isWordLike }) => isWordLike && !OPERATORS.has(segment))
		.map(({ segment }) => lowerCase(segment));
	const longer = words.filter((word) => !isShort(word));
	return [...new Set(longer.length > 0 ? longer : words)].slice(0, MAX_WORDS);
}

function isShort(word: string): boolean {
	return word.length < SHORTEST_WORD && !UNSPACED.test(word);
}

/**
 * Where the excerpt has most of what was looked for. A word weighs the less the more often it is
 * said, so that no list of words without meaning is needed, in whatever language.
 *
 * @returns The index of a word; 0 where none stands in the text.
 */
function placeOf(text: string, words: string[]): number {
	const lower = lowerCase(text);
	const found = words.flatMap((word) => {
		const places = placesOf(lower, word);
		return places.map((at) => ({ at, word, weight: 1 / places.length }));
	});
	found.sort((a, b) => a.at - b.at);
	const room = MAX_EXCERPT_LENGTH - LEAD;
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

/** Lower case of the same length, so that places in it are places in the text. */
function lowerCase(text: string): string {
	// The one letter whose lower case is longer.
	return text.replaceAll('İ', 'I').toLowerCase();
}

function placesOf(text: string, word: string): number[] {
	const isAnywhere = UNSPACED.test(word);
	const places: number[] = [];
	for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
		if (places.length === MAX_PLACES) break;
		const begins = isAnywhere || at === 0 || !LETTER.test(text[at - 1]);
		// Too many longer words begin with a short one.
		const ends = !isShort(word) || !LETTER.test(text.charAt(at + word.length));
		if (begins && ends) places.push(at);
	}
	return places;
}

/** The beginning of a sentence shortly before a place, else of a word; 0 where it is near. */
function startOf(text: string, place: number): number {
	if (place <= LEAD) return 0;
	const lead = text.slice(place - LEAD, place);
	const sentence = Math.max(...['. ', '? ', '! '].map((end) => lead.lastIndexOf(end)));
	const cut = sentence >= 0 ? sentence + 2 : lead.indexOf(' ') + 1;
	return cut > 0 ? place - LEAD + cut : place;
}
