import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { distance } from 'fastest-levenshtein';
import type { ContentNode, Lifelog } from '../../nodes/shared/api-types.ts';
import type { LifelogFilter } from './store.mts';

const stopWords = new Set(
	`a about an and any are as at be by can did do does for from had has have how i in is it me my
	of on or our say said tell that the their them they this to us was we were what when where
	which who why with you your`.split(/\s+/),
);

// A search is an expression that SQLite takes apart; a whole document pasted into one is not.
const mostWords = 64;
const mostCorrections = 8;
// BM25 looks into every match. Words that so many lifelogs have tell next to nothing of them.
const mostRanked = 5_000;

/**
 * Full-text search over the titles and contents of lifelogs, kept in tables of its own in a
 * database of SQLite with FTS5. It ranks by BM25, a title counting twice.
 */
export class SearchIndex {
	readonly #db: DatabaseSync;
	/** The words there are, by length; undefined once they are no longer all. */
	#words: Map<number, string[]> | undefined;
	readonly #statements = new Map<string, StatementSync>();

	constructor(db: DatabaseSync) {
		this.#db = db;
		db.exec(`
			CREATE TABLE IF NOT EXISTS document (
				number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
				time TEXT NOT NULL, starred INTEGER NOT NULL
			);
			CREATE VIRTUAL TABLE IF NOT EXISTS document_text USING fts5 (
				title, text, content = '', contentless_delete = 1,
				tokenize = 'unicode61 remove_diacritics 2'
			);
			CREATE VIRTUAL TABLE IF NOT EXISTS document_word USING fts5vocab (document_text, 'row');
		`);
	}

