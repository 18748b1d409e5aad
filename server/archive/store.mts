import type { Chat, Lifelog } from '../../nodes/shared/api/apiTypes.ts';
import { ApiError } from '../errors.mts';
import { fuse } from '../meaning/fusion.mts';
import type { Meaning } from '../meaning/meaning.mts';
import type { Counts, DayRecord, Rows } from '../store/rows.mts';
import type { Audio, ChatFilter, LifelogFilter, Parts, Slice, Store } from '../store/store.mts';
import { ArchiveAudio } from './audio.mts';
import { commit, writeDraft, type Step } from './commit.mts';
import { LockedError } from './lock.mts';
import { ignoreFileError, type Folder } from './folder.mts';
import { nameOfDay, type DayFile } from './layout.mts';
import { Sync, type OnProblem } from './sync.mts';

/** How an archive is served. */
export interface ArchiveOptions {
	/** Whether a delete deletes files. Otherwise it is refused. */
	allowDelete: boolean;
	/** Why nothing may be deleted, for whoever asks to. */
	refusal?: string;
	onProblem: OnProblem;
	/** Called with a line about each delete: what it removed, and what it leaves. */
	log?: (line: string) => void;
	/** Where lifelogs are found by what they mean, too. */
	meaning?: Meaning;
}

// Of each ranking, so that what stands in both is seen to.
const fewestFused = 100;

type Kind = 'lifelog' | 'chat';

/** An archive in a folder, served from an index of it. */
export class ArchiveStore implements Store {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #sync: Sync;
	readonly #audio: ArchiveAudio;
	readonly #options: ArchiveOptions;
	readonly #meaning: Meaning | undefined;
	/** What changes the index or the folder, one after the other. */
	#changes: Promise<unknown> = Promise.resolve();

	constructor(folder: Folder, rows: Rows, options: ArchiveOptions) {
		const { onProblem, meaning } = options;
		this.#options = options;
		this.#meaning = meaning;
		this.#folder = folder;
		this.#rows = rows;
		this.#sync = new Sync(folder, rows, onProblem);
		this.#audio = new ArchiveAudio(folder, rows, onProblem);
	}

	/**
	 * Reads what is new or has changed in the folder; `onProgress` is told of days. Rejects when the
	 * folder cannot be listed or the index not be written.
	 */
	async refresh(onProgress?: (done: number, total: number) => void): Promise<void> {
		await this.#change(() => this.#look(onProgress));
	}

