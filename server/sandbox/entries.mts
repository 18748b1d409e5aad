import { comparePositions, type Position, type Slice } from '../index/store.mts';

/** Entries by id, listed in order of time and id. */
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

	/** The entries of the slice for which `isWanted` holds. */
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

/**
 * The place of the first entry for which something holds that holds for all behind it, too. A page
 * of a long list must not take longer than one of a short list.
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
