// Receives an export and imports it in the background. The page asks for the progress.
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { clearDrafts, Drafts } from '../archive/drafts.mts';
import { ApiError, asError } from '../util/errors.mts';
import { answerOfDisk } from '../util/failures.mts';
import { printable } from '../util/text.mts';
import { type Imported, importExport } from './import.mts';
import { demandRoom, roomIn } from './room.mts';

export interface ImportingState {
	state: 'idle' | 'receiving' | 'running' | 'ended' | 'failed';
	/** Maximum size of an export for the free disk space, in bytes. */
	room: number;
	/** Read files of the export, and their bytes. */
	done: number;
	total: number;
	bytes: number;
	/** Result, with only the first unreadable files. */
	imported: Imported | null;
	/** Why it failed, and what to do. */
	message: string | null;
}

interface ImportingOptions {
	/** Folder of the archive. */
	folder: string;
	/** IANA time zone of the Markdown. */
	timezone: string;
	/** An empty file that exists during an import, so that the next start knows of its interruption. */
	marker: string;
	warn: (line: string) => void;
}

/** Name of the export in messages. The temporary file's name means nothing to the user. */
const NAME = 'The file';
const MAX_UNREAD = 100;
/** Bytes between checks of the free disk space. */
const CHECK_EVERY = 64 * 2 ** 20;
const MAX_CLOSE_MS = 5_000;

/** Receives and imports one export at a time. */
export class Importing {
	readonly #options: ImportingOptions;
	readonly #stopped = new AbortController();
	/** Whether an import was interrupted, and none has ended since. */
	#wasInterrupted: boolean;
	#state: Omit<ImportingState, 'room'> = idle;
	#running: Promise<unknown> = Promise.resolve();

	constructor(options: ImportingOptions) {
		this.#options = options;
		this.#wasInterrupted = existsSync(options.marker);
		if (this.#wasInterrupted) {
			this.#state = { ...idle, state: 'failed', message: INTERRUPTED };
		}
	}

	get isRunning(): boolean {
		return this.#state.state === 'receiving' || this.#state.state === 'running';
	}

	async state(): Promise<ImportingState> {
		return { ...this.#state, room: await roomIn(this.#options.folder).catch(() => 0) };
	}

	/**
	 * Receives the zip of an export and starts to import it.
	 *
	 * @param bytes Size if known.
	 * @throws ApiError: 409 during another import, 507 if the disk would be full. Also errors of the
	 *   upload or the disk. The received part is removed then.
	 */
	async receive(zip: Readable, bytes: number | undefined): Promise<void> {
		if (this.isRunning) throw new ApiError(409, BUSY);
		const receiving = this.#receive(zip, bytes);
		this.#running = receiving.catch(() => {});
		await receiving;
	}

	async #receive(zip: Readable, bytes: number | undefined): Promise<void> {
		this.#state = { ...idle, state: 'receiving' };
		const { folder, marker } = this.#options;
		let drafts: Drafts | undefined;
		try {
			// A killed server may have left an upload, which takes room.
			await clearDrafts(folder);
			await this.#requireRoom(bytes ?? 0);
			await writeFile(marker, '').catch(() => {});
			drafts = await Drafts.open(folder);
			const { draft } = await drafts.save(this.#roomFor(zip));
			this.#state = { ...idle, state: 'running' };
			this.#running = this.#import(join(folder, draft), drafts);
		} catch (error) {
			await this.#end(drafts, false);
			const failure = asError(error);
			const isInterrupted = failure.code === 'ECONNRESET' || zip.destroyed;
			const message =
				answerOfDisk(failure)?.message ?? (isInterrupted ? NOT_UPLOADED : failure.message);
			this.#state = { ...idle, state: 'failed', message };
			throw error;
		}
	}

	async close(): Promise<void> {
		this.#stopped.abort(new Error(INTERRUPTED));
		await Promise.race([this.#running, sleep(MAX_CLOSE_MS, undefined, { ref: false })]);
	}

	/** Imports a zip, and removes it. Never rejects. */
	async #import(path: string, drafts: Drafts): Promise<void> {
		const { folder, timezone, warn } = this.#options;
		let ended: Partial<ImportingState>;
		const onProgress = (done: number, total: number, bytes: number) => {
			this.#state = { ...this.#state, done, total, bytes };
		};
		try {
			const { signal } = this.#stopped;
			const imported = await importExport(path, folder, timezone, onProgress, signal);
			const unread = imported.unread.slice(0, MAX_UNREAD);
			ended = { state: 'ended', imported: { ...imported, unread } };
		} catch (error) {
			const failure = asError(error);
			const said = answerOfDisk(failure)?.message ?? failure.message;
			const message = said.replaceAll(path, NAME).replaceAll(basename(path), NAME);
			warn(`The import failed: ${printable(message)}`);
			ended = { state: 'failed', message };
		}
		await this.#end(drafts, ended.state === 'ended');
		this.#state = { ...this.#state, ...ended };
	}

	/** Removes the upload, and the marker unless it's needed. If that fails, the next import does it. */
	async #end(drafts: Drafts | undefined, isComplete: boolean): Promise<void> {
		await drafts?.close().catch(() => {});
		this.#wasInterrupted = !isComplete && (this.#wasInterrupted || this.#stopped.signal.aborted);
		if (!this.#wasInterrupted) await rm(this.#options.marker).catch(() => {});
	}

	/** Passes on an upload while there is room for it. */
	async *#roomFor(zip: Readable): AsyncGenerator<Uint8Array> {
		let unchecked = 0;
		// On a full disk, the rest is still read, so that the client gets the answer.
		for await (const piece of zip.iterator({ destroyOnReturn: false })) {
			unchecked += piece.length;
			if (unchecked >= CHECK_EVERY) {
				await this.#requireRoom(unchecked);
				unchecked = 0;
			}
			yield piece;
		}
	}

	async #requireRoom(bytes: number): Promise<void> {
		await demandRoom(this.#options.folder, bytes).catch((error: unknown) => {
			throw new ApiError(507, asError(error).message);
		});
	}
}

const idle: Omit<ImportingState, 'room'> = {
	state: 'idle',
	...{ done: 0, total: 0, bytes: 0, imported: null, message: null },
};

const BUSY = 'An export is being imported already. Wait until that has ended';
const INTERRUPTED = 'The import was interrupted. Upload the export again. What was imported stays';
const NOT_UPLOADED = 'The upload was interrupted, so nothing was imported. Upload the export again';
