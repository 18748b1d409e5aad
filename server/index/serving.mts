import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../util/errors.mts';
import type { Meaning } from './meaning.mts';
import {
	DamagedIndexError,
	openIndex,
	removeIndex,
	RETRY_AFTER_S,
	type IndexDatabase,
	type IndexFile,
} from './database.mts';
import { Rows } from './rows.mts';
import type { ArchiveStore } from './archiveStore.mts';
import { HOUR_MS } from '../util/durations.mts';

const PAUSE_MS = 10_000;
/** Minimum time between two rebuilds of an index file. */
const REBUILD_EVERY_MS = HOUR_MS;

/** A served archive with its index. */
export interface Served {
	store: ArchiveStore;
	/** Missing if search is only full text. */
	meaning: Meaning | undefined;
}

export interface ServingOptions {
	/** File of the index. */
	index: string;
	/** Serves the archive from an index. */
	serve: (rows: Rows) => Served;
	log: (line: string) => void;
	/** Called with days while the index is updated from the folder. */
	onProgress: (done: number, total: number) => void;
}

/**
 * Serves an archive while its index is intact. If the index is damaged, requests are answered with
 * 503 while it is rebuilt from the folder in the background.
 */
export class Serving {
	readonly #options: ServingOptions;
	readonly #stopped = new AbortController();
	readonly #rebuiltAt = new Map<IndexFile, number>();
	#db: IndexDatabase | undefined;
	/** undefined while the index is being built or is damaged. */
	#served: Served | undefined;
	#damage: DamagedIndexError | undefined;
	#isDamaged = false;
	#progress = { done: 0, total: 0 };
	#healing: Promise<void> = Promise.resolve();
	#nextRebuildAt = 0;

	constructor(options: ServingOptions) {
		this.#options = options;
	}

	get served(): Served | undefined {
		return this.#served;
	}

