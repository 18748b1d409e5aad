import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import pRetry from 'p-retry';
import type { Lifelog } from '../../nodes/shared/api/apiTypes.ts';
import { prepareFolder } from '../archive/commit.mts';
import type { RecordingStore } from '../store/store.mts';
import { EndpointError } from '../util/endpoint.mts';
import { ApiError } from '../util/errors.mts';
import { answerOfDisk, reasonOf, whereIs } from '../util/failures.mts';
import { splitAtPauses } from './conversations.mts';
import { cutChunks, encodeOpus, MediaError, probeRecording } from './ffmpeg.mts';
import {
	hashOf,
	hasContent,
	isProcessing,
	isThere,
	PROCESSING,
	putAway,
	shortName,
} from './inboxFiles.mts';
import { firstSentence, latestEnd, recordedId, toLifelog } from './lifelog.mts';
import { Queue, type Queued, type Recording, type Status, type Upload } from './queue.mts';
import { cutTo, MAX_TITLE_LENGTH, type Segment } from './segments.mts';
import { startOf } from './startTime.mts';
import type { Titles } from './title.mts';
import {
	DiarizationError,
	joinChunks,
	nameSpeakers,
	type Diarizer,
	type Transcriber,
} from './transcribe.mts';

/** What turning recordings into lifelogs takes. */
export interface RecordingsOptions {
	/** The folder of the archive. */
	root: string;
	/** The file of the queue. */
	queue: string;
	store: RecordingStore;
	transcriber: Transcriber;
	/** Says who speaks, if the transcriber doesn't. */
	diarizer?: Diarizer;
	/** Writes titles and headings; without it a title is the first sentence. */
	titles?: Titles;
	/** Whether files that were uploaded are kept in `originals/` when they are done. */
	keepOriginals: boolean;
	/** IANA name of the zone of local times in names of files. */
	timezone: string;
	info: (line: string) => void;
	warn: (line: string) => void;
	/** Epoch ms. */
	now: () => number;
}

/** A file that was received, and whose bytes are safe on the disk. */
export interface Received {
	path: string;
	/** In hexadecimal digits. */
	sha256: string;
	bytes: number;
}

/** What is given with an upload. Without a time of its last change, it was changed just now. */
type Asked = Omit<Upload, 'path' | 'inbox' | 'modifiedMs'> & Partial<Pick<Upload, 'modifiedMs'>>;

/** The work on a recording, until it is done or has failed. */
interface Job {
	stop: AbortController;
	/** Whether it is its turn. */
	isRunning: boolean;
	ended: Promise<void>;
}

/** Of the archive. Uploads that wait, and work in progress. */
const FOLDER = '.lifelog-recordings';
const ORIGINALS = 'originals';
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 3_600_000;
const COPY_PAUSE_MS = 100;

/**
 * The recordings that become lifelogs: a queue that survives restarts, worked off one after the other.
 * A recording waits for its next try without holding up the others.
 */
export class Recordings {
	readonly #options: RecordingsOptions;
	readonly #queue: Queue;
	readonly #turns = new PQueue({ concurrency: 1 });
	/** Nothing is added while it is looked for. */
	readonly #adding = new PQueue({ concurrency: 1 });
	readonly #jobs = new Map<string, Job>();
	#isClosed = false;

	/** Throws an Error that says what to do if the queue can't be opened. */
	constructor(options: RecordingsOptions) {
		this.#options = options;
		this.#queue = new Queue(options.queue);
	}

