// Exports lifelogs as Markdown files, optionally with their audio.
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import pMap from 'p-map';
import type { Lifelog } from '../../lifelog/api.ts';
import { writeLifelog } from '../../lifelog/files/formats.ts';
import { FileError } from '../archive/folder.mts';
import { ArchiveAudio } from '../index/archiveAudio.mts';
import type { Audio } from '../index/store.mts';
import { UnavailableError } from '../util/errors.mts';
import type { Span } from '../util/spans.mts';
import { CHANGED, type ExportFolder, LOCKED, type Put } from './exportFolder.mts';
import { isSound, NOTE, Places, SOUND, stemOf } from './places.mts';
import type { Exported, OnProgress } from './report.mts';
import { type ArchivedLifelog, hashOf, pathOf, type Source } from './source.mts';
import { audioSource } from './spoken.mts';
import type { MadeLifelog } from './state.mts';

export interface NotesOptions {
	/** IANA time zone of times and names. */
	timezone: string;
	/** Whether to export audio. Audio that was exported earlier stays. */
	audio: boolean;
}

// Lifelogs to read at once, and to write before they are moved to their places.
const CONCURRENT = 8;
const CHUNK = 48;
const MAX_PENDING = 500;
const MAX_PENDING_BYTES = 256 * 1024 * 1024;

/** A lifelog to write. */
interface Work {
	id: string;
	lifelog: Lifelog;
	made: MadeLifelog;
	/** undefined if the lifelog has none, or it is unchanged. */
	audio?: Audio;
	/** Path of the unchanged audio. */
	audioPath?: string;
}

/** Writes new and changed lifelogs, and removes those that were deleted from the archive. */
export class NotesExport {
	readonly #source: Source;
	readonly #to: ExportFolder;
	readonly #options: NotesOptions;
	readonly #done: Exported;
	#audio: { source: ReturnType<typeof audioSource>; cut: ArchiveAudio } | undefined;
	readonly #places: Places;
	/** Audio of the archive that doesn't match its manifest. */
	readonly #broken = new Set<string>();
	#pending: { work: Work; puts: Put[] }[] = [];
	#pendingBytes = 0;

	/** @param done Results are added to it. */
	constructor(source: Source, to: ExportFolder, options: NotesOptions, done: Exported) {
		this.#source = source;
		this.#to = to;
		this.#options = options;
		this.#done = done;
		this.#places = new Places(to, options.timezone);
	}

