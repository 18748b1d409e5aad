import type { Chat, Lifelog } from '../../lifelog/api.ts';
import { ApiError } from '../util/errors.mts';
import { fuse } from './fusion.mts';
import type { Meaning } from './meaning.mts';
import type { Rows } from './rows.mts';
import type { Births, Counts, DayRecord, Kind } from './schema.mts';
import type {
	Audio,
	AudioSpan,
	ChatFilter,
	HeardPerson,
	LifelogFilter,
	SearchFilter,
	LifelogOrigin,
	Parts,
	RecordedAudio,
	Slice,
	Sources,
	Store,
} from './store.mts';
import { addTo, draftLifelog } from '../archive/additions.mts';
import { ArchiveAudio } from './archiveAudio.mts';
import { changeDays, LostDraftError } from '../archive/changeDays.mts';
import { type Drafts, withDrafts } from '../archive/drafts.mts';
import {
	addEdits,
	changeInRecording,
	hasNames,
	withoutTitle,
	type LifelogChange,
} from '../archive/edits.mts';
import { LockedError } from '../archive/lock.mts';
import { MissingFolderError, type Folder } from '../archive/folder.mts';
import { dayOf, lifelogFiles, namedFile, toJson } from '../archive/lifelogFiles.mts';
import { UnreadableDayError } from '../archive/manifests.mts';
import { PEOPLE, type DayManifest } from '../archive/layout.mts';
import type { PeopleChange } from '../archive/people.mts';
import {
	asRefusal,
	changeOfDays,
	draftAudio,
	entombed,
	type EntryChange,
	undeletable,
} from './entryChanges.mts';
import { People } from './people.mts';
import { originOf, Recorded } from './recorded.mts';
import { Replacements } from './replacements.mts';
import type { Named } from './snippet.mts';
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
	/** Told what is served, and what is served otherwise since. */
	births?: Births;
	/** Where lifelogs are found by what they mean, too. */
	meaning?: Meaning;
	/** IANA name of the zone of times in new Markdown; UTC if missing. */
	timezone?: string;
}

// Of each ranking, so that what stands in both is seen to.
const MIN_FUSED = 100;

/** An archive in a folder, served from an index of it. */
export class ArchiveStore implements Store {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #sync: Sync;
	readonly #audio: ArchiveAudio;
	readonly #options: ArchiveOptions;
	readonly #meaning: Meaning | undefined;
	readonly #timezone: string;
	/** Who speaks in the lifelogs. */
	readonly people: People;
	/** Words that are replaced in all lifelogs. */
	readonly replacements: Replacements;
	/** What the archive has of recordings. */
	readonly recorded: Recorded;
	/** Whether all that is served was compared with what was known: not while the index is being built. */
	#isCompared = false;
	/** Whether the index was written to its place since the start. */
	#isCheckpointed = false;
	/** What changes the index or the folder, one after the other. */
	#changes: Promise<unknown> = Promise.resolve();

	constructor(folder: Folder, rows: Rows, options: ArchiveOptions) {
		const { onProblem, onNote, meaning, timezone = 'UTC' } = options;
		this.#timezone = timezone;
		this.#options = options;
		this.#meaning = meaning;
		this.#folder = folder;
		this.#rows = rows;
		this.#sync = new Sync(folder, rows, onProblem, onNote, async (ids) => {
			if (this.#isCompared) await options.births?.compare(rows, ids);
		});
		this.#audio = new ArchiveAudio(folder, rows, onProblem);
		this.people = new People(folder, rows, onProblem);
		const look = async () => {
			await this.#checkFolder();
			await this.#look();
		};
		const inTurn = <Result,>(work: () => Promise<Result>) => this.#change(work);
		this.replacements = new Replacements({ folder, rows, onProblem, inTurn, look });
		const shown = (name: string) => this.people.names.shown(name, false);
		this.recorded = new Recorded({ folder, rows, timezone, shown, inTurn, look });
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
		if (this.#options.births?.isBehind || (await this.#sync.isDue())) await this.refresh();
		else if ((await this.people.isDue()) || (await this.replacements.isDue())) {
			await this.#change(() => this.#lookAtOwnFiles());
		}
	}

