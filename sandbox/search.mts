import MiniSearch, { type Query } from 'minisearch';
import type { ContentNode, Lifelog } from '../nodes/shared/api-types.ts';

const stopWords = new Set(
	`a about an and any are as at be by can did do does for from had has have how i in is it me my
	of on or our say said tell that the their them they this to us was we were what when where
	which who why with you your`.split(/\s+/),
);

/** Full-text search over the titles and contents of lifelogs, best match first. */
export class SearchIndex {
	readonly #index = new MiniSearch({
		fields: ['title', 'text'],
		processTerm: (term) => {
			const word = term.toLowerCase();
			return stopWords.has(word) ? null : word;
		},
		searchOptions: {
			boost: { title: 2 },
			prefix: (term) => term.length > 3,
			fuzzy: (term) => (term.length > 5 ? 0.2 : false),
		},
	});
	// Indexing a month takes a moment, so it waits for the first search.
	readonly #pending = new Map<string, Lifelog>();

	/** Adds a lifelog or replaces the one with its id. */
	put(lifelog: Lifelog): void {
		this.delete(lifelog.id);
		this.#pending.set(lifelog.id, lifelog);
	}

	/** Removes a lifelog, if it is there. */
	delete(id: string): void {
		this.#pending.delete(id);
		if (this.#index.has(id)) this.#index.discard(id);
	}

	/** Removes all lifelogs. */
	clear(): void {
		this.#pending.clear();
		this.#index.removeAll();
	}

	/**
	 * Returns the ids that match, best first. Words joined by `OR` are alternatives; words
	 * joined by `AND` or by a space have to occur together, question words aside.
	 */
	search(query: string): string[] {
		for (const { id, title, contents } of this.#pending.values()) {
			this.#index.add({ id, title, text: contents.map(textOf).join('\n') });
		}
		this.#pending.clear();
		return this.#index.search(parseQuery(query)).map(({ id }) => id);
	}
}

function parseQuery(query: string): Query {
	return {
		combineWith: 'OR',
		queries: query
			.split(/\s+OR\s+/)
			.map((part) => ({ combineWith: 'AND', queries: [part.replaceAll(/\bAND\b/g, ' ')] })),
	};
}

function textOf({ content, children = [] }: ContentNode): string {
	return [content, ...children.map(textOf)].join('\n');
}
