import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { ApiError } from '../util/errors.mts';
import { fuse } from './fusion.mts';
import type { Meaning } from './meaning.mts';
import type { Counts, DayRecord, Rows } from './rows.mts';
import type {
	Audio,
	Changes,
	ChatFilter,
	LifelogFilter,
	SearchFilter,
	LifelogOrigin,
	LifelogRewriter,
	Parts,
	RecordedAudio,
	RecordingStore,
	Slice,
	Sources,
	Store,
} from './store.mts';
import { ArchiveDay, DayChangedError, EntryError } from '../archive/archiveDay.mts';
import { ArchiveAudio } from './archiveAudio.mts';
import { samplesPerMs } from '../audio/opus.mts';
import { scanLinks } from '../audio/scan.mts';
import { commit, removeDrafts, writeCopy, writeDraft, type Step } from '../archive/commit.mts';
import { addEdits, withoutTitle, type LifelogChange } from '../archive/edits.mts';
import { parseLifelog } from '../archive/entries.mts';
import { LockedError } from '../archive/lock.mts';
import { FileError, ignoreFileError, MissingFolderError, type Folder } from '../archive/folder.mts';
import { readArchived } from '../archive/entries.mts';
import { dayOf, lifelogFiles, toJson } from '../archive/lifelogFiles.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import {
	nameOfDay,
	type DayManifest,
	type LifelogEntry,
	type NamedFile,
	RECORDINGS,
} from '../archive/layout.mts';
import { withOwn } from '../archive/ownChanges.mts';
import { spansOf, type Span } from '../util/spans.mts';
import { Sync, type OnProblem } from './sync.mts';

/** How an archive is served. */
export interface ArchiveOptions {
	/** Whether a delete deletes files. Otherwise it is refused. */
	allowDelete: boolean;
	/** Whether lifelogs are created and changed. Otherwise it is refused. */
	allowChanges?: boolean;
	/** Why nothing may be deleted or changed, though it is allowed, for whoever asks to. */
	refusal?: string;
	onProblem: OnProblem;
	/** Told of a file that is served, but should be looked at. */
	onNote?: OnProblem;
	/** Called with a line about each delete: what it removed, and what it leaves. */
	log?: (line: string) => void;
	/** Where lifelogs are found by what they mean, too. */
	meaning?: Meaning;
	/** IANA name of the zone of times in new Markdown; UTC if missing. */
	timezone?: string;
}

/** Changes the entry of a lifelog, as its file has it, and says which other steps that takes. */
type EntryChange = (
	entry: LifelogEntry,
	stored: Lifelog,
) => Promise<{ entry: LifelogEntry; steps: Step[] }>;

// Of each ranking, so that what stands in both is seen to.
const MIN_FUSED = 100;
// Each one has been overtaken by another program that wrote to the same day.
const MAX_ATTEMPTS = 5;

type Kind = 'lifelog' | 'chat';

/** An archive in a folder, served from an index of it. */
export class ArchiveStore implements Store, Changes, RecordingStore, LifelogRewriter {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #sync: Sync;
	readonly #audio: ArchiveAudio;
	readonly #options: ArchiveOptions;
	readonly #meaning: Meaning | undefined;
	readonly #timezone: string;
	/** What changes the index or the folder, one after the other. */
	#changes: Promise<unknown> = Promise.resolve();

