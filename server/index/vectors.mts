import type { SQLOutputValue } from 'node:sqlite';
import type { IndexDatabase } from './database.mts';
import type { IndexFilter } from './store.mts';
import { hasVoice } from './voices.mts';

/** A lifelog that was indexed again since its vectors were made, or has none. */
export interface Outdated {
	id: string;
	/** Its number in the index. */
	document: number;
	/** Hash of the words behind its vectors. */
	hash?: string;
}

// Candidates to compare exactly, per result and at least.
const CANDIDATES_FOR_EACH = 10;
const MIN_CANDIDATES = 500;

/**
 * Vectors of lifelogs' passages, in a separate file attached to the index as `meaning`, with 8 bits
 * per number. Only their signs are in memory: 96 bytes for 768 numbers. The passages with the most
 * signs in common with a query are then compared by cosine similarity.
 */
export class Vectors {
	readonly #db: IndexDatabase;
	#dimensions = 0;
	/** 32-bit words of signs per passage. */
	#width = 0;
	#count = 0;
	#signs = new Uint32Array(0);
	/** Number and owner of each passage. The owner is a row of `meant`, or 0 if it was removed. */
	#numbers = new Uint32Array(0);
	#owners = new Uint32Array(0);
	readonly #free: number[] = [];

	constructor(db: IndexDatabase) {
		this.#db = db;
		db.exec(`
			CREATE TABLE IF NOT EXISTS meaning.model (name TEXT NOT NULL, dimensions INTEGER NOT NULL);
			CREATE TABLE IF NOT EXISTS meaning.meant (
				number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document INTEGER NOT NULL,
				hash TEXT NOT NULL
			);
			CREATE TABLE IF NOT EXISTS meaning.passage (
				number INTEGER PRIMARY KEY, owner INTEGER NOT NULL, signs BLOB NOT NULL
			);
			CREATE INDEX IF NOT EXISTS meaning.passage_owner ON passage (owner);
			CREATE TABLE IF NOT EXISTS meaning.passage_vector (number INTEGER PRIMARY KEY, vector BLOB NOT NULL);
		`);
	}

