// Adds recordings to the queue, lists and deletes them.
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { prepareFolder } from '../archive/folder.mts';
import { ApiError } from '../util/errors.mts';
import { whereIs } from '../util/failures.mts';
import { type Saved, saveStream } from '../util/saveStream.mts';
import { hasContent, hashOf } from './inboxFiles.mts';
import { FOLDER, isOpen, type Jobs } from './jobs.mts';
import type { Queue, Queued, Recording, Status, Upload } from './queue.mts';
import { isAgain } from './transcribeAgain.mts';

export interface IntakeOptions {
	/** Folder of the archive. */
	root: string;
	queue: Queue;
	jobs: Jobs;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

/** A received file that is flushed to the disk. */
export interface Received extends Saved {
	path: string;
}

/** Fields of an upload. By default, it was modified just now. */
type Asked = Omit<Upload, 'path' | 'inbox' | 'modifiedMs'> & Partial<Pick<Upload, 'modifiedMs'>>;

const COPY_PAUSE_MS = 100;

/** Accepts recordings from uploads and the inbox. */
export class Intake {
	readonly #options: IntakeOptions;
	readonly #queue: Queue;
	readonly #jobs: Jobs;
	/** Serializes look-ups and additions. */
	readonly #adding = new PQueue({ concurrency: 1 });
	readonly #closed = new AbortController();

	constructor(options: IntakeOptions) {
		this.#options = options;
		this.#queue = options.queue;
		this.#jobs = options.jobs;
	}

	/** Leaves copies of files for the next start. */
	close(): void {
		this.#closed.abort();
	}

