import { createHash } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Rows } from './rows.mts';
import type { IndexFilter } from './store.mts';
import type { Outdated } from './vectors.mts';
import type { EmbeddingsEndpoint } from './embeddings.mts';
import { EndpointError } from '../util/modelEndpoint.mts';
import { passagesOf } from './passages.mts';

/** How an endpoint is dealt with, in milliseconds. */
export interface TimeBudget {
	/** For a search, which somebody waits for. */
	search: number;
	/** For a batch of passages. */
	batch: number;
	/** Before the first of several attempts; each further one waits twice as long. */
	firstRetry: number;
	maxRetry: number;
	/** Between two lines about how far it is. */
	progress: number;
}

const usual: TimeBudget = {
	search: 3_000,
	batch: 120_000,
	firstRetry: 1_000,
	maxRetry: 60_000,
	progress: 10_000,
};
const PASSAGES_PER_BATCH = 32;
/** So often texts are tried before it is asked whether it is for them that the endpoint fails. */
const ATTEMPTS_OF_TEXTS = 3;
const MAX_QUERY_LENGTH = 1500;
const PROBE = 'A walk in the garden.';

/**
 * Search by meaning: has the passages of all lifelogs turned into vectors in the background, and
 * searches turned into vectors to be compared with them. An endpoint that fails is told in the log,
 * and tried again; until it answers, nothing is found by meaning.
 */
export class Meaning {
	readonly #endpoint: EmbeddingsEndpoint;
	readonly #rows: Rows;
	readonly #log: (line: string) => void;
	readonly #warn: (line: string) => void;
	readonly #timeBudget: TimeBudget;
	readonly #stopped = new AbortController();
	/** Of the vectors; undefined until the endpoint has answered. */
	#dimensions: number | undefined;
	#problem: string | undefined;
	/** Until when searches do not wait for an endpoint that fails, on a clock that nobody sets. */
	#restUntil = 0;
	#left = 0;
	#running: Promise<void> | undefined;
	#isStale = false;

	constructor(
		endpoint: EmbeddingsEndpoint,
		rows: Rows,
		log: (line: string) => void,
		timeBudget: Partial<TimeBudget> = {},
		warn = log,
	) {
		this.#endpoint = endpoint;
		this.#rows = rows;
		this.#log = log;
		this.#warn = warn;
		this.#timeBudget = { ...usual, ...timeBudget };
	}

	/** Asks the endpoint for the first time. Never rejects for what it answers. */
	async begin(): Promise<void> {
		try {
			await this.#ask([PROBE], this.#timeBudget.search);
		} catch (error) {
			if (!(error instanceof EndpointError)) throw error;
			this.#tell(error);
		}
	}

	/** For the owner of the server: whether it works, and how far it is. */
	describe(): string {
		if (this.#problem !== undefined) {
			return `only full text: the embeddings endpoint ${this.#problem} (it is tried again)`;
		}
		const left = this.#left > 0 ? `, ${this.#left} lifelogs still to be read` : '';
		return `full text, and meaning (model ${this.#endpoint.model}${left})`;
	}

