import { createHash } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Rows } from './rows.mts';
import type { IndexFilter } from './store.mts';
import type { Outdated } from './vectors.mts';
import type { EmbeddingsEndpoint } from './embeddings.mts';
import { EndpointError } from '../util/modelEndpoint.mts';
import { passagesOf } from './passages.mts';

/** Timeouts and delays of an endpoint, in milliseconds. */
export interface TimeBudget {
	/** For a search, during which a user waits. */
	search: number;
	batch: number;
	/** Delay before the first retry; it doubles each time. */
	firstRetry: number;
	maxRetry: number;
	/** Interval of progress messages. */
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
/** Attempts before testing whether the endpoint fails only for these texts. */
const ATTEMPTS_OF_TEXTS = 3;
const MAX_QUERY_LENGTH = 1500;
const PROBE = 'A walk in the garden.';

/**
 * Search by meaning. Converts passages of all lifelogs into vectors in the background, and searches
 * into vectors to compare with. If the endpoint fails, this is logged and retried. Until it
 * answers, nothing is found by meaning.
 */
export class Meaning {
	readonly #endpoint: EmbeddingsEndpoint;
	readonly #rows: Rows;
	readonly #log: (line: string) => void;
	readonly #warn: (line: string) => void;
	readonly #timeBudget: TimeBudget;
	readonly #stopped = new AbortController();
	/** Of the vectors; undefined before the endpoint's first answer. */
	#dimensions: number | undefined;
	#problem: string | undefined;
	/** Searches don't try a failing endpoint until this time of a monotonic clock. */
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

	/** Probes the endpoint. Never rejects because of its answer. */
	async begin(): Promise<void> {
		try {
			await this.#ask([PROBE], this.#timeBudget.search);
		} catch (error) {
			if (!(error instanceof EndpointError)) throw error;
			this.#tell(error);
		}
	}

	/** Status for the server's owner: whether it works, and the progress. */
	describe(): string {
		if (this.#problem !== undefined) {
			return `only full text: the embeddings endpoint ${this.#problem} (it is tried again)`;
		}
		const left = this.#left > 0 ? `, ${this.#left} lifelogs still to be read` : '';
		return `full text, and meaning (model ${this.#endpoint.model}${left})`;
	}

	/** Starts converting new and changed lifelogs in the background. */
	catchUp(): void {
		this.#isStale = true;
		this.#running ??= this.#run().finally(() => {
			this.#running = undefined;
		});
	}

	/** Resolves when nothing is left to convert for now. */
	async idle(): Promise<void> {
		await this.#running;
	}

	/** Stops work in the background. */
	async close(): Promise<void> {
		this.#stopped.abort();
		await this.#running;
	}

	/**
	 * IDs of the lifelogs nearest in meaning to a search, nearest first; undefined if this can't be
	 * determined. Also undefined for quoted words, which must match exactly.
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
			// Refusing a query doesn't mean that the endpoint fails.
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
				// Memory may be ahead of the index. Read it again with the next answer.
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
				// All days may have been archived again with the same words. Yield to requests meanwhile.
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

	/** What to convert of a lifelog; undefined if it is up to date. */
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
	 * Retries until there is an answer. If the endpoint refuses a text, or fails repeatedly only for
	 * it, the text gets no vector. Rejects when stopped.
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
					// A refusal between two successes means that the text is the cause. Otherwise, the
					// endpoint may be failing temporarily.
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

	/** Whether the endpoint accepts another text. */
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
