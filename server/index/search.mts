import { distance } from 'fastest-levenshtein';
import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes } from '../../lifelog/contents.ts';
import { ApiError } from '../util/errors.mts';
import {
	type Condition,
	conditionsOf,
	numbersOfText,
	numbersOfVoices,
	type VoicedCondition,
} from './conditions.mts';
import type { IndexDatabase } from './database.mts';
import type { IndexFilter } from './store.mts';
import { partlyMatching } from './partly.mts';
import { Voices } from './voices.mts';
import { partsOf, plain, stopWords, wordsIn } from './words.mts';

// The cost of a search grows with its words and the lifelogs that have them. These limits keep the
// most expensive search below 300 ms of CPU at 50,000 lifelogs.
const MAX_CHARACTERS = 1_000;
const MAX_WORDS = 32;
/** If there are more matches, only the newest are ranked. A word with more lifelogs counts as frequent. */
const MAX_RANKED = 2_500;
/** Maximum frequent words to search for. Further ones are ignored like question words. */
const MAX_FREQUENT = 8;
/** Maximum frequent words in phrases without a rarer word. */
const MAX_FREQUENT_IN_PHRASES = 4;
/** Maximum words for ranking: rare ones, or else frequent ones. */
const MAX_RANKED_BY = { rare: 32, frequent: 4 };
/** Maximum words per search that also match longer forms and are corrected. */
const MAX_BEGINNINGS = 8;
const MAX_CORRECTED = 4;
/** Maximum forms of one word: longer ones if very many lifelogs have these, or similar ones. */
const MAX_FORMS = 8;

/**
 * Throws an ApiError (400) for a search with too many words or characters. Quoted words and both
 * parts of a hyphenated word count; OR and AND don't.
 */
export function checkSearch(search: string): void {
	const parts = partsOf(search.slice(0, 100 * MAX_CHARACTERS));
	const words = parts.reduce((sum, { terms }) => sum + terms.length, 0);
	if (words > MAX_WORDS) {
		throw new ApiError(
			400,
			`search has ${words.toLocaleString('en')} words, more than ${MAX_WORDS}: search for the words that matter most`,
		);
	}
	if (search.length > MAX_CHARACTERS) {
		throw new ApiError(
			400,
			`search has more than ${MAX_CHARACTERS.toLocaleString('en')} characters: search for fewer words`,
		);
	}
}

/**
 * Full-text search in titles and contents of lifelogs, in its own tables with SQLite FTS5. Ranks by
 * BM25; the title has double weight.
 */
export class SearchIndex {
	readonly #db: IndexDatabase;
	/** Speakers of the lifelogs. */
	readonly voices: Voices;
	/**
	 * All words by length, as in the table `word`; undefined until needed. FTS5's own list would read
	 * its whole index each time, which takes seconds for a large archive.
	 */
	#words: Map<number, Set<string>> | undefined;
	/** Words of removed lifelogs that may no longer occur. */
	readonly #removed = new Set<string>();

	constructor(db: IndexDatabase) {
		this.#db = db;
		db.exec(`
			CREATE TABLE IF NOT EXISTS document (
				number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
				time TEXT NOT NULL, starred INTEGER NOT NULL
			);
			CREATE VIRTUAL TABLE IF NOT EXISTS document_text USING fts5 (
				title, text, tokenize = 'unicode61 remove_diacritics 2'
			);
			INSERT INTO document_text (document_text, rank) VALUES ('secure-delete', 1);
			CREATE VIRTUAL TABLE IF NOT EXISTS document_word USING fts5vocab (document_text, 'row');
			CREATE TABLE IF NOT EXISTS word (term TEXT PRIMARY KEY) WITHOUT ROWID;
		`);
		this.voices = new Voices(db);
	}