	/** The same, where something may have happened since, or not for a while been looked for. */
	async refreshIfDue(): Promise<void> {
		if (await this.#sync.isDue()) await this.refresh();
	}

	/** Ends a look at the folder after the day in hand; the next start goes on. */
	stop(): void {
		this.#sync.stop();
	}

	/** Resolves when nothing is changing the index or the folder. */
	async idle(): Promise<void> {
		await this.#changes;
	}

	/** Reads what is new or has changed, for search by meaning too. Only within a change. */
	async #look(onProgress?: (done: number, total: number) => void): Promise<void> {
		if (await this.#sync.run(onProgress)) this.#meaning?.catchUp();
	}

	counts(): Counts {
		return this.#rows.counts();
	}

	/** The days there are, in order. */
	days(): DayRecord[] {
		return this.#sync.days();
	}

	listLifelogs(filter: LifelogFilter, slice: Slice, parts?: Parts): Lifelog[] {
		return this.#rows.listLifelogs(filter, slice, parts);
	}

	async searchLifelogs(
		search: string,
		filter: LifelogFilter,
		limit: number,
		parts?: Parts,
	): Promise<Lifelog[]> {
		const found = await this.#search(search, filter, limit);
		return found
			.map((id) => this.#rows.getLifelog(id, parts))
			.filter((lifelog) => lifelog !== undefined);
	}

	async #search(search: string, filter: LifelogFilter, limit: number): Promise<string[]> {
		const meant = await this.#meaning?.search(search, filter, Math.max(limit, fewestFused));
		if (!meant) return this.#rows.searchLifelogs(search, filter, limit);
		const said = this.#rows.searchLifelogs(search, filter, Math.max(limit, fewestFused));
		return fuse([said, meant]).slice(0, limit);
	}

	getLifelog(id: string): Lifelog | undefined {
		return this.#rows.getLifelog(id);
	}

	listChats(filter: ChatFilter, slice: Slice): Chat[] {
		return this.#rows.listChats(filter, slice);
	}

	getChat(id: string): Chat | undefined {
		return this.#rows.getChat(id);
	}

	getAudio(startMs: number, endMs: number): Promise<Audio | undefined> {
		return this.#audio.between(startMs, endMs);
	}

	deleteLifelog(id: string): Promise<boolean> {
		return this.#delete('lifelog', id);
	}

	deleteChat(id: string): Promise<boolean> {
		return this.#delete('chat', id);
	}

	/**
	 * Deletes the files of an entry, after the days that name it no longer do. Throws an ApiError: 403
	 * while nothing may be deleted, 409 while a file of these days cannot be read.
	 */
	#delete(kind: Kind, id: string): Promise<boolean> {
		const { allowDelete, refusal, log } = this.#options;
		if (!allowDelete) {
			throw new ApiError(
				403,
				refusal ??
					'This archive is served to be read only: start lifelog-server with --allow-delete to delete from it',
			);
		}
		return this.#change(async () => {
			const removed: string[] = [];
			const audio = new Set<string>();
			let isThere = false;
			await commit(this.#folder.root, async () => {
				// A day may have been archived since the last look, and is not to be hidden by an older one.
				await this.#look();
				const days = this.#rows.daysOf(kind, id);
				isThere = days.length > 0;
				const lifelog = kind === 'lifelog' ? this.#rows.getLifelog(id) : undefined;
				for (const path of lifelog ? this.#audioOf(lifelog) : []) audio.add(path);
				const dayFiles = await Promise.all(days.map((day) => this.#readDayFiles(day)));
				const steps: Step[] = [];
				for (const files of dayFiles) {
					const { step, paths } = await this.#withoutEntry(kind, id, files);
					steps.push(...step);
					removed.push(...paths);
				}
				return [...steps, ...(await this.#removals(removed))];
			}).catch((error: Error) => {
				if (!(error instanceof LockedError)) throw error;
				throw new ApiError(409, `Nothing was deleted. ${error.message}: try again later`);
			});
			if (!isThere) return false;
			await this.#look();
			this.#rows.checkpoint();
			log?.(
				`Deleted a ${kind}: ${removed.join(', ') || 'no file'}. ${
					audio.size === 0
						? 'Nothing of it is left'
						: `Its audio stays, because the files can hold other conversations: ${[...audio].join(', ')}`
				}`,
			);
			return true;
		});
	}

	/** The audio files that a lifelog can be heard in. */
	#audioOf({ startTime, endTime }: Lifelog): string[] {
		const files = this.#rows.audioBetween(Date.parse(startTime), Date.parse(endTime));
		return files.map(({ path }) => path);
	}

	/** The files of a day by name, the one that counts first. */
	async #readDayFiles(day: string): Promise<[name: string, dayFile: DayFile][]> {
		const names = Object.keys(this.#sync.days().find((record) => record.day === day)?.files ?? {});
		const dayFiles: [string, DayFile][] = [];
		for (const name of names) {
			const dayFile = await this.#folder.readDayFile(name, day).catch(ignoreFileError);
			if (!dayFile) {
				throw new ApiError(
					409,
					`Nothing was deleted, as days/${name} cannot be read: try again when it is whole, or delete that file`,
				);
			}
			dayFiles.push([name, dayFile]);
		}
		return dayFiles.sort(([, a], [, b]) => Date.parse(b.archivedAt) - Date.parse(a.archivedAt));
	}

	/** The steps that make a day one without an entry, and the files that it named for it. */
	async #withoutEntry(
		kind: Kind,
		id: string,
		dayFiles: [name: string, dayFile: DayFile][],
	): Promise<{ step: Step[]; paths: string[] }> {
		const newest = dayFiles.at(0)?.[1];
		if (!newest) return { step: [], paths: [] };
		const list = kind === 'lifelog' ? 'lifelogs' : 'chats';
		const files = dayFiles.flatMap(([, dayFile]) => dayFile[list][id]?.files ?? []);
		const left: DayFile = {
			...newest,
			[list]: Object.fromEntries(Object.entries(newest[list]).filter(([key]) => key !== id)),
			archivedAt: new Date(Math.max(Date.now(), Date.parse(newest.archivedAt) + 1)).toISOString(),
		};
		const name = nameOfDay(left);
		const draft = await writeDraft(this.#folder.root, `${JSON.stringify(left, null, '\t')}\n`);
		// What the day was before names what is to be gone.
		const old = dayFiles.filter(([each]) => each !== name);
		return {
			step: [
				{ rename: draft, to: `days/${name}` },
				...old.map(([each]) => ({ remove: `days/${each}` })),
			],
			paths: [...new Set(files.map(({ path }) => path))],
		};
	}

	/** Removes files of the archive, and nothing outside of it. */
	async #removals(paths: string[]): Promise<Step[]> {
		const steps: Step[] = [];
		for (const path of paths) {
			if (await this.#folder.hasFolderOf(path)) steps.push({ remove: path });
		}
		return steps;
	}

	#change<Result>(change: () => Promise<Result>): Promise<Result> {
		const done = this.#changes.then(change);
		this.#changes = done.catch(() => {});
		return done;
	}
}