	/** Adds a lifelog or replaces the one with its id, by another number. */
	put({ id, title, contents, startTime, isStarred }: Lifelog): void {
		this.delete(id);
		const { lastInsertRowid } = this.#statement(
			'INSERT INTO document (id, time, starred) VALUES (?, ?, ?)',
		).run(id, startTime, Number(isStarred));
		this.#statement('INSERT INTO document_text (rowid, title, text) VALUES (?, ?, ?)').run(
			lastInsertRowid,
			plain(title),
			plain(contents.map(textOf).join('\n')),
		);
		this.#words = undefined;
	}

	/** Removes a lifelog, if it is there. */
	delete(id: string): void {
		const found = this.#statement('SELECT number FROM document WHERE id = ?').get(id);
		if (!found) return;
		this.#statement('DELETE FROM document_text WHERE rowid = ?').run(found.number);
		this.#statement('DELETE FROM document WHERE number = ?').run(found.number);
		this.#words = undefined;
	}

	/** Removes all lifelogs. */
	clear(): void {
		this.#db.exec(`
			DELETE FROM document;
			INSERT INTO document_text (document_text) VALUES ('delete-all');
		`);
		this.#words = undefined;
	}

	/**
	 * Returns the ids of the best `limit` matches, best first. Words joined by `OR` are
	 * alternatives; words joined by `AND` or by a space have to occur together, question words
	 * aside; words in quotation marks have to stand so. Beginnings of words match, and a word that
	 * stands nowhere is taken for those that are spelt almost like it. Of more matches than can be
	 * ranked in a moment those in titles are, and those that were put in last.
	 */
	search(query: string, filter: LifelogFilter, limit: number): string[] {
		const expression = this.#expressionOf(query);
		if (expression === undefined) return [];
		const { from, before, isStarred } = filter;
		const matches = `FROM document_text JOIN document ON number = document_text.rowid
			WHERE document_text MATCH :expression
			${from === undefined ? '' : 'AND time >= :from'}
			${before === undefined ? '' : 'AND time < :before'}
			${isStarred === undefined ? '' : 'AND starred = :starred'}`;
		const values = {
			expression,
			...(from !== undefined && { from }),
			...(before !== undefined && { before }),
			...(isStarred !== undefined && { starred: Number(isStarred) }),
		};
		const first = this.#statement(
			`SELECT number ${matches} ORDER BY document_text.rowid DESC LIMIT 1 OFFSET :most`,
		).get({ ...values, most: mostRanked - 1 });
		const ranked = first
			? `AND (document_text.rowid >= :first OR document_text.rowid IN
				(SELECT rowid FROM document_text WHERE document_text MATCH :titled LIMIT :most))`
			: '';
		const rows = this.#statement(
			`SELECT id ${matches} ${ranked}
			ORDER BY bm25(document_text, 2.0, 1.0), time DESC, id LIMIT :limit`,
		).all({
			...values,
			limit,
			...(first && { first: first.number, titled: `{title} : (${expression})`, most: mostRanked }),
		});
		return rows.map(({ id }) => String(id));
	}

	/** A query in FTS5's own language; undefined when it asks for nothing. */
	#expressionOf(query: string): string | undefined {
		const alternatives: string[][] = [[]];
		const parts = [...query.matchAll(/"([^"]*)"?|[^\s"]+/g)].slice(0, mostWords);
		for (const [word, phrase] of parts) {
			if (word === 'OR') alternatives.push([]);
			else if (phrase !== undefined) alternatives.at(-1)!.push(...quote(termsOf(phrase)));
			else if (word !== 'AND') alternatives.at(-1)!.push(...this.#matching(word));
		}
		const wanted = alternatives.filter((terms) => terms.length > 0);
		if (wanted.length === 0) return undefined;
		return wanted.map((terms) => `(${terms.join(' AND ')})`).join(' OR ');
	}

	#matching(word: string): string[] {
		const terms = termsOf(word);
		// "don't" and "follow-up" are several words to the index.
		if (terms.length !== 1) return quote(terms);
		const [term] = terms;
		if (stopWords.has(term)) return [];
		if (!this.#isBeginning(term)) {
			const similar = this.#similarTo(term);
			return similar.length === 0
				? quote(terms)
				: [`(${similar.flatMap((s) => quote([s])).join(' OR ')})`];
		}
		return term.length > 3 ? [`(${quote(terms)} OR ${quote(terms)} *)`] : quote(terms);
	}

	#isBeginning(term: string): boolean {
		const next = `${term}\u{10ffff}`;
		const found = this.#statement(
			'SELECT 1 FROM document_word WHERE term >= ? AND term < ? LIMIT 1',
		).get(term, next);
		return found !== undefined;
	}

	/** The words that become `term` by one change, or two where it is long; the nearest first. */
	#similarTo(term: string): string[] {
		if (term.length < 6) return [];
		const most = Math.round(term.length / 5);
		const near: { word: string; changes: number }[] = [];
		for (let length = term.length - most; length <= term.length + most; length += 1) {
			for (const word of this.#wordsOf(length)) {
				const changes = distance(term, word);
				if (changes <= most) near.push({ word, changes });
			}
		}
		near.sort((a, b) => a.changes - b.changes || (a.word < b.word ? -1 : 1));
		return near.slice(0, mostCorrections).map(({ word }) => word);
	}

	#wordsOf(length: number): string[] {
		if (!this.#words) {
			this.#words = new Map();
			for (const row of this.#db.prepare('SELECT term FROM document_word').iterate()) {
				const word = String(row.term);
				const same = this.#words.get(word.length);
				if (same) same.push(word);
				else this.#words.set(word.length, [word]);
			}
		}
		return this.#words.get(length) ?? [];
	}

	#statement(sql: string): StatementSync {
		let statement = this.#statements.get(sql);
		if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
		return statement;
	}
}

/** The words of a text as the index has them. */
function termsOf(text: string): string[] {
	return plain(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

/**
 * A text in small letters, without accents. SQLite does that to Latin letters alone, and takes the
 * marks of other scripts for ends of words: so it is given both texts and searches like this.
 */
function plain(text: string): string {
	return text
		.replaceAll(/[^\0-\x7f]+/g, withoutAccents)
		.toLowerCase()
		.replaceAll('ς', 'σ');
}

const withoutAccents = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '');

function quote(terms: string[]): string[] {
	return terms.length === 0 ? [] : [`"${terms.join(' ')}"`];
}

function textOf({ content, children = [] }: ContentNode): string {
	return [content, ...children.map(textOf)].join('\n');
}