	/** Adds a lifelog, or replaces the one with its ID under a new number. */
	put(lifelog: Lifelog): void {
		const { id, title, contents, startTime, isStarred } = lifelog;
		this.delete(id);
		const number = this.#db.run(
			'INSERT INTO document (id, time, starred) VALUES (?, ?, ?)',
			id,
			startTime,
			Number(isStarred),
		);
		this.voices.put(number, lifelog);
		const texts = [
			plain(title),
			plain([...contentNodes(contents)].map(({ content }) => content).join('\n')),
		];
		this.#db.run(
			'INSERT INTO document_text (rowid, title, text) VALUES (?, ?, ?)',
			number,
			...texts,
		);
		for (const term of texts.flatMap(wordsIn)) {
			this.#removed.delete(term);
			if (!this.#hasWord(term)) this.#addWord(term);
		}
	}

	/** Removes a lifelog if it exists. */
	delete(id: string): void {
		const found = this.#db.get(
			'SELECT number, title, text FROM document JOIN document_text ON number = document_text.rowid WHERE id = ?',
			id,
		);
		if (!found) return;
		for (const text of [found.title, found.text]) {
			for (const term of wordsIn(String(text))) this.#removed.add(term);
		}
		this.voices.delete(Number(found.number));
		this.#db.run('DELETE FROM document_text WHERE rowid = ?', found.number);
		this.#db.run('DELETE FROM document WHERE number = ?', found.number);
	}

	/** The next lifelogs after a number, with their text normalized by `plain`. */
	textsAfter(number: number, limit: number): { number: number; id: string; text: string }[] {
		const rows = this.#db.all(
			`SELECT number, id, text FROM document JOIN document_text ON number = document_text.rowid
			WHERE number > ? ORDER BY number LIMIT ?`,
			number,
			limit,
		);
		return rows.map((row) => ({
			...{ number: Number(row.number), id: String(row.id), text: String(row.text) },
		}));
	}

	/** Removes all lifelogs. */
	clear(): void {
		this.#db.exec(
			'DELETE FROM spoken; DELETE FROM voice; DELETE FROM document; DELETE FROM document_text; DELETE FROM word',
		);
		this.invalidate();
	}

	/** Removes words that no longer occur. Call it before committing. */
	settle(): void {
		for (const term of this.#removed) {
			if (this.#isIn(quoted([term]), 1)) continue;
			this.#db.run('DELETE FROM word WHERE term = ?', term);
			this.#words?.get(term.length)?.delete(term);
		}
		this.#removed.clear();
	}

	/** Discards cached data after a rollback. */
	invalidate(): void {
		this.#words = undefined;
		this.#removed.clear();
	}

	/**
	 * Returns the IDs of the best `limit` matches, best first. `OR` separates alternatives. Words
	 * joined by `AND` or a space must all occur, except question words. Quoted words must be
	 * consecutive. Beginnings of words match, and an unknown word also matches similar ones. If there
	 * are too many matches to rank quickly, those in titles and the latest are ranked.
	 *
	 * @param query Allowed by `checkSearch`.
	 */
	search(query: string, filter: IndexFilter, limit: number): string[] {
		this.settle();
		const alternatives = this.#alternativesOf(query);
		if (alternatives.length === 0) return [];
		const matches = joined(alternatives);
		const newest = this.#matching(matches, filter);
		if (newest.length === 0) return [];
		// Reading all positions of a phrase of frequent words twice would take too long.
		const hasTitles = newest.length === MAX_RANKED && !alternatives.flat().some(isFrequentPhrase);
		const titled = hasTitles ? this.#matching(`{title} : (${matches})`, filter) : [];
		const wanted = [...new Set([...newest, ...titled])];
		const ranked = this.#rank(rankedBy(alternatives), wanted, limit);
		if (ranked.length === Math.min(limit, wanted.length)) return ranked;
		const rest = this.#db.all(
			`SELECT id FROM document WHERE number IN (SELECT value FROM json_each(?))
			ORDER BY time DESC, id LIMIT ?`,
			JSON.stringify(wanted),
			limit,
		);
		return [...new Set([...ranked, ...rest.map(({ id }) => String(id))])].slice(0, limit);
	}

	/**
	 * Returns the IDs of the newest `limit` lifelogs in which people named in a search speak. The
	 * rest of the search must match.
	 *
	 * @param query Allowed by `checkSearch`.
	 * @param voicesOf Voices of the people that a word or phrase names.
	 */
	spoken(
		query: string,
		filter: IndexFilter,
		limit: number,
		voicesOf: (terms: string[]) => number[],
	): string[] {
		const isNamed = ({ terms }: { terms: string[] }) =>
			terms.length > 0 && voicesOf(terms).length > 0;
		if (!partsOf(query).some(isNamed)) return [];
		const alternatives = this.#voiced(query, voicesOf);
		const named = alternatives.filter((all) => all.some(({ voices }) => voices.length > 0));
		if (named.length === 0) return [];
		const numbers = named.flatMap((conditions) => this.#spokenIn(conditions));
		const filters = conditionsOf(filter);
		const rows = this.#db.all(
			`SELECT id FROM document WHERE number IN (SELECT value FROM json_each(?))
			${filters.map(([condition]) => `AND ${condition}`).join(' ')}
			ORDER BY time DESC, id LIMIT ?`,
			JSON.stringify(numbers),
			...filters.map(([, value]) => value),
			limit,
		);
		return rows.map(({ id }) => String(id));
	}

	/**
	 * Returns the IDs of up to `limit` lifelogs that have some words of a search, but not all. Those
	 * with most words come first.
	 *
	 * @param query Allowed by `checkSearch`.
	 * @param voicesOf Voices of the people that a word or phrase names.
	 */
	partly(
		query: string,
		filter: IndexFilter,
		limit: number,
		voicesOf: (terms: string[]) => number[],
	): string[] {
		this.settle();
		const alternatives = this.#voiced(query, voicesOf).filter(({ length }) => length > 1);
		return partlyMatching(this.#db, alternatives, filter, limit);
	}

	/** The search with similar words instead of unknown ones; undefined without such words. */
	corrected(query: string): string | undefined {
		this.settle();
		const other = query.replaceAll(/[\p{L}\p{M}]{4,}/gu, (word) => {
			const term = plain(word);
			if (stopWords.has(term) || this.#isBeginning(term)) return word;
			return this.#swapped(term) ?? this.#similarTo(term, 1)[0] ?? word;
		});
		return other === query ? undefined : other;
	}

	/** A known word that differs from `term` by two swapped neighboring letters. */
	#swapped(term: string): string | undefined {
		const swaps = Array.from(
			{ length: term.length - 1 },
			(_, at) => term.slice(0, at) + term[at + 1] + term[at] + term.slice(at + 2),
		);
		return swaps.find((each) => this.#hasWord(each));
	}

	/** The conditions of a search, with the people it names. */
	#voiced(query: string, voicesOf: (terms: string[]) => number[]): VoicedCondition[][] {
		return this.#alternativesOf(query).map((conditions) =>
			conditions.map((condition) => ({ ...condition, voices: voicesOf(condition.terms) })),
		);
	}

	/** Numbers of the lifelogs that meet all conditions, and in which one of the voices speaks. */
	#spokenIn(conditions: VoicedCondition[]): number[] {
		const heard = new Set<number>();
		let common: Set<number> | undefined;
		for (const condition of conditions) {
			const spoken = numbersOfVoices(this.#db, condition.voices);
			for (const number of spoken) heard.add(number);
			const all = new Set([...spoken, ...numbersOfText(this.#db, condition)]);
			common = common ? both(common, all) : all;
		}
		return [...both(heard, common!)];
	}

	/** IDs of lifelogs that pass a filter, newest first, without the first `skip`. */
	list(filter: IndexFilter, skip: number, limit: number): string[] {
		const filters = conditionsOf(filter);
		const rows = this.#db.all(
			`SELECT id FROM document
			WHERE ${['true', ...filters.map(([condition]) => condition)].join(' AND ')}
			ORDER BY time DESC, id LIMIT ? OFFSET ?`,
			...filters.map(([, value]) => value),
			limit,
			skip,
		);
		return rows.map(({ id }) => String(id));
	}

	/** Numbers of matching lifelogs, the latest first; limited if there are very many. */
	#matching(expression: string, filter: IndexFilter): number[] {
		const filters = conditionsOf(filter);
		const row = this.#db.get(
			`SELECT json_group_array(found) AS numbers FROM (
				SELECT document_text.rowid AS found FROM document_text
				${filters.length > 0 ? 'CROSS JOIN document ON number = document_text.rowid' : ''}
				WHERE document_text MATCH ? ${filters.map(([condition]) => `AND ${condition}`).join(' ')}
				ORDER BY document_text.rowid DESC LIMIT ${MAX_RANKED}
			)`,
			expression,
			...filters.map(([, value]) => value),
		);
		return this.#db.parse(row?.numbers) as number[];
	}

	/** IDs of the best of these lifelogs by rank. */
	#rank(expression: string | undefined, wanted: number[], limit: number): string[] {
		if (expression === undefined) return [];
		// The plus makes SQLite compare each match with the list, instead of searching for each number.
		const rows = this.#db.all(
			`SELECT id FROM document_text CROSS JOIN document ON number = document_text.rowid
			WHERE document_text MATCH ? AND document_text.rowid >= ?
				AND +document_text.rowid IN (SELECT value FROM json_each(?))
			ORDER BY bm25(document_text, 2.0, 1.0), time DESC, id LIMIT ?`,
			expression,
			wanted.reduce((min, number) => Math.min(min, number)),
			JSON.stringify(wanted),
			limit,
		);
		return rows.map(({ id }) => String(id));
	}

	/** Alternatives of a search, each a list of conditions that must all match. */
	#alternativesOf(query: string): Condition[][] {
		const alternatives: Condition[][] = [[]];
		const left = { beginnings: MAX_BEGINNINGS, corrections: MAX_CORRECTED };
		for (const { isOr, isQuoted, terms } of partsOf(query)) {
			if (isOr) alternatives.push([]);
			if (terms.length === 0) continue;
			// FTS5 splits "don't" and "follow-up" into several words.
			if (isQuoted || terms.length > 1) alternatives.at(-1)!.push(this.#phrase(terms));
			else if (!stopWords.has(terms[0])) alternatives.at(-1)!.push(this.#word(terms[0], left));
		}
		return affordable(alternatives);
	}

	#phrase(phrase: string[]): Condition {
		const isFrequent = [...new Set(phrase)].every((term) => this.#isFrequent(term));
		const words = phrase.length;
		return { expression: quoted(phrase), words, isFrequent, phrase, terms: phrase };
	}

	#word(term: string, left: { beginnings: number; corrections: number }): Condition {
		const isFrequent = this.#isFrequent(term);
		const only = { expression: quoted([term]), words: 1, isFrequent, terms: [term] };
		if (isFrequent) return only;
		if (!this.#isBeginning(term)) {
			if ((left.corrections -= 1) < 0) return only;
			const similar = term.length < 6 ? [] : this.#similarTo(term);
			return similar.length === 0 ? only : this.#anyOf(similar, term);
		}
		if (term.length < 4 || (left.beginnings -= 1) < 0) return only;
		const longer = this.#longerThan(term);
		if (longer) return this.#anyOf([term, ...longer], term);
		return {
			expression: `(${quoted([term])} OR ${quoted([term])} *)`,
			words: 2,
			isFrequent: false,
			terms: [term],
		};
	}

	#anyOf(words: string[], term: string): Condition {
		return {
			expression: `(${words.map((word) => quoted([word])).join(' OR ')})`,
			words: words.length,
			isFrequent: words.some((word) => this.#isFrequent(word)),
			terms: [term],
		};
	}

	#isFrequent(term: string): boolean {
		return this.#isIn(quoted([term]), MAX_RANKED + 1);
	}

	#isIn(expression: string, lifelogs: number): boolean {
		const found = this.#db.get(
			'SELECT 1 FROM document_text WHERE document_text MATCH ? LIMIT 1 OFFSET ?',
			expression,
			lifelogs - 1,
		);
		return found !== undefined;
	}

	#isBeginning(term: string): boolean {
		const found = this.#db.get(
			'SELECT 1 FROM word WHERE term >= ? AND term < ? LIMIT 1',
			term,
			after(term),
		);
		return found !== undefined;
	}

	/** The most frequent words with this beginning, if all of them would be very many. */
	#longerThan(term: string): string[] | undefined {
		const longer: { word: string; lifelogs: number }[] = [];
		let lifelogs = 0;
		this.#db.each(
			'SELECT term, doc FROM document_word WHERE term > ? AND term < ?',
			[term, after(term)],
			(row) => {
				longer.push({ word: String(row.term), lifelogs: Number(row.doc) });
				lifelogs += Number(row.doc);
			},
		);
		if (lifelogs <= MAX_RANKED) return undefined;
		longer.sort((a, b) => b.lifelogs - a.lifelogs);
		return longer.slice(0, MAX_FORMS - 1).map(({ word }) => word);
	}

	/** Words that differ from `term` by one change, or two if it is long; the nearest first. */
	#similarTo(term: string, maxChanges = Math.round(term.length / 5)): string[] {
		const near: { word: string; changes: number }[] = [];
		for (let length = term.length - maxChanges; length <= term.length + maxChanges; length += 1) {
			for (const word of this.#allWords().get(length) ?? []) {
				const changes = distance(term, word);
				if (changes <= maxChanges) near.push({ word, changes });
			}
		}
		near.sort((a, b) => a.changes - b.changes || (a.word < b.word ? -1 : 1));
		return near.slice(0, MAX_FORMS).map(({ word }) => word);
	}

	#allWords(): Map<number, Set<string>> {
		if (!this.#words) {
			this.#words = new Map();
			for (const { term } of this.#db.all('SELECT term FROM word')) this.#keepWord(String(term));
		}
		return this.#words;
	}

	#hasWord(term: string): boolean {
		return this.#allWords().get(term.length)?.has(term) === true;
	}

	#addWord(term: string): void {
		this.#db.run('INSERT OR IGNORE INTO word (term) VALUES (?)', term);
		this.#keepWord(term);
	}

	#keepWord(term: string): void {
		const same = this.#words!.get(term.length);
		if (same) same.add(term);
		else this.#words!.set(term.length, new Set([term]));
	}
}