	constructor(folder: Folder, rows: Rows, options: ArchiveOptions) {
		const { onProblem, onNote, meaning, timezone = 'UTC' } = options;
		this.#timezone = timezone;
		this.#options = options;
		this.#meaning = meaning;
		this.#folder = folder;
		this.#rows = rows;
		this.#sync = new Sync(folder, rows, onProblem, onNote);
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

	/** Whether the folder has no days although the index has. */
	isFolderMissing(): Promise<boolean> {
		return this.#sync.isFolderMissing();
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
		filter: SearchFilter,
		limit: number,
		parts?: Parts,
	): Promise<Lifelog[]> {
		const found = await this.#search(search, filter, limit);
		return found
			.map((id) => this.#rows.getLifelog(id, parts))
			.filter((lifelog) => lifelog !== undefined);
	}

	filterLifelogs(filter: SearchFilter, skip: number, limit: number): string[] {
		return this.#rows.filterLifelogs(filter, skip, limit);
	}

	async #search(search: string, filter: SearchFilter, limit: number): Promise<string[]> {
		const meant = await this.#meaning?.search(search, filter, Math.max(limit, MIN_FUSED));
		if (!meant) return this.#rows.searchLifelogs(search, filter, limit);
		const said = this.#rows.searchLifelogs(search, filter, Math.max(limit, MIN_FUSED));
		return fuse([said, meant]).slice(0, limit);
	}

	get revision(): object {
		return this.#rows.revision;
	}

	lifelogTimes(): ReturnType<Rows['lifelogTimes']> {
		return this.#rows.lifelogTimes();
	}

	audioBetween(startMs: number, endMs: number): ReturnType<Rows['audioBetween']> {
		return this.#rows.audioBetween(startMs, endMs);
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

	getAudio(startMs: number, endMs: number, sources?: Sources): Promise<Audio | undefined> {
		return this.#audio.between(startMs, endMs, sources);
	}

	deleteLifelog(id: string): Promise<boolean> {
		return this.#delete('lifelog', id);
	}

	deleteChat(id: string): Promise<boolean> {
		return this.#delete('chat', id);
	}

	/**
	 * Deletes the files of an entry, after the days that name it have a tombstone instead. Throws an ApiError: 403
	 * while nothing may be deleted, 409 while a file of these days cannot be read.
	 */
	#delete(kind: Kind, id: string): Promise<boolean> {
		const { allowDelete, refusal, log } = this.#options;
		if (!allowDelete) {
			throw new ApiError(
				403,
				refusal ??
					'This archive is read-only: start lifelog-server with --allow-delete to delete from it',
			);
		}
		return this.#change(async () => {
			await this.#checkFolder();
			const removed: string[] = [];
			const audio = new Set<string>();
			let isThere = false;
			await commit(this.#folder.root, async () => {
				// A day may have been archived since the last look, and is not to be hidden by an older one.
				await this.#look();
				const lifelog = kind === 'lifelog' ? this.#rows.getLifelog(id) : undefined;
				isThere = lifelog !== undefined || (kind === 'chat' && this.getChat(id) !== undefined);
				if (!isThere) return [];
				const days = this.#rows.daysOf(kind, id);
				for (const path of lifelog ? this.#audioOf(lifelog) : []) audio.add(path);
				const dayManifests = await Promise.all(days.map((day) => this.#readDayManifests(day)));
				const steps: Step[] = [];
				for (const files of dayManifests) {
					const { step, paths } = await this.#entomb(kind, id, files, lifelog);
					steps.push(...step);
					removed.push(...paths);
				}
				return [...steps, ...(await this.#removals(removed))];
			}).catch((error: unknown) => {
				if (!(error instanceof LockedError)) throw error;
				throw new ApiError(409, `Nothing was deleted. ${error.message}: try again later`);
			});
			if (!isThere) return false;
			await this.#look();
			this.#rows.checkpoint();
			log?.(
				`Deleted a ${kind}: ${removed.join(', ') || 'no file'}. ${
					audio.size === 0
						? 'No files of it are left'
						: `Its audio stays, because the files can contain other lifelogs: ${[...audio].join(', ')}`
				}`,
			);
			return true;
		});
	}

	checkAllowed(): void {
		const { allowChanges, refusal } = this.#options;
		if (allowChanges) return;
		throw new ApiError(
			403,
			refusal ??
				'This archive accepts no new lifelogs and no changes: start lifelog-server with --allow-changes',
		);
	}

	stateOf(id: string): 'known' | 'deleted' | undefined {
		if (this.#rows.currentDay(id) !== undefined) return 'known';
		return this.#rows.isDeleted(id) ? 'deleted' : undefined;
	}

	createLifelog(lifelog: Lifelog, origin: LifelogOrigin): Promise<'created' | 'known' | 'deleted'> {
		this.checkAllowed();
		return this.#change(async () => {
			let state: 'created' | 'known' | 'deleted' = 'created';
			await this.#addTo(dayOf(Date.parse(lifelog.startTime)), async (day) => {
				state = this.stateOf(lifelog.id) ?? 'created';
				if (state === 'created') await day.addMade(lifelog, origin);
			});
			this.#checkStored([lifelog]);
			return state;
		});
	}

