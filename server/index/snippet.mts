import { distance } from 'fastest-levenshtein';
import type { Lifelog } from '../../lifelog/api.ts';
import { linesOf } from '../../lifelog/contents.ts';
import { partsOf, plain, stopWords } from './words.mts';

/** A part of a text around matches of a search. */
export interface Snippet {
	/** At most 200 UTF-16 units, with `…` for omitted text. Broken surrogates are replaced. */
	text: string;
	/** Matches in `text`: UTF-16 positions, end exclusive, in order. */
	words: Range[];
}

type Range = [start: number, end: number];

const MAX_LENGTH = 200;
const LEFT_OUT = '…';
/** Maximum length to show before the first match. */
const MAX_LEAD = 60;
/** Maximum distance to move the end to a word boundary. */
const MAX_WORD = 30;
/** Maximum matches to consider per word. */
const MAX_PLACES = 200;
/** Maximum words to replace by similar ones, as in the index. */
const MAX_CORRECTED = 4;
/** A word as the index sees it, with accents and marks. */
const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu;

/** A line with its speaker and time. */
export interface SpokenLine {
	text: string;
	speaker?: string;
	startTime?: string | null;
}

/** The people that a search names. */
export interface Named {
	names: Set<string>;
	/** The rest of the search. */
	rest: string;
}

/**
 * The lines to take a snippet from: those of the named people if they match the rest of the search,
 * otherwise all.
 */
export function linesFor(lines: SpokenLine[], named?: Named): SpokenLine[] {
	const theirs = lines.filter(({ speaker = '' }) => named?.names.has(speaker));
	if (!named || theirs.length === 0) return lines;
	const said = theirs.map(({ text }) => text).join('\n');
	return named.rest === '' || snippetOf(said, named.rest).words.length > 0 ? theirs : lines;
}

/**
 * The utterances and headings of a lifelog without the title, line by line.
 *
 * @param shown How to write speakers; by default their names.
 */
export function spokenLines(
	{ title, contents }: Pick<Lifelog, 'title' | 'contents'>,
	shown?: Map<string, string>,
): SpokenLine[] {
	return linesOf(contents)
		.filter(({ level, node }) => level === undefined || node.content !== title)
		.map(({ text, speaker, node: { startTime } }) => ({
			text: speaker === undefined ? text : `${shown?.get(speaker) ?? speaker}: ${text}`,
			speaker,
			startTime,
		}));
}

/**
 * Finds the part of a text with the best matches: words, word beginnings of four or more letters,
 * phrases, and similar words for missing ones. Rare words count more.
 *
 * @param search Allowed by `checkSearch`.
 * @returns The beginning of the text if nothing matches.
 */
export function snippetOf(text: string, search: string): Snippet {
	const wellFormed = text.toWellFormed();
	const matches = matchesOf(wellFormed, search);
	const [start, end] = cutAround(wellFormed, bestOf(matches));
	const before = start > 0 ? LEFT_OUT : '';
	const after = end < wellFormed.length ? LEFT_OUT : '';
	const shift = before.length - start;
	const words = matches
		.flatMap((match) => match.words)
		.filter((word) => word[0] >= start && word[1] <= end)
		.sort(([a], [b]) => a - b)
		.map(([from, to]): Range => [from + shift, to + shift]);
	return { text: before + wellFormed.slice(start, end) + after, words: withoutRepeats(words) };
}

interface Token {
	term: string;
	start: number;
	end: number;
}

/** A match of one word or phrase. */
interface Match {
	start: number;
	end: number;
	words: Range[];
	/** Which word or phrase, and how rare it is in the text. */
	part: number;
	weight: number;
}

