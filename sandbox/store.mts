import { comparePositions, type Position } from './cursors.mts';

/** Entries by id, listed in order of time and id. */
export class Store<Entry extends { id: string }> {
	readonly #entries = new Map<string, Entry>();
	readonly #position: (entry: Entry) => Position;
	#sorted: Entry[] | undefined;

	constructor(position: (entry: Entry) => Position) {
		this.#position = position;
	}

	/** All entries, ascending. */
	list(): Entry[] {
		this.#sorted ??= [...this.#entries.values()].sort((a, b) =>
			comparePositions(this.#position(a), this.#position(b)),
		);
		return this.#sorted;
	}

	/** The entry with this id, if there is one. */
	get(id: string): Entry | undefined {
		return this.#entries.get(id);
	}

	/** Adds an entry or replaces the one with its id. */
	put(entry: Entry): void {
		this.#entries.set(entry.id, entry);
		this.#sorted = undefined;
	}

	/** Removes an entry; false when there is none. */
	delete(id: string): boolean {
		this.#sorted = undefined;
		return this.#entries.delete(id);
	}

	/** Removes all entries. */
	clear(): void {
		this.#entries.clear();
		this.#sorted = undefined;
	}
}