	addRecording(
		audio: RecordedAudio,
		lifelogs: Lifelog[],
		externalId: string | undefined,
	): Promise<string[]> {
		const origin = {
			source: 'recording' as const,
			...(externalId !== undefined && { externalId }),
		};
		const dayOfLifelog = ({ startTime }: Lifelog) => dayOf(Date.parse(startTime));
		return this.#change(async () => {
			for (const day of new Set([dayOf(audio.startMs), ...lifelogs.map(dayOfLifelog)])) {
				await this.#addTo(day, async (archiveDay) => {
					if (day === dayOf(audio.startMs)) await addAudio(archiveDay, audio);
					for (const lifelog of lifelogs) {
						if (dayOfLifelog(lifelog) !== day || this.stateOf(lifelog.id)) continue;
						await archiveDay.addMade(lifelog, origin);
					}
				});
			}
			this.#checkStored(lifelogs);
			return lifelogs.map(({ id }) => id).filter((id) => this.stateOf(id) === 'known');
		});
	}

	/** Rejects when the folder is missing, before anything is written to where it should be. */
	async #checkFolder(): Promise<void> {
		if (await this.#sync.isFolderMissing()) throw new MissingFolderError();
	}

	/** Throws an ApiError (409) if a lifelog isn't there after it was stored. */
	#checkStored(lifelogs: Lifelog[]): void {
		if (lifelogs.every(({ id }) => this.stateOf(id))) return;
		throw asRefusal(new DayChangedError('was changed meanwhile'), 'Nothing was created');
	}

	/**
	 * Adds to a day, and again if another program changed it meanwhile. Only within a change. Throws an
	 * ApiError (409) if the day can't be read or keeps changing.
	 */
	async #addTo(day: string, add: (day: ArchiveDay) => Promise<void>): Promise<void> {
		for (let attempt = 1; ; attempt += 1) {
			// What was made or deleted since the last look counts, whoever did it.
			await this.#look();
			const names = (await manifestNames(this.#folder)).get(day) ?? [];
			try {
				const now = new Date().toISOString();
				const archiveDay = await ArchiveDay.open(this.#folder, day, names, now, this.#timezone);
				try {
					await add(archiveDay);
					const name = await archiveDay.save();
					await this.#checkSaved(day, name);
				} catch (error) {
					await archiveDay.discard();
					throw error;
				}
				return await this.#look();
			} catch (error) {
				if (error instanceof DayChangedError && attempt < MAX_ATTEMPTS) continue;
				throw asRefusal(error, 'Nothing was created');
			}
		}
	}

	/** Throws a DayChangedError if another program took away what was being written. */
	async #checkSaved(day: string, name: string | undefined): Promise<void> {
		if (name === undefined) return;
		const names = (await manifestNames(this.#folder)).get(day) ?? [];
		if (!names.includes(name)) throw new DayChangedError('was changed meanwhile');
	}

	changeLifelog(id: string, change: LifelogChange): Promise<boolean> {
		this.checkAllowed();
		return this.#changeEntry(id, async (entry, stored) => ({
			entry: { ...entry, edited: addEdits(stored, entry.edited, change, Date.now()) },
			steps: [],
		}));
	}

	rewriteLifelog(
		id: string,
		rewrite: (stored: Lifelog) => Lifelog,
		{ replacesTitle }: { replacesTitle: boolean },
	): Promise<boolean> {
		return this.#changeEntry(id, async ({ edited, ...entry }, stored) => {
			const written = rewrite(stored);
			const { markdown } = lifelogFiles(written, this.#timezone)!;
			const contents = { json: toJson(written), md: markdown.content };
			const steps: Step[] = [];
			const files: NamedFile[] = [];
			for (const file of entry.files) {
				const content = Buffer.from(file.path.endsWith('.json') ? contents.json : contents.md);
				steps.push({ rename: await writeDraft(this.#folder.root, content), to: file.path });
				const sha256 = createHash('sha256').update(content).digest('hex');
				files.push({ path: file.path, bytes: content.length, sha256 });
			}
			const left = edited && replacesTitle ? withoutTitle(edited) : edited;
			const { updatedAt } = written;
			return { entry: { ...entry, files, updatedAt, ...(left && { edited: left }) }, steps };
		});
	}

	/** Changes the entry of a lifelog in the newest manifest of its day. False when there is none. */
	#changeEntry(id: string, change: EntryChange): Promise<boolean> {
		return this.#change(async () => {
			await this.#checkFolder();
			let isThere = false;
			await commit(this.#folder.root, async () => {
				await this.#look();
				const day = this.#rows.currentDay(id);
				if (day === undefined) return [];
				isThere = true;
				return await this.#entrySteps(id, day, change);
			}).catch((error: unknown) => {
				throw asRefusal(error, 'Nothing was changed');
			});
			if (isThere) await this.#look();
			return isThere;
		});
	}

	/** The steps that change the entry of a lifelog in the newest manifest of a day. */
	async #entrySteps(id: string, day: string, change: EntryChange): Promise<Step[]> {
		const [newest] = await readManifests(
			this.#folder,
			day,
			(await manifestNames(this.#folder)).get(day) ?? [],
		);
		const before = newest?.file.lifelogs[id];
		const named = before?.files.find(({ path }) => path.endsWith('.json'));
		const stored = named && parseLifelog(await this.#folder.readNamed(named), id);
		if (!newest || !before || !stored) throw new FileError('is not readable');
		const { entry, steps } = await change(before, stored);
		const { file } = newest;
		const changed: DayManifest = {
			...file,
			lifelogs: { ...file.lifelogs, [id]: entry },
			archivedAt: laterThan(file.archivedAt),
		};
		const draft = await writeDraft(this.#folder.root, toJson(changed));
		return [...steps, { rename: draft, to: `days/${nameOfDay(changed)}` }];
	}

	/** The audio files that a lifelog can be heard in. */
	#audioOf({ startTime, endTime }: Lifelog): string[] {
		const files = this.#rows.audioBetween(Date.parse(startTime), Date.parse(endTime));
		return files.map(({ path }) => path);
	}

	/** The day manifests by name, the one that counts first. */
	async #readDayManifests(day: string): Promise<[name: string, dayManifest: DayManifest][]> {
		const names = Object.keys(this.#sync.days().find((record) => record.day === day)?.files ?? {});
		const dayManifests: [string, DayManifest][] = [];
		for (const name of names) {
			const dayManifest = await this.#folder.readDayManifest(name, day).catch(ignoreFileError);
			if (!dayManifest) {
				throw new ApiError(
					409,
					`Nothing was deleted, because days/${name} can't be read. Try again when it's complete, or delete that file`,
				);
			}
			dayManifests.push([name, dayManifest]);
		}
		return dayManifests.sort(([, a], [, b]) => Date.parse(b.archivedAt) - Date.parse(a.archivedAt));
	}

	/** The steps that put a tombstone in an entry's place, and the files that its day named for it. */
	async #entomb(
		kind: Kind,
		id: string,
		dayManifests: [name: string, dayManifest: DayManifest][],
		lifelog: Lifelog | undefined,
	): Promise<{ step: Step[]; paths: string[] }> {
		const newest = dayManifests.at(0)?.[1];
		if (!newest) return { step: [], paths: [] };
		const list = kind === 'lifelog' ? 'lifelogs' : 'chats';
		const files = dayManifests.flatMap(([, dayManifest]) => dayManifest[list][id]?.files ?? []);
		const entry = newest[list][id];
		const deletedAt = new Date().toISOString();
		const spans = lifelog && (await this.#spansOf(lifelog, entry.files));
		const left: DayManifest = {
			...newest,
			// Not assigned: `__proto__` would be no entry.
			[list]: Object.fromEntries(
				Object.entries(newest[list]).map(([key, each]) => [
					key,
					key === id ? withOwn(each, { deletedAt, spans }) : each,
				]),
			),
			archivedAt: laterThan(newest.archivedAt),
		};
		const name = nameOfDay(left);
		const draft = await writeDraft(this.#folder.root, `${JSON.stringify(left, null, '\t')}\n`);
		// What the day was before names what is to be gone.
		const old = dayManifests.filter(([each]) => each !== name);
		return {
			step: [
				{ rename: draft, to: `days/${name}` },
				...old.map(([each]) => ({ remove: `days/${each}` })),
			],
			paths: [...new Set(files.map(({ path }) => path))],
		};
	}

	/** When a lifelog was by these files of it, or, if they can't be read, by its newest version. */
	async #spansOf(lifelog: Lifelog, files: NamedFile[]): Promise<Span[]> {
		const ofDay = await readArchived(this.#folder, lifelog.id, files).catch(ignoreFileError);
		return spansOf(ofDay ?? lifelog);
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

/** Adds the audio of a recording to the day it begins on, unless it is there. */
async function addAudio(day: ArchiveDay, { path, startMs }: RecordedAudio): Promise<void> {
	const draft = await writeCopy(day.root, createReadStream(path));
	const isThere = ({ sha256, startMs: at }: DayManifest['audio'][0]) =>
		sha256 === draft.sha256 && at === startMs;
	if (day.audio.some(isThere)) {
		await removeDrafts(day.root, [draft.path]);
		return;
	}
	const links = await scanLinks(createReadStream(path));
	const lengthMs = Math.ceil(links.reduce((sum, { played }) => sum + played, 0) / samplesPerMs);
	await day.addAudio(RECORDINGS, { startMs, endMs: startMs + lengthMs }, draft);
}

/** Now, or a moment after `time` when that is later. */
const laterThan = (time: string) =>
	new Date(Math.max(Date.now(), Date.parse(time) + 1)).toISOString();

/** Why an archive could not be changed, as it is answered; `outcome` begins the sentence. */
function asRefusal(error: unknown, outcome: string): unknown {
	if (error instanceof LockedError || error instanceof DayChangedError) {
		return new ApiError(
			409,
			`${outcome}, because another program writes to the archive. Try again later`,
		);
	}
	if (error instanceof EntryError || error instanceof FileError) {
		return new ApiError(
			409,
			`${outcome}, because a file of that day cannot be read: lifelog-server check names it. Repair it, then try again`,
		);
	}
	return error;
}