/** All matches of a search, by start. */
function matchesOf(text: string, search: string): Match[] {
	const tokens = tokensOf(text);
	const places = new Map<string, number[]>();
	for (const [at, { term }] of tokens.entries()) {
		const same = places.get(term);
		if (same) same.push(at);
		else places.set(term, [at]);
	}
	const terms = [...places];
	let corrected = 0;
	const matches = wantedIn(search).flatMap(([first, ...rest], part) => {
		let begins = places.get(first) ?? [];
		if (rest.length > 0) {
			begins = begins.filter((at) =>
				rest.every((term, nth) => tokens[at + nth + 1]?.term === term),
			);
		} else if (first.length >= 4) {
			begins = placesWhere(terms, (term) => term.startsWith(first));
			if (begins.length === 0 && first.length >= 6 && (corrected += 1) <= MAX_CORRECTED) {
				begins = placesWhere(terms, (term) => isSimilar(term, first));
			}
		}
		const found = begins.slice(0, MAX_PLACES);
		return found.map((at): Match => {
			const own = tokens.slice(at, at + rest.length + 1);
			return {
				start: own[0].start,
				end: own.at(-1)!.end,
				words: own.map(({ start, end }) => [start, end]),
				part,
				weight: 1 / found.length,
			};
		});
	});
	return matches.sort((a, b) => a.start - b.start);
}

/** The words and phrases of a search, without question words. */
function wantedIn(search: string): string[][] {
	const wanted = partsOf(search).filter(
		({ isQuoted, terms }) =>
			terms.length > 1 || (terms.length === 1 && (isQuoted || !stopWords.has(terms[0]))),
	);
	return wanted.map(({ terms }) => terms);
}

function tokensOf(text: string): Token[] {
	// A cache: most words of a text occur more than once.
	const known = new Map<string, string>();
	const tokens: Token[] = [];
	for (const { 0: word, index } of text.matchAll(WORD)) {
		let term = known.get(word);
		if (term === undefined) known.set(word, (term = plain(word)));
		if (term !== '') tokens.push({ term, start: index, end: index + word.length });
	}
	return tokens;
}

const placesWhere = (
	terms: Array<[term: string, at: number[]]>,
	isWanted: (term: string) => boolean,
) =>
	terms
		.filter(([term]) => isWanted(term))
		.flatMap(([, at]) => at)
		.sort((a, b) => a - b);

function isSimilar(term: string, word: string): boolean {
	const maxChanges = Math.round(word.length / 5);
	return Math.abs(term.length - word.length) <= maxChanges && distance(term, word) <= maxChanges;
}

/** The first match of the best part; undefined without matches. */
function bestOf(matches: Match[]): Match | undefined {
	let best: Match | undefined;
	let maxWeight = 0;
	for (const [index, match] of matches.entries()) {
		const parts = new Map<number, number>();
		for (let next = index; next < matches.length; next += 1) {
			if (matches[next].start > match.start + MAX_LENGTH - MAX_LEAD) break;
			parts.set(matches[next].part, matches[next].weight);
		}
		const weight = [...parts.values()].reduce((sum, each) => sum + each, 0);
		if (weight > maxWeight) [best, maxWeight] = [match, weight];
	}
	return best;
}

/** The range to show around a match; without one, from the beginning. */
function cutAround(text: string, match: Match | undefined): Range {
	if (text.length <= MAX_LENGTH) return [0, text.length];
	const start = match ? startBefore(text, match.start) : 0;
	const room = MAX_LENGTH - (start > 0 ? LEFT_OUT.length : 0);
	if (text.length - start <= room) return [start, text.length];
	return [start, endBefore(text, start + room - LEFT_OUT.length)];
}

/** The start of a line shortly before a position, else of a sentence, else of a word. */
function startBefore(text: string, place: number): number {
	if (place <= MAX_LEAD) return 0;
	const lead = text.slice(place - MAX_LEAD, place);
	for (const end of [/\n(?=[^\n]*$)/, /[.?!] (?=[^.?!]*$)/, /\s/]) {
		const found = end.exec(lead);
		if (found) return place - MAX_LEAD + found.index + found[0].length;
	}
	return place;
}

/** The end of a word shortly before a position. If there is none, avoids splitting a character. */
function endBefore(text: string, place: number): number {
	const tail = text.slice(place - MAX_WORD, place + 1);
	const blank = tail.search(/\s\S*$/);
	if (blank >= 0) return place - MAX_WORD + blank;
	let end = place;
	while (/^[\p{M}\u200d\udc00-\udfff]/u.test(text.slice(end, end + 1)) && end > place - MAX_WORD) {
		end -= 1;
	}
	return end;
}

const withoutRepeats = (words: Range[]) =>
	words.filter(([start], nth) => nth === 0 || start >= words[nth - 1][1]);
