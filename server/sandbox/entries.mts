import { comparePositions, type Position, type Slice } from '../index/store.mts';

/** Entries by ID, listed in order of time and ID. */
export class Entries<Entry extends { id: string }> {
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

	/** The entries of the slice that pass `isWanted`. */
	slice(
		{ direction, after, skip = 0, limit }: Slice,
		isWanted: (entry: Entry) => boolean,
	): Entry[] {
		const sorted = this.list();
		const step = direction === 'asc' ? 1 : -1;
		const isBehind = (entry: Entry) =>
			after === undefined || step * comparePositions(this.#position(entry), after) > 0;
		const from =
			step === 1 ? firstOf(sorted, isBehind) : firstOf(sorted, (entry) => !isBehind(entry)) - 1;
		const found: Entry[] = [];
		for (let at = from; at in sorted && found.length < skip + limit; at += step) {
			if (isWanted(sorted[at])) found.push(sorted[at]);
		}
		return found.slice(skip);
	}

	/** The entry with this ID, if any. */
	get(id: string): Entry | undefined {
		return this.#entries.get(id);
	}

	/** Adds an entry, or replaces the one with its ID. */
	put(entry: Entry): void {
		this.#entries.set(entry.id, entry);
		this.#sorted = undefined;
	}

	/** Removes an entry; false if it doesn't exist. */
	delete(id: string): boolean {
		this.#sorted = undefined;
		return this.#entries.delete(id);
	}

	clear(): void {
		this.#entries.clear();
		this.#sorted = undefined;
	}
}

/**
 * The index of the first entry for which `holds` is true; it must also be true for all later ones.
 * Binary search, so that pages of long lists aren't slower.
 */
function firstOf<Entry>(entries: Entry[], holds: (entry: Entry) => boolean): number {
	let [low, high] = [0, entries.length];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		if (holds(entries[middle])) high = middle;
		else low = middle + 1;
	}
	return low;
}