	/** Whether the folder has no days although the index has. */
	isFolderMissing(): Promise<boolean> {
		return this.#sync.isFolderMissing();
	}

	/** Ends a look at the folder after the day in hand; the next start goes on. */
	stop(): void {
		this.#sync.stop();
		this.replacements.stop();
	}

	/** Resolves when nothing is changing the index or the folder. */
	async idle(): Promise<void> {
		await this.replacements.idle();
		await this.#changes;
	}

	/** Reads what is new or has changed, for search by meaning too. Only within a change. */
	async #look(onProgress?: (done: number, total: number) => void): Promise<void> {
		const hasChanged = await this.#sync.run(onProgress);
		if (hasChanged) this.#meaning?.catchUp();
		// Also after a process that was killed: nothing that was deleted is left in the log of the index.
		if (hasChanged || !this.#isCheckpointed) this.#rows.checkpoint();
		this.#isCheckpointed = true;
		await this.people.look();
		await this.replacements.look();
		const { births } = this.#options;
		if (this.#isCompared && !births?.isBehind) return;
		await births?.compareAll(this.#rows);
		this.#isCompared = true;
	}

	/** While the folder is missing, they say what they said before. */
	async #lookAtOwnFiles(): Promise<void> {
		if (!(await this.#folder.isThere()) || (await this.isFolderMissing())) return;
		await this.people.look();
		await this.replacements.look();
	}

	counts(): Counts {
		return this.#rows.counts();
	}

	/** The days there are, in order. */
	days(): DayRecord[] {
		return this.#sync.days();
	}

	listLifelogs(filter: LifelogFilter, slice: Slice, parts?: Parts): Lifelog[] {
		const found = this.#rows.listLifelogs(this.people.filterOf(filter), slice, parts);
		return found.map((lifelog) => this.people.in(lifelog, parts));
	}

	async searchLifelogs(
		search: string,
		filter: SearchFilter,
		limit: number,
		parts?: Parts,
	): Promise<Lifelog[]> {
		const found = await this.#search(search, filter, limit);
		return found.map((id) => this.getLifelog(id, parts)).filter((lifelog) => lifelog !== undefined);
	}

	/** The ids of the lifelogs that pass a filter, newest first, after the first `skip` ones. */
	filterLifelogs(filter: SearchFilter, skip: number, limit: number): string[] {
		return this.#rows.filterLifelogs(this.people.filterOf(filter), skip, limit);
	}

	/** The ids of up to `limit` lifelogs that have most of the words of a search, but not all. */
	partlyMatching(search: string, asked: SearchFilter, limit: number): string[] {
		const voicesOf = (terms: string[]) => this.people.voicesNamed(terms);
		return this.#rows.partlyMatching(search, this.people.filterOf(asked), limit, voicesOf);
	}

	/** A search with similar words in place of those that no lifelog has; undefined without such words. */
	corrected(search: string): string | undefined {
		return this.#rows.corrected(search);
	}

	/** Whom a search names. */
	namedIn(search: string): Named {
		return this.people.namedIn(search);
	}

	async #search(search: string, asked: SearchFilter, limit: number): Promise<string[]> {
		const enough = Math.max(limit, MIN_FUSED);
		const meant = await this.#meaning?.search(search, this.people.filterOf(asked), enough);
		// The people may have changed meanwhile.
		const filter = this.people.filterOf(asked);
		const voicesOf = (terms: string[]) => this.people.voicesNamed(terms);
		const spoken = this.#rows.spokenLifelogs(search, filter, enough, voicesOf);
		if (!meant && spoken.length === 0) return this.#rows.searchLifelogs(search, filter, limit);
		const said = this.#rows.searchLifelogs(search, filter, enough);
		return fuse([said, spoken, meant ?? []]).slice(0, limit);
	}

	/** Another object after each change of the index. */
	get revision(): object {
		return this.#rows.revision;
	}

	/** When each lifelog was, by start. UTC ISO strings. */
	lifelogTimes(): ReturnType<Rows['lifelogTimes']> {
		return this.#rows.lifelogTimes();
	}

	/** The ranges of audio that have something of a range, by start, in Unix ms. */
	audioBetween(startMs: number, endMs: number): ReturnType<Rows['audioBetween']> {
		return this.#rows.audioBetween(startMs, endMs);
	}

	getLifelog(id: string, parts?: Parts): Lifelog | undefined {
		const stored = this.#rows.getLifelog(id, parts);
		return stored && this.people.in(stored, parts);
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

	/** The audio of a lifelog. */
	getAudioOf(lifelog: Lifelog): Promise<Audio | undefined> {
		return this.#audio.of(lifelog);
	}

	/** Only the spans of that audio. */
	getAudioSpans(startMs: number, endMs: number, sources?: Sources): Promise<AudioSpan[]> {
		return this.#audio.spansBetween(startMs, endMs, sources);
	}

	deleteLifelog(id: string): Promise<boolean> {
		return this.#delete('lifelog', id);
	}

	deleteChat(id: string): Promise<boolean> {
		return this.#delete('chat', id);
	}

	/**
	 * Deletes the files of an entry; the days that name it have a tombstone instead. Throws an ApiError:
	 * 403 while nothing may be deleted, 409 while a file of these days cannot be read.
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
			const audio = new Set<string>();
			let isThere = false;
			let lifelog: Lifelog | undefined;
			const daysOfIt = async () => {
				// A day may have been archived since the last look, and is not to be hidden by an older one.
				await this.#look();
				lifelog = kind === 'lifelog' ? this.#rows.getLifelog(id) : undefined;
				isThere = lifelog !== undefined || (kind === 'chat' && this.getChat(id) !== undefined);
				for (const path of lifelog ? this.#audioOf(lifelog) : []) audio.add(path);
				return isThere ? this.#rows.daysOf(kind, id) : [];
			};
			const removed = await changeDays(this.#folder, daysOfIt, async (days) => {
				const manifests: DayManifest[] = [];
				for (const day of days.values()) {
					const manifest = await entombed(this.#folder, kind, id, day, lifelog);
					if (manifest) manifests.push(manifest);
				}
				return { manifests };
			}).catch((error: unknown) => {
				if (error instanceof UnreadableDayError) throw undeletable(error.path);
				if (!(error instanceof LockedError)) throw error;
				throw new ApiError(409, `Nothing was deleted. ${error.message}: try again later`);
			});
			if (!isThere) return false;
			await this.#look();
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

	/** Throws an ApiError (403) that says why nothing may be created or changed, if so. */
	checkAllowed(): void {
		const { allowChanges, refusal } = this.#options;
		if (allowChanges) return;
		throw new ApiError(
			403,
			refusal ??
				'This archive accepts no new lifelogs and no changes: start lifelog-server with --allow-changes',
		);
	}

	/** Whether a lifelog is there, or was deleted by this server. */
	stateOf(id: string): 'known' | 'deleted' | undefined {
		if (this.#rows.currentDay(id) !== undefined) return 'known';
		return this.#rows.isDeleted(id) ? 'deleted' : undefined;
	}

	/**
	 * Adds a lifelog, unless one of its ID is there or was deleted.
	 *
	 * @throws ApiError (409) while the archive can't be written.
	 */
	createLifelog(lifelog: Lifelog, origin: LifelogOrigin): Promise<'created' | 'known' | 'deleted'> {
		this.checkAllowed();
		return this.#change(async () => {
			await this.#look();
			const known = this.stateOf(lifelog.id);
			if (known) return known;
			const [added] = await this.#add([lifelog], origin);
			return added ? 'created' : (this.stateOf(lifelog.id) ?? 'known');
		});
	}

	/**
	 * Adds the audio of a recording and the lifelogs that were made of it, each unless it is there. Those
	 * that were deleted aren't made again.
	 *
	 * @returns The IDs of the lifelogs that are there now.
	 * @throws ApiError (409) while the archive can't be written.
	 */
	addRecording(
		audio: RecordedAudio,
		lifelogs: Lifelog[],
		externalId: string | undefined,
	): Promise<string[]> {
		const origin = originOf(externalId);
		return this.#change(async () => {
			await this.#look();
			await this.#add(lifelogs, origin, audio);
			return lifelogs.map(({ id }) => id).filter((id) => this.stateOf(id) === 'known');
		});
	}

