import { randomBytes } from 'node:crypto';
import { rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Chat, Lifelog } from '../../nodes/shared/api-types.ts';
import { ApiError } from '../errors.mts';
import { fuse } from '../meaning/fusion.mts';
import type { Meaning } from '../meaning/meaning.mts';
import type { Counts, DayRecord, Rows } from '../store/rows.mts';
import type { Audio, ChatFilter, LifelogFilter, Parts, Slice, Store } from '../store/store.mts';
import { ArchiveAudio } from './audio.mts';
import { FileError, ignoreFileError, type Folder } from './folder.mts';
import { nameOfDay, type DayFile, type NamedFile } from './layout.mts';
import { Sync, type OnProblem } from './sync.mts';

/** How an archive is served. */
export interface ArchiveOptions {
	/** Whether a delete deletes files. Otherwise it is refused. */
	allowDelete: boolean;
	onProblem: OnProblem;
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
	readonly #allowDelete: boolean;
	readonly #meaning: Meaning | undefined;
	/** What changes the index or the folder, one after the other. */
	#changes: Promise<unknown> = Promise.resolve();

	constructor(folder: Folder, rows: Rows, { allowDelete, onProblem, meaning }: ArchiveOptions) {
		this.#meaning = meaning;
		this.#folder = folder;
		this.#rows = rows;
		this.#sync = new Sync(folder, rows, onProblem);
		this.#audio = new ArchiveAudio(folder, rows, onProblem);
		this.#allowDelete = allowDelete;
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
		if (!this.#allowDelete) {
			throw new ApiError(
				403,
				'This archive is served to be read only: start lifelog-server with --allow-delete to delete from it',
			);
		}
		return this.#change(async () => {
			// A day may have been archived since the last look, and is not to be hidden by an older one.
			await this.#look();
			const days = await Promise.all(
				this.#rows.daysOf(kind, id).map((day) => this.#readDayFiles(day)),
			);
			if (days.length === 0) return false;
			const files: NamedFile[] = [];
			for (const dayFiles of days) files.push(...(await this.#removeFromDay(kind, id, dayFiles)));
			for (const { path } of files) await this.#removeFile(path);
			await this.#look();
			return true;
		});
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

	/** Writes a day anew without an entry, and returns the files that it named for it. */
	async #removeFromDay(
		kind: Kind,
		id: string,
		dayFiles: [name: string, dayFile: DayFile][],
	): Promise<NamedFile[]> {
		const newest = dayFiles.at(0)?.[1];
		if (!newest) return [];
		const list = kind === 'lifelog' ? 'lifelogs' : 'chats';
		const files = dayFiles.flatMap(([, dayFile]) => dayFile[list][id]?.files ?? []);
		const left: DayFile = {
			...newest,
			[list]: Object.fromEntries(Object.entries(newest[list]).filter(([key]) => key !== id)),
			archivedAt: new Date(Math.max(Date.now(), Date.parse(newest.archivedAt) + 1)).toISOString(),
		};
		const name = nameOfDay(left);
		const path = join(this.#folder.root, 'days', name);
		const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
		try {
			await writeFile(draft, `${JSON.stringify(left, null, '\t')}\n`, { flush: true });
			await rename(draft, path);
		} finally {
			await rm(draft, { force: true });
		}
		// What the day was before names what is to be gone.
		for (const [old] of dayFiles) if (old !== name) await this.#removeFile(`days/${old}`);
		return files;
	}

	async #removeFile(path: string): Promise<void> {
		try {
			// Opened as it would be to be read, so that nothing outside of the archive is deleted.
			await (await this.#folder.open(path)).close();
			await unlink(join(this.#folder.root, path));
		} catch (error) {
			if (!(error instanceof FileError)) throw error;
		}
	}

	#change<Result>(change: () => Promise<Result>): Promise<Result> {
		const done = this.#changes.then(change);
		this.#changes = done.catch(() => {});
		return done;
	}
}
