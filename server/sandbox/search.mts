import { DatabaseSync } from 'node:sqlite';
import type { Lifelog } from '../../lifelog/api.ts';
import { IndexDatabase } from '../index/database.mts';
import { SearchIndex } from '../index/search.mts';
import type { LifelogFilter } from '../index/store.mts';

/** The server's search, for lifelogs in memory. */
export class Search {
	readonly #db = new IndexDatabase(new DatabaseSync(':memory:'));
	readonly #index = new SearchIndex(this.#db);
	// Indexing a month takes a moment, so it is delayed until the first search.
	readonly #pending = new Map<string, Lifelog>();

	/** Adds a lifelog, or replaces the one with its ID. */
	put(lifelog: Lifelog): void {
		this.#pending.set(lifelog.id, lifelog);
	}

	/** Removes a lifelog if it exists. */
	delete(id: string): void {
		this.#pending.delete(id);
		this.#index.delete(id);
	}

	/** Removes all lifelogs. */
	clear(): void {
		this.#pending.clear();
		this.#index.clear();
	}

	/** IDs of the best `limit` matches, best first. */
	find(query: string, filter: LifelogFilter, limit: number): string[] {
		this.#db.exec('BEGIN');
		for (const lifelog of this.#pending.values()) this.#index.put(lifelog);
		this.#db.exec('COMMIT');
		this.#pending.clear();
		return this.#index.search(query, filter, limit);
	}
}