	/** Rejects when the folder is missing, before anything is written to where it should be. */
	async #checkFolder(): Promise<void> {
		if (await this.#sync.isFolderMissing()) throw new MissingFolderError();
	}

	/**
	 * Adds lifelogs and the audio of a recording, each unless it is there or was deleted. Only within a
	 * change.
	 *
	 * @returns The lifelogs that are new.
	 * @throws ApiError (409) if a day can't be read.
	 */
	async #add(
		lifelogs: Lifelog[],
		madeHere: LifelogOrigin,
		audio?: RecordedAudio,
	): Promise<Lifelog[]> {
		const dayOfLifelog = ({ startTime }: Lifelog) => dayOf(Date.parse(startTime));
		const days = new Set(lifelogs.map(dayOfLifelog));
		if (audio) days.add(dayOf(audio.startMs));
		let added: Lifelog[] = [];
		const add = async (drafts: Drafts) => {
			const newAudio = audio && (await draftAudio(drafts, audio));
			const drafted = new Map<Lifelog, Awaited<ReturnType<typeof draftLifelog>>>();
			for (const lifelog of lifelogs.filter(({ id }) => !this.stateOf(id))) {
				drafted.set(lifelog, await draftLifelog(drafts, lifelog, this.#timezone, madeHere));
			}
			await changeDays(this.#folder, [...days], async (before) => {
				// Another program may have added or deleted something since the last look.
				await this.#look();
				added = [...drafted.keys()].filter(({ id }) => !this.stateOf(id));
				const changes = [...before.values()].map((day) => {
					const ofDay = added.filter((lifelog) => dayOfLifelog(lifelog) === day.day);
					return addTo(day, {
						lifelogs: ofDay.map((lifelog) => drafted.get(lifelog)!),
						audio: newAudio && dayOf(newAudio.startMs) === day.day ? [newAudio] : [],
					});
				});
				return {
					manifests: changes.flatMap(({ manifests = [] }) => manifests),
					files: changes.flatMap(({ files = [] }) => files),
				};
			});
		};
		await withDrafts(this.#folder.root, add).catch((error: unknown) => {
			throw asRefusal(error, 'Nothing was created');
		});
		await this.#look();
		if (lifelogs.some(({ id }) => !this.stateOf(id))) {
			throw asRefusal(new LostDraftError(), 'Nothing was created');
		}
		return added;
	}

	/**
	 * Changes a lifelog, and the labels of its speakers also in the others of its recording. All of it is
	 * done, or nothing. False when there is no such lifelog.
	 *
	 * @param recording The IDs of all lifelogs of the recording; without them, only this one is changed.
	 * @throws ApiError: 400 for a speaker that the lifelog doesn't have, of a recording for a name, or for too
	 *   many corrected lines, 409 for a line that isn't there, or while files can't be read.
	 */
	changeLifelog(id: string, change: LifelogChange, recording?: string[]): Promise<boolean> {
		this.checkAllowed();
		const others = recording?.filter((each) => each !== id) ?? [];
		return this.#changeEntries([id, ...others], (entry, stored) => {
			const { names } = this.people;
			const edit = (own: LifelogChange) => ({
				entry: { ...entry, edited: addEdits(stored, entry.edited ?? {}, own, names, Date.now()) },
				texts: [],
			});
			const { speakers, ...more } = change;
			const isThis = stored.id === id;
			// A lifelog without given names stays as it is.
			if (speakers === null && !hasNames(entry.edited ?? {})) {
				return isThis && Object.keys(more).length > 0 ? edit(more) : undefined;
			}
			if (!recording || speakers === null) return edit(isThis ? change : { speakers });
			const own = changeInRecording(stored, entry.edited ?? {}, speakers!, names);
			if (isThis) return edit(change);
			return Object.keys(own).length > 0 ? edit({ speakers: own }) : undefined;
		});
	}

	/**
	 * Replaces a lifelog that was made here by what `rewrite` makes of it, as it is stored without edits.
	 * With `replacesTitle`, a title that it was given by an edit is forgotten. False when there is none.
	 *
	 * @throws ApiError (409) while another program writes to the archive.
	 */
	rewriteLifelog(
		id: string,
		rewrite: (stored: Lifelog) => Lifelog,
		{ replacesTitle }: { replacesTitle: boolean },
	): Promise<boolean> {
		return this.#changeEntries([id], ({ edited, ...entry }, stored) => {
			const written = rewrite(stored);
			const { markdown } = lifelogFiles(written, this.#timezone)!;
			const contents = { json: toJson(written), md: markdown.content };
			const texts = entry.files.map(({ path }) => ({
				path,
				content: path.endsWith('.json') ? contents.json : contents.md,
			}));
			const left = edited && replacesTitle ? withoutTitle(edited) : edited;
			const { updatedAt } = written;
			const files = texts.map(namedFile);
			return { entry: { ...entry, files, updatedAt, ...(left && { edited: left }) }, texts };
		});
	}

	/**
	 * Changes the entries of lifelogs in the newest manifests of their days. Unknown lifelogs are left out.
	 * False if the first one is unknown: then nothing is changed.
	 */
	#changeEntries(ids: string[], change: EntryChange): Promise<boolean> {
		return this.#change(async () => {
			await this.#checkFolder();
			let isThere = false;
			const byDay = new Map<string, string[]>();
			const daysOfThem = async () => {
				await this.#look();
				isThere = this.#rows.currentDay(ids[0]) !== undefined;
				for (const id of isThere ? ids : []) {
					const day = this.#rows.currentDay(id);
					if (day !== undefined) byDay.set(day, [...(byDay.get(day) ?? []), id]);
				}
				return [...byDay.keys()];
			};
			await changeDays(this.#folder, daysOfThem, (days) =>
				changeOfDays(this.#folder, byDay, days, change),
			).catch((error: unknown) => {
				throw asRefusal(error, 'Nothing was changed');
			});
			if (isThere) await this.#look();
			return isThere;
		});
	}

	/**
	 * Changes what people are called.
	 *
	 * @returns The person, as it is heard then; undefined for a name that was forgotten.
	 * @throws ApiError: 400, 404 and 409 as in server/openapi.yaml.
	 */
	changePeople(change: PeopleChange): Promise<HeardPerson | undefined> {
		this.checkAllowed();
		return this.#change(async () => {
			await this.#checkFolder();
			await this.#look();
			let current = change.person;
			await changeDays(this.#folder, [], async () => {
				const { json, name } = await this.people.change(change);
				current = name;
				return json === undefined ? {} : { files: [{ path: PEOPLE, content: json }] };
			}).catch((error: unknown) => {
				throw asRefusal(error, 'Nothing was changed');
			});
			await this.people.look();
			return this.people.find(current);
		});
	}

	/** The audio files that a lifelog can be heard in. */
	#audioOf({ startTime, endTime }: Lifelog): string[] {
		const files = this.#rows.audioBetween(Date.parse(startTime), Date.parse(endTime));
		return files.map(({ path }) => path);
	}

	#change<Result>(change: () => Promise<Result>): Promise<Result> {
		const done = this.#changes.then(change);
		this.#changes = done.catch(() => {});
		return done;
	}
}