	/**
	 * Sorts what the last run left, before anything is received. Rejects if the folder of the archive
	 * can't be written.
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

	/** Goes on with what the last run left. */
	begin(): void {
		for (const { id } of [...this.#queue.untidy(), ...this.#queue.open()]) this.#start(id);
	}

	/** Takes a file into the queue whose recording was lost with an older queue. */
	async #takeAgain(path: string): Promise<void> {
		const sha256 = await hashOf(path);
		const { mtimeMs } = await stat(path);
		const [id, fileName] = [idOf(sha256), basename(path)];
		if (this.#queue.find(sha256) || fileName !== `${id}.original`) await rm(path);
		else this.#insert(id, sha256, { path, fileName, modifiedMs: mtimeMs });
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		for (const { stop } of this.#jobs.values()) stop.abort();
		await Promise.all([...this.#jobs.values()].map(({ ended }) => ended));
		this.#queue.close();
	}

	/**
	 * Writes what is uploaded to the disk.
	 *
	 * @throws What the upload or the disk fails with; nothing of it is left then.
	 */
	async receive(upload: Readable): Promise<Received> {
		const path = join(this.#folder, `${randomBytes(8).toString('hex')}.part`);
		try {
			const hash = createHash('sha256');
			let bytes = 0;
			await pipeline(
				upload,
				async function* (pieces: AsyncIterable<Buffer>) {
					for await (const piece of pieces) {
						hash.update(piece);
						bytes += piece.length;
						yield piece;
					}
				},
				createWriteStream(path, { flags: 'wx', flush: true }),
			);
			return { path, sha256: hash.digest('hex'), bytes };
		} catch (error) {
			await rm(path, { force: true });
			throw error;
		}
	}

	/** Removes a file that was received and isn't wanted. */
	async discard({ path }: Received): Promise<void> {
		await rm(path, { force: true });
	}

	/**
	 * Takes a file that was received into the queue, unless the same bytes or the same external ID were
	 * taken before. A recording that failed is tried again then, as it is asked for now. Other bytes take
	 * its external ID, and it stays.
	 */
	async add(received: Received, asked: Asked): Promise<{ recording: Recording; isNew: boolean }> {
		const { sha256 } = received;
		const id = idOf(sha256);
		const path = join(this.#folder, `${id}.original`);
		return await this.#adding.add(async () => {
			let known = this.#queue.find(sha256, asked.externalId);
			if (known?.status === 'failed' && known.sha256 !== sha256) {
				this.#queue.update(known.id, { externalId: undefined });
				known = this.#queue.find(sha256);
			}
			if (known && (await this.#lacks(known, sha256))) {
				await rename(received.path, path);
				const change = { ...asked, path, inbox: undefined };
				return { recording: await this.#again(id, change), isNew: false };
			}
			if (known) {
				await this.discard(received);
				const recording = known.status === 'failed' ? await this.#again(known.id, asked) : known;
				return { recording, isNew: false };
			}
			// `prepare` would take an `.original` without a row for an upload of a lost queue.
			const taken = join(this.#folder, `${id}.taken`);
			await rename(received.path, taken);
			try {
				const recording = this.#insert(id, sha256, { ...asked, path });
				await rename(taken, path);
				this.#start(id);
				return { recording, isNew: true };
			} catch (error) {
				if (!this.#queue.get(id)) await rm(taken, { force: true });
				throw error;
			}
		});
	}

	/** Whether these are the bytes of a recording that needs its file, and has lost it. */
	async #lacks(known: Queued, sha256: string): Promise<boolean> {
		if (known.status === 'done' || known.sha256 !== sha256) return false;
		return !(await hasContent(known.path, sha256));
	}

	/** Whether the bytes of a file were taken before, or dropped. */
	async knows(path: string, signal: AbortSignal): Promise<boolean> {
		const sha256 = await hashOf(path, signal);
		return this.#queue.find(sha256) !== undefined || this.#queue.wasRemoved(sha256);
	}

	/** Takes a file of the inbox into the queue. It stays in its place until it is done or has failed. */
	async addFromInbox(file: Upload & { inbox: string }, signal: AbortSignal): Promise<void> {
		const sha256 = await hashOf(file.path, signal);
		await this.#adding.add(() => this.#addFromInbox(file, sha256));
	}

	async #addFromInbox(file: Upload & { inbox: string }, sha256: string): Promise<void> {
		const known = this.#queue.find(sha256);
		if (!known) {
			this.#insert(idOf(sha256), sha256, file);
			return this.#start(idOf(sha256));
		}
		const isInPlace = known.path === file.path;
		// Its own work puts it away.
		if (isInPlace && (isOpen(known) || !known.isTidy)) return;
		const { timezone } = this.#options;
		if (known.status === 'failed' || (await this.#lacks(known, sha256))) {
			await this.#stop(known.id);
			const before = this.#known(known.id);
			const { status } = await this.#again(known.id, file);
			if (status !== 'done') {
				if (isInPlace) return;
				const hasFailed = before.status === 'failed';
				if (before.inbox === undefined) await rm(before.path, { force: true });
				else await putAway({ ...before, status: hasFailed ? 'failed' : 'done' }, timezone);
				return;
			}
		} else if (isOpen(known)) {
			this.#putAwayLater(known, file).catch((error: unknown) => {
				const { code, at } = whereIs(error as Error);
				this.#options.warn(`A copy of recording ${known.id} stays: ${[code, ...at].join(' ')}`);
			});
			return;
		}
		await putAway({ ...known, ...file, status: 'done' }, timezone);
	}

	/** Puts a copy of a file away as its recording ends. A server that is stopped does so at its next start. */
	async #putAwayLater(known: Queued, file: Upload): Promise<void> {
		let ended: Queued | undefined = known;
		while (ended && isOpen(ended)) {
			await this.#jobs.get(known.id)?.ended;
			// Another try may begin.
			await sleep(COPY_PAUSE_MS, undefined, { ref: false });
			if (this.#isClosed) return;
			ended = this.#queue.get(known.id);
		}
		const dropped = { ...known, status: 'failed', error: DISCARDED } as const;
		await putAway({ ...(ended ?? dropped), ...file }, this.#options.timezone);
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

	get(id: string): Recording | undefined {
		return this.#queue.get(id);
	}

	/** Lists recordings, newest first, only those with `status`, if given. */
	list(status: Status | undefined, afterId: string | undefined, limit: number): Recording[] {
		return this.#queue.list(status, afterId, limit);
	}

	/**
	 * Tries a recording again that failed or waits for its next try.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 for one that is done or is being transcribed.
	 */
	async retry(id: string): Promise<Recording> {
		const recording = this.#known(id);
		if (recording.status === 'done' || recording.status === 'transcribing') {
			throw new ApiError(
				409,
				`The recording is ${recording.status}. There is nothing to try again`,
			);
		}
		return await this.#again(id);
	}

	/** Begins a recording again, with what has changed, unless it has become done meanwhile. */
	async #again(id: string, change: Partial<Upload> = {}): Promise<Recording> {
		await this.#stop(id);
		const recording = this.#known(id);
		if (recording.status === 'done') return recording;
		const { language = recording.language } = change;
		if (language !== recording.language) this.#queue.discardHeard(id);
		try {
			return this.#queue.update(id, {
				...change,
				...{ status: 'queued', error: null, isTidy: true },
				...(recording.status === 'failed' && { startTime: null, startTimeFrom: null }),
			});
		} finally {
			// Also where the disk has no room for the change.
			this.#start(id);
		}
	}

	/** Stops the work on a recording, and waits until none of it is under way. */
	async #stop(id: string): Promise<void> {
		// Somebody may begin the next one meanwhile.
		for (let job = this.#jobs.get(id); job; job = this.#jobs.get(id)) {
			job.stop.abort();
			// One that waits for its turn does nothing when it comes.
			if (job.isRunning) await job.ended;
			if (this.#jobs.get(id) === job) this.#jobs.delete(id);
		}
	}

	/**
	 * Drops a recording that isn't done, with its file. One of the inbox is moved to `failed/`.
	 *
	 * @throws ApiError: 404 for an unknown ID, 409 for one that is done.
	 */
	async drop(id: string): Promise<void> {
		this.#known(id);
		await this.#stop(id);
		const recording = this.#known(id);
		if (recording.status === 'done') {
			throw new ApiError(409, 'The recording is done. Delete its lifelogs instead');
		}
		if (recording.inbox === undefined) await rm(recording.path, { force: true });
		else if (recording.status !== 'failed' || !recording.isTidy) {
			await putAway({ ...recording, status: 'failed', error: DISCARDED }, this.#options.timezone);
		}
		this.#queue.remove(id);
		await this.#removeWork(id);
	}

	#known(id: string): Queued {
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

	#start(id: string): void {
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

	/** Rejects if it is to be tried again. */
	async #attempt(id: string, signal: AbortSignal): Promise<void> {
		signal.throwIfAborted();
		// Dropped while it waited.
		if (!this.#queue.get(id)) return;
		if (this.#queue.get(id)!.isTidy) await this.#finish(id, signal);
		const ended = this.#queue.get(id)!;
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

	/** Makes a recording done or failed. Rejects if it is to be tried again. */
	async #finish(id: string, signal: AbortSignal): Promise<void> {
		const { attempts, error: before } = this.#queue.get(id)!;
		try {
			const recording = this.#queue.update(id, { status: 'transcribing', attempts: attempts + 1 });
			const lifelogIds = await this.#process(recording, signal);
			const done = { status: 'done', lifelogIds, error: null, isTidy: false } as const;
			this.#queue.update(id, done);
			this.#options.info(`Recording ${id} is done: ${countOf(lifelogIds.length)}`);
		} catch (error) {
			if (signal.aborted) {
				this.#queue.update(id, { status: 'queued', attempts });
				throw error;
			}
			const message = describe(error as Error);
			// What was made so far may have filled the disk of the queue.
			await rm(this.#workOf(id), { recursive: true, force: true }).catch(() => {});
			if (isLasting(error)) {
				const failed = { status: 'failed', error: message, isTidy: false } as const;
				this.#queue.update(id, failed);
				this.#options.warn(`Recording ${id} failed: ${message}`);
				return;
			}
			if (!isExpected(error)) {
				const { code, at } = whereIs(error as Error);
				this.#options.warn(`Recording ${id}: ${[code, ...at].join(' ')}`);
			}
			if (message !== before) {
				this.#options.warn(`Recording ${id} is tried again later: ${message}`);
			}
			this.#queue.update(id, { status: 'queued', error: message });
			throw new Error(message, { cause: error });
		}
	}

	/** Makes the lifelogs of a recording, and returns the IDs of those that are in the archive. */
	async #process(recording: Queued, signal: AbortSignal): Promise<string[]> {
		const { store, titles, timezone, now } = this.#options;
		const { id, path, inbox } = recording;
		// Without its folder, a disk may only not be mounted.
		await access(inbox === undefined ? this.#folder : join(inbox, PROCESSING));
		const bytes = await sizeOf(path);
		if (!(await hasContent(path, recording.sha256, signal))) {
			if (bytes !== undefined && isProcessing(recording)) throw new MediaError(GROWN);
			const again = inbox === undefined ? 'Upload it again' : 'Put it into the inbox again';
			throw new MediaError(`The file is no longer in ${basename(dirname(path))}/. ${again}`);
		}
		const work = this.#workOf(id);
		await rm(work, { recursive: true, force: true });
		await mkdir(work);
		const { durationMs, createdMs } = await probeRecording(path, { signal });
		const start = startOf({
			...{ given: recording.startMs, fileName: recording.fileName, createdMs },
			...{ modifiedMs: recording.modifiedMs, durationMs, timezone, nowMs: now() },
		});
		// Once, because a later try is at another time.
		const startMs = recording.startTime === null ? start.startMs : Date.parse(recording.startTime);
		if (recording.startTime === null) {
			const startTime = new Date(startMs).toISOString();
			this.#queue.update(id, { startTime, startTimeFrom: start.from, durationMs });
		}
		const audio = join(this.#folder, `${id}.ogg`);
		if (!(await isThere(audio))) {
			await encodeOpus(path, join(work, 'audio.ogg'), { signal });
			await rename(join(work, 'audio.ogg'), audio);
		}
		const segments = await this.#transcribe(recording, work, signal);
		const lifelogs: Lifelog[] = [];
		for (const [part, conversation] of splitAtPauses(segments).entries()) {
			const written = await titles?.write(conversation.segments, signal);
			const title = recording.title ?? written?.title;
			const beginMs = startMs + conversation.startMs;
			lifelogs.push(
				toLifelog({
					id: recordedId(recording.externalId ?? recording.sha256, part),
					title: title ? cutTo(MAX_TITLE_LENGTH, title) : firstSentence(conversation.segments),
					startMs: beginMs,
					endMs: beginMs + latestEnd(conversation.segments),
					segments: conversation.segments,
					headings: written?.headings ?? [],
					madeMs: now(),
				}),
			);
		}
		signal.throwIfAborted();
		const { externalId } = recording;
		if (isProcessing(recording) && ((await sizeOf(path)) ?? bytes) !== bytes) {
			throw new MediaError(GROWN);
		}
		return await store.addRecording({ path: audio, startMs }, lifelogs, externalId);
	}

	async #transcribe(
		{ id, path, language }: Queued,
		work: string,
		signal: AbortSignal,
	): Promise<Segment[]> {
		const { transcriber, diarizer } = this.#options;
		const chunks = await cutChunks(path, work, { format: transcriber.format, signal });
		const parts: { offsetMs: number; segments: Segment[] }[] = [];
		for (const chunk of chunks) {
			const { offsetMs, durationMs } = chunk;
			let heard = this.#queue.heardIn(id, chunk);
			if (!heard) {
				const asked = { durationMs, language, signal };
				heard = { segments: await transcriber.transcribe(chunk.path, asked), isDiarized: false };
				this.#queue.keepHeard(id, chunk, heard);
			}
			if (diarizer && !heard.isDiarized && heard.segments.length > 0) {
				const turns = await this.#turnsIn(chunk.path, id, diarizer, signal);
				heard = { segments: nameSpeakers(heard.segments, turns), isDiarized: true };
				this.#queue.keepHeard(id, chunk, heard);
			}
			parts.push({ offsetMs, segments: heard.segments });
		}
		return joinChunks(parts);
	}

	/** Who speaks when in a chunk; nobody if the endpoint never takes it, because the words are there. */
	async #turnsIn(path: string, id: string, diarizer: Diarizer, signal: AbortSignal) {
		try {
			return await diarizer.diarize(path, { signal });
		} catch (error) {
			if (!(error instanceof DiarizationError && error.isRefusal)) throw error;
			this.#options.warn(
				`A part of recording ${id} has no speakers: ${describe(error)}. Check --diarization-model`,
			);
			return [];
		}
	}

	/** Puts the file of a recording away that is done or has failed, and what was made on the way. */
	async #tidy(recording: Queued): Promise<void> {
		const { id, inbox, status, path, fileName, createdAt } = recording;
		let kept = path;
		if (inbox !== undefined) {
			kept = await putAway(recording, this.#options.timezone);
		} else if (status === 'done' && this.#options.keepOriginals) {
			const folder = `${ORIGINALS}/${createdAt.slice(0, 7).replace('-', '/')}`;
			await prepareFolder(this.#options.root, folder);
			kept = join(this.#options.root, folder, `${id}_${shortName(fileName)}`);
			await rename(path, kept).catch(unlessGone);
		} else if (status === 'done') {
			await rm(path, { force: true });
		}
		await this.#removeWork(id);
		this.#queue.update(id, { path: kept, isTidy: true });
		if (status === 'done') this.#queue.discardHeard(id);
	}

	async #removeWork(id: string): Promise<void> {
		for (const path of [this.#workOf(id), join(this.#folder, `${id}.ogg`)]) {
			await rm(path, { recursive: true, force: true });
		}
	}
}

/** Whether there is still something to transcribe. */
const isOpen = ({ status }: Recording) => status === 'queued' || status === 'transcribing';

const idOf = (sha256: string) => `rec-${sha256.slice(0, 20)}`;

const countOf = (lifelogs: number) =>
	lifelogs === 0 ? 'no lifelog' : `${lifelogs} ${lifelogs === 1 ? 'lifelog' : 'lifelogs'}`;

/** Whether another try would fail as well. */
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

/** A process that was killed may have moved a file already. */
function unlessGone(error: NodeJS.ErrnoException): void {
	if (error.code !== 'ENOENT') throw error;
}

const DISCARDED = 'It was discarded. Delete it, or move it back';

const GROWN =
	'The file was still being written when it was taken. It goes back to the inbox, and is taken again';

const sizeOf = async (path: string) => (await stat(path).catch(() => undefined))?.size;
