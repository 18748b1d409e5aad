// Processes recordings one by one until they are done or have failed. Retries while an endpoint is
// down.
import { access, mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import { prepareFolder } from '../archive/folder.mts';
import type { ArchiveStore } from '../index/archiveStore.mts';
import { EndpointError } from '../util/modelEndpoint.mts';
import { ApiError } from '../util/errors.mts';
import { answerOfDisk, reasonOf, whereIs } from '../util/failures.mts';
import { plural } from '../util/text.mts';
import { MediaError } from './ffmpeg.mts';
import { hasContent, isProcessing, PROCESSING, putAway, shortName } from './inboxFiles.mts';
import type { LaterTitles } from './laterTitles.mts';
import { makeLifelogs, type HeardParts, type Models } from './pipeline.mts';
import type { Queue, Queued, Recording, Upload } from './queue.mts';
import { DiarizationError } from './transcribe.mts';
import { isAgain, NO_AUDIO, spanOf, transcribeAgain } from './transcribeAgain.mts';

export interface JobsOptions extends Models {
	/** Folder of the archive. */
	root: string;
	queue: Queue;
	current: () => ArchiveStore;
	/** Writes titles later if that fails now. */
	later?: LaterTitles;
	/** Whether to keep uploaded files in `originals/` when they are done. */
	keepOriginals: boolean;
	/** IANA time zone of local times in file names. */
	timezone: string;
	/** Called after a recording is done or has failed. */
	onEnded: () => void;
	info: (line: string) => void;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

/** The work on a recording until it is done or has failed. */
interface Job {
	stop: AbortController;
	/** Whether it is being processed now. */
	isRunning: boolean;
	ended: Promise<void>;
}

/** The queue's fields of a finished recording, and notes for the log. */
type Outcome = Pick<Queued, 'lifelogIds' | 'keepsOriginal'> & { isTidy?: false; notes: string[] };

/** Folder in the archive for waiting uploads and work in progress. */
export const FOLDER = '.lifelog-recordings';
const ORIGINALS = 'originals';
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 3_600_000;
/**
 * Maximum attempts at an endpoint whose answers aren't transcriptions, and the minimum time over
 * which to make them.
 */
const MAX_UNUSABLE = 6;
const MAX_UNUSABLE_MS = 3 * 60_000;

/** Processes the recordings of a queue. While one waits for a retry, others continue. */
export class Jobs {
	readonly #options: JobsOptions;
	readonly #queue: Queue;
	readonly #turns = new PQueue({ concurrency: 1 });
	readonly #jobs = new Map<string, Job>();

	constructor(options: JobsOptions) {
		this.#options = options;
		this.#queue = options.queue;
	}

	/** Continues the work of the last run. */
	begin(): void {
		for (const { id } of [...this.#queue.untidy(), ...this.#queue.open()]) this.start(id);
	}

	async close(): Promise<void> {
		for (const { stop } of this.#jobs.values()) stop.abort();
		await Promise.all([...this.#jobs.values()].map(({ ended }) => ended));
	}

	/** Resolves when the work on a recording ends. It may start again then. */
	async ended(id: string): Promise<void> {
		await this.#jobs.get(id)?.ended;
	}

	/**
	 * Retries a recording that failed or waits for a retry.
	 *
	 * @param language Spoken language; null for detection, undefined for no change.
	 * @throws ApiError: 404 for an unknown ID, 409 if it is done or being transcribed.
	 */
	async retry(id: string, language?: string | null): Promise<Recording> {
		const recording = this.known(id);
		if (recording.status === 'done' || recording.status === 'transcribing') {
			throw new ApiError(
				409,
				`The recording is ${recording.status}. There is nothing to try again`,
			);
		}
		return await this.again(id, language === undefined ? {} : { language: language ?? undefined });
	}

	/**
	 * Starts a recording again with changes. If it is done, it only starts if deleted lifelogs are to
	 * be created again.
	 */
	async again(id: string, change: Partial<Upload> = {}): Promise<Recording> {
		await this.stop(id);
		const recording = this.known(id);
		const { status } = recording;
		if (status === 'done' && !change.again) return recording;
		const isChanged = (name: 'language' | 'prompt') =>
			name in change && change[name] !== recording[name];
		if (isChanged('language') || isChanged('prompt')) this.#queue.discardHeard(id);
		// The audio of a finished recording is in the archive, at its time.
		const isNewStart = status === 'failed' || (status === 'done' && change.startMs !== undefined);
		try {
			return this.#queue.update(id, {
				...change,
				...{ status: 'queued', error: null, isTidy: true, unusable: undefined },
				...(!isAgain(recording) && { lifelogIds: [] }),
				...(isNewStart && { startTime: null, startTimeFrom: null }),
			});
		} finally {
			// Also if the disk has no room for the change.
			this.start(id);
		}
	}

	/**
	 * Transcribes a finished recording again. Its lifelogs stay until they are replaced. Does nothing
	 * if this is already in progress.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 if it isn't done, all its lifelogs were deleted,
	 *   or its audio isn't kept.
	 */
	async transcribeAgain(id: string): Promise<Recording> {
		const { status } = this.known(id);
		if (isAgain(this.known(id))) return this.known(id);
		if (status !== 'done') {
			throw new ApiError(409, `The recording is ${status}. Wait until it's done, or retry it`);
		}
		await this.stop(id);
		const recording = this.known(id);
		const { attempts } = recording;
		if (this.#isAllDeleted(recording)) {
			throw new ApiError(
				409,
				'All its lifelogs were deleted. To make them again, upload the file with again=true',
			);
		}
		if (!(await this.#options.current().recorded.audioOf(spanOf(recording)))) {
			throw new ApiError(409, `${NO_AUDIO}, so it can't be transcribed again`);
		}
		if (!recording.isTidy) await this.#tidy(recording);
		// Another request may have been faster.
		if (isAgain(this.known(id))) return this.known(id);
		this.#queue.discardHeard(id);
		const again = this.#queue.update(id, { status: 'queued', error: null, doneAfter: attempts });
		this.start(id);
		return again;
	}

	/**
	 * Deletes a lifelog of a recording. If the recording is being transcribed again, what was heard so far
	 * may have the lifelog's words. So that is discarded first, and heard again after the delete.
	 *
	 * @param remove Deletes the lifelog.
	 */
	async deleteLifelogOf<Result>(id: string, remove: () => Promise<Result>): Promise<Result> {
		if (!isAgain(this.known(id))) return await remove();
		await this.stop(id);
		this.#queue.discardHeard(id);
		try {
			return await remove();
		} finally {
			// It may have been done before it stopped.
			if (isAgain(this.known(id))) this.start(id);
		}
	}

	/** Restores the state before transcribing again. The work must have stopped. */
	async leaveAsItWas(id: string, problem?: string): Promise<void> {
		const { doneAfter, lifelogIds } = this.known(id);
		const { current } = this.#options;
		await this.removeWork(id);
		this.#queue.discardHeard(id);
		this.#queue.update(id, {
			...{ status: 'done', attempts: doneAfter, doneAfter: undefined, unusable: undefined },
			error: problem === undefined ? null : `It wasn't transcribed again: ${problem}`,
			// Some may never have been created.
			lifelogIds: lifelogIds.filter((each) => current().stateOf(each) !== undefined),
		});
	}

	/** Stops the work on a recording, and waits for its end. */
	async stop(id: string): Promise<void> {
		// Another job may start meanwhile.
		for (let job = this.#jobs.get(id); job; job = this.#jobs.get(id)) {
			job.stop.abort();
			// A waiting job does nothing when it is processed.
			if (job.isRunning) await job.ended;
			if (this.#jobs.get(id) === job) this.#jobs.delete(id);
		}
	}

	/** Throws an ApiError (404) for an unknown ID. */
	known(id: string): Queued {
		const recording = this.#queue.get(id);
		if (!recording) throw new ApiError(404, 'Recording not found');
		return recording;
	}

	get #folder(): string {
		return join(this.#options.root, FOLDER);
	}

	#workOf(id: string): string {
		return join(this.#folder, `${id}.work`);
	}

	/** Starts work on a recording, unless it is already in progress. */
	start(id: string): void {
		if (this.#jobs.has(id)) return;
		const stop = new AbortController();
		const { signal } = stop;
		const job: Job = { stop, isRunning: false, ended: Promise.resolve() };
		const attempt = async () => {
			job.isRunning = true;
			await this.#attempt(id, signal).finally(() => (job.isRunning = false));
		};
		this.#jobs.set(id, job);
		job.ended = pRetry(() => this.#turns.add(attempt), {
			...{ retries: Infinity, factor: 2, minTimeout: FIRST_PAUSE_MS, maxTimeout: MAX_PAUSE_MS },
			...{ signal, unref: true },
			onFailedAttempt: async ({ error }) => {
				const wait = error.cause instanceof EndpointError ? error.cause.waitMs : undefined;
				await sleep(Math.min(wait ?? 0, MAX_PAUSE_MS), undefined, { signal, ref: false });
			},
		})
			.catch(() => {})
			.finally(() => this.#jobs.get(id) === job && this.#jobs.delete(id));
	}

	/** Rejects if a retry is needed. */
	async #attempt(id: string, signal: AbortSignal): Promise<void> {
		signal.throwIfAborted();
		// Deleted while it waited.
		if (!this.#queue.get(id)) return;
		if (this.#queue.get(id)!.isTidy) await this.#finish(id, signal);
		const ended = this.#queue.get(id)!;
		if (ended.isTidy) return;
		try {
			await this.#tidy(ended);
		} catch (error) {
			const { code, at } = whereIs(error as Error);
			this.#options.warn(
				`Recording ${id} is ${ended.status}, its file stays: ${[code, ...at].join(' ')}`,
			);
			throw error;
		}
	}

	/** Completes a recording, as done or failed. Rejects if a retry is needed. */
	async #finish(id: string, signal: AbortSignal): Promise<void> {
		const { attempts, error: before, unusable: earlier } = this.#queue.get(id)!;
		const { info, warn, now } = this.#options;
		try {
			// Only deleted content would be transcribed.
			if (this.#hasNothingLeft(id)) return await this.leaveAsItWas(id);
			const recording = this.#queue.update(id, { status: 'transcribing', attempts: attempts + 1 });
			const { notes, ...made } = isAgain(recording)
				? await this.#processAgain(recording, signal)
				: await this.#process(recording, signal);
			const done = { status: 'done', error: null, again: undefined, unusable: undefined } as const;
			const ended = this.#queue.update(id, { ...made, ...done, doneAfter: undefined });
			for (const note of notes) warn(`Recording ${id} ${note}`);
			info(`Recording ${id} is done: ${this.#outcomeOf(ended)}`);
			this.#options.onEnded();
		} catch (error) {
			if (signal.aborted) {
				this.#queue.update(id, { status: 'queued', attempts });
				throw error;
			}
			const message = describe(error as Error);
			// Intermediate files may have filled the queue's disk.
			await rm(this.#workOf(id), { recursive: true, force: true }).catch(() => {});
			const isUnusable = error instanceof EndpointError && error.isUnusable;
			const { tries, sinceMs } = earlier ?? { tries: 0, sinceMs: now() };
			const unusable = isUnusable ? { tries: tries + 1, sinceMs } : undefined;
			if (isLasting(error) || isOver(unusable, now())) {
				const problem = isUnusable
					? `${message}. Check its address and model, then retry`
					: message;
				if (isAgain(this.#queue.get(id)!)) {
					warn(`Recording ${id} wasn't transcribed again: ${problem}`);
					return await this.leaveAsItWas(id, problem);
				}
				this.#queue.update(id, { status: 'failed', error: problem, isTidy: false, unusable });
				warn(`Recording ${id} failed: ${problem}`);
				this.#options.onEnded();
				return;
			}
			if (!isExpected(error)) {
				const { code, at } = whereIs(error as Error);
				warn(`Recording ${id}: ${[code, ...at].join(' ')}`);
			}
			if (message !== before) warn(`Recording ${id} is tried again later: ${message}`);
			this.#queue.update(id, { status: 'queued', error: message, unusable });
			throw new Error(message, { cause: error });
		}
	}

	/** Makes the lifelogs of a recording, and adds them to the archive. */
	async #process(recording: Queued, signal: AbortSignal): Promise<Outcome> {
		const { current, later } = this.#options;
		const { id, path, inbox, externalId, startTime } = recording;
		// A missing folder may only be an unmounted disk.
		await access(inbox === undefined ? this.#folder : join(inbox, PROCESSING));
		const bytes = await sizeOf(path);
		if (!(await hasContent(path, recording.sha256, signal))) {
			if (bytes !== undefined && isProcessing(recording)) throw new MediaError(GROWN);
			const again = inbox === undefined ? 'Upload it again' : 'Put it into the inbox again';
			throw new MediaError(`The file is no longer in ${basename(dirname(path))}/. ${again}`);
		}
		const work = await this.#emptyWork(id);
		const notes: string[] = [];
		const made = await makeLifelogs(recording, {
			...this.#options,
			...{ work, audio: join(this.#folder, `${id}.ogg`), signal },
			heard: this.#heardOf(id),
			correct: (text) => current().replacements.correct(text),
			stateOf: (lifelog) => current().stateOf(lifelog),
			onStart: ({ startMs, from: startTimeFrom }, durationMs) => {
				// Only once, because a retry happens at another time.
				if (startTime !== null) return Date.parse(startTime);
				const iso = new Date(startMs).toISOString();
				this.#queue.update(id, { startTime: iso, startTimeFrom, durationMs });
				return startMs;
			},
			onNote: (note) => notes.push(note),
		});
		if (isProcessing(recording) && ((await sizeOf(path)) ?? bytes) !== bytes) {
			throw new MediaError(GROWN);
		}
		// Before they exist, because the process may be killed meanwhile.
		for (const lifelog of made.untitled) later?.add(lifelog, `Recording ${id}`);
		await current().addRecording(made.audio, made.lifelogs, externalId);
		return { lifelogIds: made.ids, keepsOriginal: made.isPart, isTidy: false, notes };
	}

	/** Replaces the lifelogs of a finished recording. */
	async #processAgain(recording: Queued, signal: AbortSignal): Promise<Outcome> {
		const { id } = recording;
		const notes: string[] = [];
		const lifelogIds = await transcribeAgain(recording, {
			...this.#options,
			...{ work: await this.#emptyWork(id), signal },
			heard: this.#heardOf(id),
			correct: (text) => this.#options.current().replacements.correct(text),
			onIds: (ids) => {
				const all = [...new Set([...recording.lifelogIds, ...ids])];
				this.#queue.update(id, { lifelogIds: all });
			},
			onNote: (note) => notes.push(note),
		});
		await this.removeWork(id);
		this.#queue.discardHeard(id);
		return { lifelogIds, notes };
	}

	async #emptyWork(id: string): Promise<string> {
		const work = this.#workOf(id);
		await rm(work, { recursive: true, force: true });
		await mkdir(work);
		return work;
	}

	#heardOf(id: string): HeardParts {
		return {
			get: (part) => this.#queue.heardIn(id, part),
			keep: (part, heard) => this.#queue.keepHeard(id, part, heard),
		};
	}

	/** The result of a finished recording, for the log. */
	#outcomeOf({ lifelogIds }: Queued): string {
		const deleted = this.#deletedOf(lifelogIds);
		const there = lifelogIds.length - deleted;
		const made = there === 0 ? 'no lifelog' : plural(there, 'lifelog');
		const notAgain = `${plural(deleted, 'lifelog')} was deleted before and isn't made again`;
		return deleted === 0 ? made : `${made}, because ${notAgain}`;
	}

	/** Whether a finished recording isn't, or not completely, in the archive. */
	isGone({ status, lifelogIds }: Queued): boolean {
		return status === 'done' && (lifelogIds.length === 0 || this.#deletedOf(lifelogIds) > 0);
	}

	#hasNothingLeft(id: string): boolean {
		return isAgain(this.known(id)) && this.#isAllDeleted(this.known(id));
	}

	#isAllDeleted({ lifelogIds }: Queued): boolean {
		return lifelogIds.length > 0 && this.#deletedOf(lifelogIds) === lifelogIds.length;
	}

	#deletedOf(lifelogIds: string[]): number {
		return lifelogIds.filter((id) => this.#options.current().stateOf(id) === 'deleted').length;
	}

	/**
	 * Puts away a finished file of the inbox. Returns a note if nothing became of it because its
	 * lifelogs were deleted. An inbox can't create them again.
	 */
	async putAway(recording: Queued): Promise<string> {
		const { id, status } = recording;
		const isDeleted = status === 'done' && this.#isAllDeleted(recording);
		if (isDeleted) this.#options.warn(`Recording ${id} is in the inbox again. ${DELETED}`);
		return await putAway(recording, this.#options.timezone, isDeleted ? DELETED : undefined);
	}

	/** Puts away the file of a finished recording, and removes intermediate files. */
	async #tidy(recording: Queued): Promise<void> {
		const { id, inbox, status, path, fileName, createdAt } = recording;
		let kept = path;
		if (inbox !== undefined) {
			kept = await this.putAway(recording);
		} else if (status === 'done' && (this.#options.keepOriginals || recording.keepsOriginal)) {
			const folder = `${ORIGINALS}/${createdAt.slice(0, 7).replace('-', '/')}`;
			await prepareFolder(this.#options.root, folder);
			kept = join(this.#options.root, folder, `${id}_${shortName(fileName)}`);
			await rename(path, kept).catch(unlessGone);
		} else if (status === 'done') {
			await rm(path, { force: true });
		}
		await this.removeWork(id);
		this.#queue.update(id, { path: kept, isTidy: true });
		if (status === 'done') this.#queue.discardHeard(id);
	}

	async removeWork(id: string): Promise<void> {
		for (const path of [this.#workOf(id), join(this.#folder, `${id}.ogg`)]) {
			await rm(path, { recursive: true, force: true });
		}
	}
}

/** Whether there is still something to transcribe. */
export const isOpen = ({ status }: Recording) => status === 'queued' || status === 'transcribing';

/** Whether an endpoint has given unusable answers for long enough. */
const isOver = (unusable: Queued['unusable'], nowMs: number) =>
	unusable !== undefined &&
	(unusable.tries >= MAX_UNUSABLE ||
		(unusable.tries > 1 && nowMs - unusable.sinceMs >= MAX_UNUSABLE_MS));

/** Whether a retry would fail, too. */
const isLasting = (error: unknown) =>
	error instanceof MediaError || (error instanceof EndpointError && error.isRefusal);

const isExpected = (error: unknown) =>
	error instanceof EndpointError ||
	error instanceof MediaError ||
	error instanceof ApiError ||
	answerOfDisk(error as Error) !== undefined;

function describe(error: Error): string {
	if (error instanceof DiarizationError) return `The diarization endpoint ${error.message}`;
	if (error instanceof EndpointError) return `The transcription endpoint ${error.message}`;
	if (error instanceof MediaError || error instanceof ApiError) return error.message;
	return (
		answerOfDisk(error)?.message ?? `Something failed (${reasonOf(error)}). The log says where`
	);
}

/** A killed process may already have moved a file. */
function unlessGone(error: NodeJS.ErrnoException): void {
	if (error.code !== 'ENOENT') throw error;
}

const DELETED =
	"Its lifelog was deleted, so it isn't added again. To add it, upload the file with again=true";

const GROWN =
	'The file was still being written when it was taken. It goes back to the inbox, and is taken again';

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size;