	/** Has what is new or changed read, in the background. */
	catchUp(): void {
		this.#isStale = true;
		this.#running ??= this.#run().finally(() => {
			this.#running = undefined;
		});
	}

	/** Resolves when nothing is left to be read for now. */
	async idle(): Promise<void> {
		await this.#running;
	}

	/** Ends what goes on in the background. */
	async close(): Promise<void> {
		this.#stopped.abort();
		await this.#running;
	}

	/**
	 * The ids of the lifelogs nearest in meaning to a search, nearest first; undefined when there is
	 * no telling, and for words in quotation marks, which have to stand so.
	 */
	async search(search: string, filter: IndexFilter, limit: number): Promise<string[] | undefined> {
		const query = search.trim().slice(0, MAX_QUERY_LENGTH).toWellFormed();
		if (query === '' || query.includes('"') || performance.now() < this.#restUntil)
			return undefined;
		try {
			const [vector] = await this.#ask([query], this.#timeBudget.search);
			return this.#rows.vectors.nearest(vector, filter, limit);
		} catch (error) {
			if (!(error instanceof EndpointError)) this.#warn(cannotGoOn(error));
			// A query that is refused says nothing of the endpoint.
			else if (!error.isRefusal) this.#tell(error);
			return undefined;
		}
	}

	async #run(): Promise<void> {
		while (this.#isStale && !this.#stopped.signal.aborted) {
			this.#isStale = false;
			try {
				await this.#readOutdated();
			} catch (error) {
				if (this.#stopped.signal.aborted) return;
				this.#warn(cannotGoOn(error));
				// What is in memory may be more than the index could be given: the next answer has it read anew.
				this.#dimensions = undefined;
			}
		}
	}

	async #readOutdated(): Promise<void> {
		if (this.#dimensions === undefined) await this.#insist([PROBE]);
		const outdated = this.#rows.vectors.outdated();
		this.#left = outdated.length;
		const all = outdated.length;
		let refused = 0;
		let toldAt = performance.now();
		let batch: Reading[] = [];
		const readBatch = async () => {
			const texts = batch.flatMap(({ passages }) => passages);
			const vectors: (Float32Array | undefined)[] = [];
			for (let at = 0; at < texts.length; at += PASSAGES_PER_BATCH) {
				vectors.push(...(await this.#insist(texts.slice(at, at + PASSAGES_PER_BATCH))));
			}
			this.#rows.transaction(() => {
				let at = 0;
				for (const { lifelog, hash, passages } of batch) {
					const own = vectors.slice(at, (at += passages.length));
					this.#rows.vectors.put(
						lifelog,
						hash,
						own.filter((vector) => vector !== undefined),
					);
				}
			});
			refused += vectors.filter((vector) => vector === undefined).length;
			this.#left -= batch.length;
			batch = [];
			if (performance.now() - toldAt >= this.#timeBudget.progress) {
				toldAt = performance.now();
				this.#log(`Search by meaning: ${all - this.#left} of ${all} lifelogs read`);
			}
		};
		let passages = 0;
		for (const lifelog of outdated) {
			const reading = this.#readingOf(lifelog);
			if (reading) {
				batch.push(reading);
				passages += reading.passages.length;
			} else {
				this.#left -= 1;
				// All days may have been archived again with the same words: others are to be served meanwhile.
				await setImmediate(undefined, { signal: this.#stopped.signal });
			}
			if (passages < PASSAGES_PER_BATCH) continue;
			passages = 0;
			await readBatch();
		}
		if (batch.length > 0) await readBatch();
		if (all > 0) {
			const left = refused === 0 ? '' : `; ${refused} passages were refused, and are left out`;
			this.#log(`Search by meaning: ${all} of ${all} lifelogs read${left}`);
		}
	}

	/** What of a lifelog is to be read; undefined when that was done already. */
	#readingOf(lifelog: Outdated): Reading | undefined {
		const found = this.#rows.getLifelog(lifelog.id, { markdown: false, contents: true });
		if (!found) return undefined;
		const passages = passagesOf(found);
		const hash = createHash('sha256').update(JSON.stringify(passages)).digest('base64');
		if (hash !== lifelog.hash) return { lifelog, hash, passages };
		this.#rows.transaction(() => this.#rows.vectors.confirm(lifelog));
		return undefined;
	}

	/**
	 * Asks until there is an answer. A text that is refused, or fails again and again, though the
	 * endpoint takes others, has no vector. Rejects when all of this is to end.
	 */
	async #insist(texts: string[]): Promise<(Float32Array | undefined)[]> {
		const { signal } = this.#stopped;
		let waitMs = this.#timeBudget.firstRetry;
		let isSuspect = false;
		for (let attempt = 1; ; attempt += 1, waitMs *= 2) {
			try {
				return await this.#ask(texts, this.#timeBudget.batch);
			} catch (error) {
				if (!(error instanceof EndpointError)) throw error;
				signal.throwIfAborted();
				const isTheirs = error.isRefusal || (isSuspect && error.isFailure);
				if (isTheirs && texts.length > 1) {
					const half = Math.ceil(texts.length / 2);
					const first = await this.#insist(texts.slice(0, half));
					return [...first, ...(await this.#insist(texts.slice(half)))];
				}
				if (isTheirs) {
					// Refused between two answers to another one, it is the text; else it may be a bad while.
					const isAgain = isSuspect;
					isSuspect = await this.#takesOthers(texts);
					if (isSuspect && isAgain) return [undefined];
					if (isSuspect) continue;
				}
				this.#tell(error);
				const wantedMs = Math.max(waitMs, error.waitMs ?? 0);
				await sleep(Math.min(this.#timeBudget.maxRetry, wantedMs), undefined, { signal });
				isSuspect = attempt % ATTEMPTS_OF_TEXTS === 0 && (await this.#takesOthers(texts));
			}
		}
	}

	/** Whether the endpoint answers to something else than these texts. */
	async #takesOthers(texts: string[]): Promise<boolean> {
		if (texts[0] === PROBE) return false;
		try {
			await this.#ask([PROBE], this.#timeBudget.search);
			return true;
		} catch (error) {
			if (!(error instanceof EndpointError)) throw error;
			return false;
		}
	}

	async #ask(texts: string[], timeoutMs: number): Promise<Float32Array[]> {
		const vectors = await this.#endpoint.embed(texts, timeoutMs, this.#stopped.signal);
		const dimensions = vectors[0].length;
		if (this.#dimensions === undefined) {
			this.#rows.vectors.use(this.#endpoint.model, dimensions);
			this.#dimensions = dimensions;
		} else if (this.#dimensions !== dimensions) {
			throw new EndpointError(
				`returned vectors of ${dimensions} dimensions instead of ${this.#dimensions}`,
			);
		}
		if (this.#problem !== undefined) this.#warn('The embeddings endpoint works again');
		this.#problem = undefined;
		this.#restUntil = 0;
		return vectors;
	}

	#tell(error: EndpointError): void {
		if (this.#stopped.signal.aborted) return;
		this.#restUntil = performance.now() + this.#timeBudget.maxRetry / 2;
		if (this.#problem === error.message) return;
		this.#problem = error.message;
		this.#warn(
			`The embeddings endpoint ${error.message}: search uses only full text until it works`,
		);
	}
}

const cannotGoOn = (error: unknown) =>
	`Search by meaning was interrupted: ${(error as Error).message}`;

interface Reading {
	lifelog: Outdated;
	hash: string;
	passages: string[];
}