	async run(onProgress: OnProgress): Promise<void> {
		const { lifelogs, unread } = this.#source.contents;
		this.#done.failed.push(...unread);
		await this.#removeDeleted();
		onProgress(0, lifelogs.length);
		const hasAudio = [...this.#to.state.files.keys()].some(isSound);
		if (this.#options.audio || hasAudio) await this.#prepareAudio();
		for (let at = 0; at < lifelogs.length; at += CHUNK) {
			const chunk = lifelogs.slice(at, at + CHUNK);
			const read = await pMap(chunk, (each) => this.#prepare(each), { concurrency: CONCURRENT });
			const placed: { work: Work; path: string }[] = [];
			// Sequentially, so that names don't depend on the order of reading.
			for (const work of read.filter((each) => each !== undefined)) {
				placed.push({ work, path: await this.#places.of(work) });
			}
			await pMap(placed, (each) => this.#draft(each), { concurrency: CONCURRENT });
			if (this.#pending.length >= MAX_PENDING || this.#pendingBytes >= MAX_PENDING_BYTES) {
				await this.#put();
			}
			onProgress(Math.min(at + CHUNK, lifelogs.length), lifelogs.length);
			await yieldToOthers();
		}
		await this.#put();
	}

	async #removeDeleted(): Promise<void> {
		const { lifelogs, deleted, unread } = this.#source.contents;
		const there = new Set(lifelogs.map(({ id }) => id));
		const ids = new Set([...this.#to.state.files.values()].map(({ id }) => id));
		for (const id of ids) {
			if (id === '' || there.has(id)) continue;
			for (const path of this.#to.filesOf(id)) {
				if (!deleted.has(id)) {
					// An unreadable day may have it.
					if (unread.length === 0) this.#keep(path, "has a lifelog that isn't in the archive");
					continue;
				}
				const found = await this.#to.look(path);
				const problem = await this.#to.remove(path);
				if (problem === LOCKED) this.#fail(path, problem);
				else if (problem) this.#keep(path, `${problem}. Its lifelog was deleted`);
				else if (found !== 'nothing') this.#done.removed += 1;
			}
			if (this.#to.filesOf(id).length === 0) this.#to.forgetLifelog(id);
		}
	}

	/** Reads the times of all lifelogs. They locate speech in audio whose pauses the service left out. */
	async #prepareAudio(): Promise<void> {
		const { lifelogs, deleted, audio } = this.#source.contents;
		const spans = new Map<string, Span>();
		for (const [id, span] of deleted) if (span) spans.set(id, span);
		const read = async (each: ArchivedLifelog) => {
			const known = this.#to.state.lifelogs.get(each.id);
			if (known?.text === this.#textKey(each)) {
				return void spans.set(each.id, { startMs: known.startMs, endMs: known.endMs });
			}
			// An unreadable one is reported when it is to be written.
			const lifelog = await this.#source.lifelogOf(each).catch(() => undefined);
			if (lifelog) spans.set(each.id, spanOf(lifelog));
		};
		await pMap(lifelogs, read, { concurrency: CONCURRENT });
		const source = audioSource(audio, spans);
		const onProblem = (path: string, problem: string) => {
			this.#broken.add(path);
			this.#fail(path, problem);
		};
		this.#audio = { source, cut: new ArchiveAudio(this.#source.folder, source, onProblem) };
	}

	#textKey(each: ArchivedLifelog): string {
		return hashOf([this.#source.keyOf(each), this.#options.timezone]);
	}

	/** A key of a lifelog's audio that changes with the cut; empty without audio. */
	#audioKey(id: string, { startMs, endMs }: Span): string {
		const wanted = this.#options.audio || this.#to.filesOf(id).some(isSound);
		if (!wanted || !this.#audio) return '';
		const { source } = this.#audio;
		const files = source.audioBetween(startMs, endMs);
		// It may be complete next time.
		if (files.some(({ path }) => this.#broken.has(path))) return '';
		const parts = files.map((file) => [file, source.spokenBetween(file.startMs, file.endMs)]);
		return hashOf([startMs, endMs, parts]);
	}

	/** Reads a lifelog to write; undefined if it is unchanged or unreadable. */
	async #prepare(each: ArchivedLifelog): Promise<Work | undefined> {
		const { id } = each;
		const text = this.#textKey(each);
		const known = this.#to.state.lifelogs.get(id);
		const isSame = known?.text === text && known.audio === this.#audioKey(id, known);
		const isTwice = this.#to.filesOf(id).filter((path) => !isSound(path)).length > 1;
		let isWhole = isSame && !isTwice;
		let audioPath: string | undefined;
		for (const path of this.#to.filesOf(id)) {
			const found = await this.#to.look(path);
			if (found === 'nothing') isWhole = false;
			if (found !== 'changed') continue;
			this.#keep(path, CHANGED);
			// The user has edited this file, so no second one is written.
			if (!isSound(path)) return undefined;
			audioPath = path;
		}
		if (isWhole && this.#to.filesOf(id).length > 0) return undefined;
		try {
			const lifelog = await this.#source.lifelogOf(each);
			const span = spanOf(lifelog);
			const work: Work = { id, lifelog, made: { text, audio: '', ...span }, audioPath };
			const audio = this.#audioKey(id, span);
			return audio === '' ? work : await this.#withAudio(work, audio, known?.audio === audio);
		} catch (error) {
			if (!(error instanceof FileError)) throw error;
			this.#fail(pathOf(each), error.message);
		}
	}

	/** @param isSame Whether its exported audio is up to date. */
	async #withAudio(work: Work, key: string, isSame: boolean): Promise<Work> {
		if (work.audioPath !== undefined) return { ...work, made: { ...work.made, audio: key } };
		const [own] = this.#to.filesOf(work.id).filter(isSound);
		try {
			const audio = await this.#audio!.cut.of(work.lifelog);
			const made = { ...work.made, audio: this.#audioKey(work.id, work.made) && key };
			// Exported audio stays even if the archive no longer has it.
			if (!audio) return { ...work, made, audioPath: own };
			const isThere = isSame && own && (await this.#to.look(own)) === 'unchanged';
			return { ...work, made, audio, audioPath: isThere ? own : undefined };
		} catch (error) {
			if (!(error instanceof UnavailableError)) throw error;
			this.#fail(`audio of ${work.id}`, error.message);
			return { ...work, audioPath: own };
		}
	}

	async #draft({ work, path }: { work: Work; path: string }): Promise<void> {
		const { id, lifelog, audio, made } = work;
		const puts: Put[] = [];
		const put = async (to: string, content: Parameters<ExportFolder['write']>[0]) => {
			const isOther = (each: string) => isSound(each) === isSound(to) && each !== to;
			const before = this.#to.filesOf(id).filter(isOther);
			if (before.length === 0 && (await this.#to.has(to, content))) return;
			const draft = await this.#to.write(content);
			this.#pendingBytes += draft.bytes;
			puts.push({ path: to, draft, made: { id }, before });
		};
		let { audioPath } = work;
		const isRenamed = audioPath !== undefined && stemOf(audioPath) !== path;
		const isKept = audioPath !== undefined && (await this.#to.look(audioPath)) === 'changed';
		if (audio && (audioPath === undefined || (isRenamed && !isKept))) {
			audioPath = path + SOUND;
			try {
				await put(audioPath, audio.read(0, audio.bytes) as AsyncIterable<Uint8Array>);
			} catch (error) {
				if (!(error instanceof FileError)) throw error;
				this.#fail(`audio of ${id}`, error.message);
				made.audio = '';
				audioPath = this.#to.filesOf(id).find(isSound);
			}
		}
		const name = audioPath?.slice(audioPath.lastIndexOf('/') + 1);
		const { content } = writeLifelog(lifelog, 'markdown', this.#options.timezone, name)!;
		await put(path + NOTE, content);
		this.#pending.push({ work, puts });
	}

	/** Moves the drafts to their places. */
	async #put(): Promise<void> {
		const pending = this.#pending;
		this.#pending = [];
		this.#pendingBytes = 0;
		const all = pending.flatMap(({ puts }) => puts);
		const done = await this.#to.put(all, this.#done);
		for (const { work, puts } of pending) {
			if (puts.every(({ path }) => done.has(path))) this.#to.remember(work.id, work.made);
		}
	}

	#keep(path: string, problem: string): void {
		this.#done.kept.push({ path, problem });
	}

	#fail(path: string, problem: string): void {
		this.#done.failed.push({ path, problem });
	}
}

const spanOf = ({ startTime, endTime }: Lifelog): Span => ({
	startMs: Date.parse(startTime),
	endMs: Date.parse(endTime),
});