	/** Whether the folder has no days although the index has. Never rejects. */
	async isFolderMissing(): Promise<boolean> {
		return (await this.#served?.store.isFolderMissing().catch(() => false)) ?? false;
	}

	/** Retry delay in seconds; undefined while everything is served. */
	get retryAfterS(): number | undefined {
		if (this.#served) return undefined;
		return Math.max(RETRY_AFTER_S, Math.ceil((this.#nextRebuildAt - performance.now()) / 1000));
	}

	/** Why nothing is served; undefined while everything is. */
	get waiting(): 'indexing' | 'index damaged' | undefined {
		if (this.#served) return undefined;
		return this.#isDamaged ? 'index damaged' : 'indexing';
	}

	/** Indexed days, and the total to index at the start or now. */
	get progress(): { done: number; total: number } {
		return this.#progress;
	}

	/**
	 * Opens the index and updates it from the folder. `heal` handles a damaged one; rejects for other
	 * errors.
	 */
	async begin(): Promise<void> {
		try {
			await this.#open();
		} catch (error) {
			if (!(error instanceof DamagedIndexError)) throw error;
			this.#damage = error;
			this.#isDamaged = true;
		}
	}

	/** Rebuilds an index that `begin` found damaged. */
	async heal(): Promise<void> {
		if (this.#damage) this.#healing = this.#rebuild(this.#damage);
		await this.#healing;
	}

	async close(): Promise<void> {
		this.#stopped.abort();
		const served = this.#served;
		// A rebuild in progress ends with its next statement. The next start continues it.
		if (!served) this.#db?.close();
		await this.#healing;
		served?.store.stop();
		await served?.meaning?.close();
		await served?.store.idle();
		if (served) this.#db?.close();
		this.#served = this.#db = undefined;
	}

	async #open(): Promise<void> {
		const db = openIndex(this.#options.index);
		this.#db = db;
		let served: Served | undefined;
		try {
			const rows = new Rows(db);
			served = this.#options.serve(rows);
			// If the folder is missing, the index is served.
			if (!(await served.store.isFolderMissing())) {
				await served.store.refresh((done, total) => {
					this.#progress = { done, total };
					this.#options.onProgress(done, total);
				});
				// A new index has no days either while the folder is missing.
				if (served.store.days().length > 0) rows.vectors.prune();
			}
			// Detects some damage now, before a request does.
			served.store.counts();
			await served.meaning?.begin();
		} catch (error) {
			await served?.meaning?.close();
			const found =
				error instanceof DamagedIndexError && !error.file
					? new DamagedIndexError(error.reason, db.findDamage())
					: error;
			if (!this.#stopped.signal.aborted) db.close();
			this.#db = undefined;
			throw found;
		}
		db.onDamage = (error) => this.#onDamage(served, error);
		this.#served = served;
		this.#isDamaged = false;
		served.meaning?.catchUp();
	}

	#onDamage(served: Served, error: DamagedIndexError): void {
		if (this.#served !== served || this.#stopped.signal.aborted) return;
		this.#served = undefined;
		this.#isDamaged = true;
		this.#progress = { done: 0, total: 0 };
		this.#healing = this.#replace(served, error);
	}

	async #replace({ store, meaning }: Served, error: DamagedIndexError): Promise<void> {
		await Promise.all([store.idle(), meaning?.close()]);
		if (this.#stopped.signal.aborted) return;
		const file = error.file ?? this.#db!.findDamage();
		this.#db!.close();
		this.#db = undefined;
		await this.#rebuild(new DamagedIndexError(error.reason, file));
	}

	async #rebuild(damage: DamagedIndexError): Promise<void> {
		const { log, index } = this.#options;
		const { signal } = this.#stopped;
		let found: DamagedIndexError | undefined = damage;
		while (!signal.aborted) {
			try {
				if (found) await this.#remove(found);
				found = undefined;
				await this.#open();
				log(`The index ${index} has been rebuilt`);
				return;
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof DamagedIndexError) {
					found = error;
					continue;
				}
				log(`The index ${index} cannot be rebuilt: ${(error as Error).message}`);
				await this.#pause(PAUSE_MS);
			}
		}
	}

	/**
	 * Removes the damaged file. If it was rebuilt recently, waits an hour: a failing disk would
	 * damage it again.
	 */
	async #remove({ reason, file = 'index' }: DamagedIndexError): Promise<void> {
		const { log, index } = this.#options;
		const what = file === 'index' ? `The index ${index}` : `The vectors of ${index}`;
		const last = this.#rebuiltAt.get(file) ?? -Infinity;
		const waitMs = last + REBUILD_EVERY_MS - performance.now();
		if (waitMs > 0) {
			log(
				`${what} is damaged again (${reason}). Nothing is served until it is rebuilt in ${Math.ceil(waitMs / 60_000)} minutes. Check the disk, or choose another file with --index`,
			);
			this.#nextRebuildAt = performance.now() + waitMs;
			await this.#pause(waitMs);
			this.#stopped.signal.throwIfAborted();
		}
		log(`${what} is damaged (${reason}), and is being rebuilt`);
		this.#rebuiltAt.set(file, performance.now());
		removeIndex(index, file);
	}

	async #pause(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => {});
	}

	/**
	 * The archive with the currently open index. Long work must call this again after each wait.
	 *
	 * @throws UnavailableError (503) while the index is being built or is damaged.
	 */
	current(): ArchiveStore {
		if (this.#served) return this.#served.store;
		const seconds = this.retryAfterS ?? RETRY_AFTER_S;
		const state = this.#isDamaged ? 'damaged and is being rebuilt' : 'being built';
		throw new UnavailableError(
			`The index of the server is ${state}: try again in ${seconds} seconds`,
			seconds,
		);
	}

	/** Status of search by meaning; undefined if search is full text. */
	describeMeaning(): string | undefined {
		return this.#served?.meaning?.describe();
	}
}