const both = (one: Set<number>, other: Set<number>) =>
	new Set([...one].filter((number) => other.has(number)));

/** The conditions as one FTS5 expression. */
function joined(alternatives: Condition[][]): string {
	return alternatives
		.map((conditions) => `(${conditions.map(({ expression }) => expression).join(' AND ')})`)
		.join(' OR ');
}

const isFrequentPhrase = ({ isFrequent, phrase }: Condition) => isFrequent && phrase !== undefined;

/** Drops expensive parts: frequent words after the first ones. */
function affordable(alternatives: Condition[][]): Condition[][] {
	const left = { words: MAX_FREQUENT, inPhrases: MAX_FREQUENT_IN_PHRASES };
	const kept = alternatives.map((conditions) => {
		const hasRare = conditions.some(({ isFrequent }) => !isFrequent);
		return conditions.flatMap((condition): Condition[] => {
			const { isFrequent, words, phrase } = condition;
			if (!isFrequent || (phrase && hasRare)) return [condition];
			if (!phrase) return (left.words -= words) >= 0 ? [condition] : [];
			const some = phrase.slice(0, left.inPhrases);
			left.inPhrases -= some.length;
			return some.length === 0 ? [] : [{ ...condition, expression: quoted(some), phrase: some }];
		});
	});
	return kept.filter((conditions) => conditions.length > 0);
}

/**
 * Words for ranking: the rarer ones, or a few frequent ones if there are no others, because BM25
 * reads every position of a word in all lifelogs. undefined without words.
 */
function rankedBy(alternatives: Condition[][]): string | undefined {
	const left = { ...MAX_RANKED_BY };
	const ranked = alternatives.map((conditions) => {
		const rare = conditions.filter(({ isFrequent }) => !isFrequent);
		const best = rare.length > 0 ? rare : conditions.filter(({ phrase }) => !phrase);
		return best.filter(({ isFrequent, words }) => {
			const kind = isFrequent ? 'frequent' : 'rare';
			left[kind] -= words;
			return left[kind] > -words;
		});
	});
	const some = ranked.filter((conditions) => conditions.length > 0);
	return some.length === 0 ? undefined : joined(some);
}

/** Sorts after all words with this beginning. */
const after = (term: string) => `${term}\u{10ffff}`;

const quoted = (terms: string[]) => `"${terms.join(' ')}"`;