	/**
	 * Sorts files of the last run. Call it before receiving any. Rejects if the archive's folder
	 * isn't writable.
	 */
	async prepare(): Promise<void> {
		await prepareFolder(this.#options.root, FOLDER);
		for (const name of await readdir(this.#folder)) {
			const [id] = name.split('.');
			const path = join(this.#folder, name);
			const recording = this.#queue.get(id);
			const isEncoded = name === `${id}.ogg` && recording && isOpen(recording);
			if (!recording && name === `${id}.original`) await this.#takeAgain(path);
			else if (recording && name === `${id}.taken`) await rename(path, recording.path);
			else if (recording?.path !== path && !isEncoded) await rm(path, { recursive: true });
		}
	}

	/** Adds a file again whose recording was lost with an older queue. */
	async #takeAgain(path: string): Promise<void> {
		const sha256 = await hashOf(path);
		const { mtimeMs } = await stat(path);
		const [id, fileName] = [idOf(sha256), basename(path)];
		if (this.#queue.find(sha256) || fileName !== `${id}.original`) await rm(path);
		else this.#insert(id, sha256, { path, fileName, modifiedMs: mtimeMs });
	}

	/**
	 * Writes an upload to the disk.
	 *
	 * @throws Errors of the upload or the disk. The received part is removed then.
	 */
	async receive(upload: Readable): Promise<Received> {
		const path = join(this.#folder, `${randomBytes(8).toString('hex')}.part`);
		return { path, ...(await saveStream(path, upload)) };
	}

	/** Removes a received file that isn't needed. */
	async discard({ path }: Received): Promise<void> {
		await rm(path, { force: true });
	}

	/**
	 * Adds a received file to the queue, unless its bytes or its external ID are already known. A known
	 * recording that failed is retried with the new fields. Different bytes replace those of a failed
	 * recording, which keeps its ID. If requested, a recording whose lifelogs were deleted starts again.
	 *
	 * @returns `isNew` is false if the request changes nothing.
	 */
	async add(received: Received, asked: Asked): Promise<{ recording: Recording; isNew: boolean }> {
		const { sha256 } = received;
		const id = idOf(sha256);
		const path = join(this.#folder, `${id}.original`);
		return await this.#adding.add(async () => {
			let known = this.#queue.find(sha256, asked.externalId);
			let isAgain = asked.again === true && known !== undefined && this.#jobs.isGone(known);
			if (known && known.sha256 !== sha256 && (known.status === 'failed' || isAgain)) {
				this.#queue.update(known.id, { externalId: undefined });
				known = this.#queue.find(sha256);
				isAgain = asked.again === true && known !== undefined && this.#jobs.isGone(known);
			}
			if (known && (isAgain || (await this.#lacks(known, sha256)))) {
				await rename(received.path, path);
				const change = { ...asked, path, inbox: undefined };
				return { recording: await this.#jobs.again(id, change), isNew: isAgain };
			}
			if (known) {
				await this.discard(received);
				const recording =
					known.status === 'failed' ? await this.#jobs.again(known.id, asked) : known;
				return { recording, isNew: false };
			}
			// Adds a received file to the queue, unless its bytes or its external ID are already known. A
			// known recording that failed is retried with the new fields. If other bytes were uploaded
			// for its external ID, they become a new recording with this ID, and the failed one stays
			// without it. A recording whose lifelogs were deleted starts again if requested.
			// @returns `isNew` is false if everything was already requested before.
			const taken = join(this.#folder, `${id}.taken`);
			await rename(received.path, taken);
			try {
				const recording = this.#insert(id, sha256, { ...asked, path });
				await rename(taken, path);
				this.#jobs.start(id);
				return { recording, isNew: true };
			} catch (error) {
				if (!this.#queue.get(id)) await rm(taken, { force: true });
				throw error;
			}
		});
	}

	/** Whether these are the bytes of a recording that needs its file but has lost it. */
	async #lacks(known: Queued, sha256: string): Promise<boolean> {
		// Transcribing again uses the audio in the archive.
		if (known.status === 'done' || isAgain(known) || known.sha256 !== sha256) return false;
		return !(await hasContent(known.path, sha256));
	}

	/** Whether the bytes of a file were already accepted or deleted. */
	async knows(path: string, signal: AbortSignal): Promise<boolean> {
		const sha256 = await hashOf(path, signal);
		return this.#queue.find(sha256) !== undefined || this.#queue.wasRemoved(sha256);
	}

	/** Adds a file of the inbox to the queue. It stays in place until it is done or has failed. */
	async addFromInbox(file: Upload & { inbox: string }, signal: AbortSignal): Promise<void> {
		const sha256 = await hashOf(file.path, signal);
		await this.#adding.add(() => this.#addFromInbox(file, sha256));
	}

	async #addFromInbox(file: Upload & { inbox: string }, sha256: string): Promise<void> {
		const known = this.#queue.find(sha256);
		if (!known) {
			this.#insert(idOf(sha256), sha256, file);
			return this.#jobs.start(idOf(sha256));
		}
		const isInPlace = known.path === file.path;
		// Its own job puts it away.
		if (isInPlace && (isOpen(known) || !known.isTidy)) return;
		if (known.status === 'failed' || (await this.#lacks(known, sha256))) {
			await this.#jobs.stop(known.id);
			const before = this.#jobs.known(known.id);
			const { status } = await this.#jobs.again(known.id, file);
			if (status !== 'done') {
				if (isInPlace) return;
				const hasFailed = before.status === 'failed';
				if (before.inbox === undefined) await rm(before.path, { force: true });
				else await this.#jobs.putAway({ ...before, status: hasFailed ? 'failed' : 'done' });
				return;
			}
		} else if (isOpen(known)) {
			this.#putAwayLater(known, file).catch((error: unknown) => {
				const { code, at } = whereIs(error as Error);
				this.#options.warn(`A copy of recording ${known.id} stays: ${[code, ...at].join(' ')}`);
			});
			return;
		}
		await this.#jobs.putAway({ ...known, ...file, status: 'done' });
	}

	/**
	 * Puts away a copy of a file when its recording ends. If the server stops first, the next start
	 * does it.
	 */
	async #putAwayLater(known: Queued, file: Upload): Promise<void> {
		let ended: Queued | undefined = known;
		while (ended && isOpen(ended)) {
			await this.#jobs.ended(known.id);
			// A retry may start.
			await sleep(COPY_PAUSE_MS, undefined, { ref: false });
			if (this.#closed.signal.aborted) return;
			ended = this.#queue.get(known.id);
		}
		const dropped = { ...known, status: 'failed', error: DISCARDED } as const;
		await this.#jobs.putAway({ ...(ended ?? dropped), ...file });
	}

	#insert(id: string, sha256: string, upload: Asked & Pick<Upload, 'path' | 'inbox'>): Recording {
		const recording: Queued = {
			...{ id, sha256, status: 'queued', lifelogIds: [], startTime: null, startTimeFrom: null },
			...{ durationMs: null, error: null, attempts: 0 },
			createdAt: new Date(this.#options.now()).toISOString(),
			...{ modifiedMs: this.#options.now(), ...upload },
			isTidy: true,
		};
		this.#queue.add(recording);
		return recording;
	}

	get(id: string): Queued | undefined {
		return this.#queue.get(id);
	}

	/** Lists recordings, newest first, optionally only those with `status`. */
	list(status: Status | undefined, afterId: string | undefined, limit: number): Recording[] {
		return this.#queue.list(status, afterId, limit);
	}

	/**
	 * Deletes an unfinished recording and its file. A file of the inbox is moved to `failed/`. If it
	 * is being transcribed again, it keeps its former state.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 if it is done.
	 */
	async drop(id: string): Promise<void> {
		this.#jobs.known(id);
		await this.#jobs.stop(id);
		const recording = this.#jobs.known(id);
		if (isAgain(recording)) return await this.#jobs.leaveAsItWas(id);
		if (recording.status === 'done') {
			throw new ApiError(409, 'The recording is done. Delete its lifelogs instead');
		}
		if (recording.inbox === undefined) await rm(recording.path, { force: true });
		else if (recording.status !== 'failed' || !recording.isTidy) {
			await this.#jobs.putAway({ ...recording, status: 'failed', error: DISCARDED });
		}
		this.#queue.remove(id);
		await this.#jobs.removeWork(id);
	}

	get #folder(): string {
		return join(this.#options.root, FOLDER);
	}
}

const idOf = (sha256: string) => `rec-${sha256.slice(0, 20)}`;

const DISCARDED = 'It was discarded. Delete it, or move it back';