	/** Prepares for a model's vectors. Removes those of another model. */
	use(model: string, dimensions: number): void {
		// Also discards what a failed change left in memory.
		const [known] = this.#all('SELECT name, dimensions FROM model');
		if (known?.name !== model || known.dimensions !== dimensions) {
			this.#db.exec(`
				BEGIN IMMEDIATE;
				DELETE FROM model; DELETE FROM meant; DELETE FROM passage; DELETE FROM passage_vector;
				COMMIT;
			`);
			this.#all('INSERT INTO model (name, dimensions) VALUES (?, ?)', model, dimensions);
		}
		this.#dimensions = dimensions;
		this.#width = Math.ceil(dimensions / 32);
		this.#count = 0;
		this.#free.length = 0;
		const [{ passages }] = this.#all('SELECT count(*) AS passages FROM passage');
		this.#reserve(Number(passages));
		this.#db.each('SELECT number, owner, signs FROM passage', [], ({ number, owner, signs }) => {
			this.#keep(Number(number), Number(owner), wordsOf(this.#bytes(signs, 4 * this.#width)));
		});
	}

	/** Lifelogs that need vectors, newest first. */
	outdated(): Outdated[] {
		return this.#all(
			`SELECT document.id, document.number, meant.hash FROM document LEFT JOIN meant USING (id)
			WHERE meant.document IS NOT document.number ORDER BY time DESC`,
		).map(({ id, number, hash }) => ({
			id: String(id),
			document: Number(number),
			...(hash !== null && { hash: String(hash) }),
		}));
	}

	/** Removes vectors of lifelogs that aren't in the index, for example in a new one. */
	prune(): void {
		const gone = this.#all('SELECT id FROM meant WHERE id NOT IN (SELECT id FROM document)');
		for (const { id } of gone) this.delete(String(id));
	}

	/** Marks a lifelog's vectors as current. */
	confirm({ id, document }: Outdated): void {
		this.#all('UPDATE meant SET document = ? WHERE id = ?', document, id);
	}

	/** Replaces the vectors of a lifelog's passages. */
	put({ id, document }: Outdated, hash: string, vectors: Float32Array[]): void {
		this.delete(id);
		// The lifelog may have been deleted during the model's work.
		if (this.#all('SELECT 1 FROM document WHERE id = ?', id).length === 0) return;
		const [{ number: owner }] = this.#all(
			'INSERT INTO meant (id, document, hash) VALUES (?, ?, ?) RETURNING number',
			id,
			document,
			hash,
		);
		for (const vector of vectors) {
			const signs = signsOf(vector, this.#width);
			const [{ number }] = this.#all(
				'INSERT INTO passage (owner, signs) VALUES (?, ?) RETURNING number',
				Number(owner),
				new Uint8Array(signs.buffer),
			);
			this.#all(
				'INSERT INTO passage_vector (number, vector) VALUES (?, ?)',
				Number(number),
				new Uint8Array(inBytes(vector).buffer),
			);
			this.#keep(Number(number), Number(owner), signs);
		}
	}

	/** Removes the vectors of a lifelog. */
	delete(id: string): void {
		const [found] = this.#all('DELETE FROM meant WHERE id = ? RETURNING number', id);
		if (!found) return;
		const gone = this.#all('SELECT number FROM passage WHERE owner = ?', Number(found.number));
		for (const { number } of gone) {
			this.#all('DELETE FROM passage_vector WHERE number = ?', Number(number));
			this.#all('DELETE FROM passage WHERE number = ?', Number(number));
		}
		if (gone.length === 0) return;
		for (let at = 0; at < this.#count; at += 1) {
			if (this.#owners[at] !== found.number) continue;
			this.#owners[at] = 0;
			this.#free.push(at);
		}
	}

	/** IDs of the `limit` lifelogs with the passage nearest to a vector, nearest first. */
	nearest(query: Float32Array, filter: IndexFilter, limit: number): string[] {
		if (query.length !== this.#dimensions) return [];
		const owners = this.#ownersIn(filter);
		const candidates = Math.max(MIN_CANDIDATES, limit * CANDIDATES_FOR_EACH);
		const best = new Map<number, number>();
		for (const at of this.#likeliest(signsOf(query, this.#width), owners, candidates)) {
			const row = this.#db.get(
				'SELECT vector FROM passage_vector WHERE number = ?',
				this.#numbers[at],
			);
			if (!row) continue;
			const bytes = this.#bytes(row.vector, this.#dimensions);
			const likeness = cosine(query, new Int8Array(bytes.slice().buffer));
			const owner = this.#owners[at];
			if (likeness > (best.get(owner) ?? -Infinity)) best.set(owner, likeness);
		}
		return [...best]
			.sort(([a, x], [b, y]) => y - x || a - b)
			.slice(0, limit)
			.flatMap(([owner]) => this.#all('SELECT id FROM meant WHERE number = ?', owner))
			.map(({ id }) => String(id));
	}

	#bytes(value: SQLOutputValue, length: number): Uint8Array {
		if (value instanceof Uint8Array && value.length === length) return value;
		return this.#db.fail('a vector is unreadable', 'vectors');
	}

	/** Owners that pass a filter; undefined for all. */
	#ownersIn({ from, before, isStarred, voices }: IndexFilter): Set<number> | undefined {
		if ([from, before, isStarred, voices].every((each) => each === undefined)) return undefined;
		const rows = this.#all(
			`SELECT meant.number FROM document JOIN meant USING (id)
			WHERE (?1 IS NULL OR time >= ?1) AND (?2 IS NULL OR time < ?2)
				AND (?3 IS NULL OR starred = ?3) AND (?4 IS NULL OR document.number ${hasVoice('?4')})`,
			from ?? null,
			before ?? null,
			isStarred === undefined ? null : Number(isStarred),
			voices === undefined ? null : JSON.stringify(voices),
		);
		return new Set(rows.map(({ number }) => Number(number)));
	}

	/** Positions of the about `wanted` passages with the fewest different signs. */
	#likeliest(query: Uint32Array, owners: Set<number> | undefined, wanted: number): number[] {
		const width = this.#width;
		const distances = new Uint16Array(this.#count);
		const howMany = new Uint32Array(32 * width + 1);
		const isWanted = (owner: number) => owner !== 0 && (!owners || owners.has(owner));
		for (let at = 0; at < this.#count; at += 1) {
			let distance = 0;
			for (let word = 0, from = at * width; word < width; word += 1) {
				let bits = this.#signs[from + word] ^ query[word];
				bits -= (bits >>> 1) & 0x55555555;
				bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
				distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
			}
			distances[at] = distance;
			if (isWanted(this.#owners[at])) howMany[distance] += 1;
		}
		let farthest = 0;
		for (let sum = howMany[0]; sum < wanted && farthest < 32 * width; sum += howMany[farthest]) {
			farthest += 1;
		}
		const found: number[] = [];
		for (let at = 0; at < this.#count; at += 1) {
			if (distances[at] <= farthest && isWanted(this.#owners[at])) found.push(at);
		}
		return found;
	}

	#keep(number: number, owner: number, signs: Uint32Array): void {
		const at = this.#free.pop() ?? this.#count;
		if (at === this.#count) {
			if (at === this.#numbers.length) this.#reserve(Math.max(1024, Math.ceil(at * 1.25)));
			this.#count += 1;
		}
		this.#numbers[at] = number;
		this.#owners[at] = owner;
		this.#signs.set(signs, at * this.#width);
	}

	#reserve(count: number): void {
		const grown = (old: Uint32Array, length: number) => {
			const array = new Uint32Array(length);
			array.set(old.subarray(0, Math.min(old.length, length)));
			return array;
		};
		this.#numbers = grown(this.#numbers, count);
		this.#owners = grown(this.#owners, count);
		this.#signs = grown(this.#signs, count * this.#width);
	}

	#all(sql: string, ...values: (string | number | null | Uint8Array)[]) {
		return this.#db.all(sql, ...values);
	}
}

function signsOf(vector: Float32Array, width: number): Uint32Array {
	const signs = new Uint32Array(width);
	for (const [at, value] of vector.entries()) if (value > 0) signs[at >>> 5] |= 1 << (at & 31);
	return signs;
}

const wordsOf = (bytes: Uint8Array) => new Uint32Array(bytes.slice().buffer);

/** 8 bits per number, scaled to the largest. Cosine similarity ignores scale. */
function inBytes(vector: Float32Array): Int8Array {
	const max = vector.reduce((found, value) => Math.max(found, Math.abs(value)), 0);
	return Int8Array.from(vector, (value) => Math.round((value / max) * 127));
}

function cosine(query: Float32Array, vector: Int8Array): number {
	let product = 0;
	let square = 0;
	for (let at = 0; at < query.length; at += 1) {
		product += query[at] * vector[at];
		square += vector[at] * vector[at];
	}
	// The query's length is the same for all passages.
	return product / Math.sqrt(square);
}
