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

export interface ArchiveOptions {
	/** Whether deletes remove files. Otherwise they are rejected. */
	allowDelete: boolean;
	/** Whether lifelogs can be created and changed. Otherwise requests are rejected. */
	allowChanges?: boolean;
	/** Why deletes or changes are rejected although they are allowed. Completes an error message. */
	refusal?: string;
	onProblem: OnProblem;
	/** Called for a file that is served but needs attention. */
	onNote?: OnProblem;
	/** Called with a line about each delete: what it removed, and what remains. */
	log?: (line: string) => void;
	/** Compares the served data to create events. */
	births?: Births;
	/** Search by meaning, if configured. */
	meaning?: Meaning;
	/** IANA time zone of new Markdown; by default UTC. */
	timezone?: string;
}

// Minimum from each ranking, so that entries in both are found.
const MIN_FUSED = 100;

/** Serves an archive's folder from an index. */
export class ArchiveStore implements Store {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #sync: Sync;
	readonly #audio: ArchiveAudio;
	readonly #options: ArchiveOptions;
	readonly #meaning: Meaning | undefined;
	readonly #timezone: string;
	/** Speakers of the lifelogs. */
	readonly people: People;
	/** Words replaced in all lifelogs. */
	readonly replacements: Replacements;
	/** Recordings and their lifelogs. */
	readonly recorded: Recorded;
	/** Whether all served data was compared with the known state. False while the index is being built. */
	#isCompared = false;
	/** Whether the index was checkpointed since the start. */
	#isCheckpointed = false;
	/** Queue of changes to the index or the folder. */
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
	 * Indexes new and changed days of the folder. Calls `onProgress` with days. Rejects if the folder
	 * can't be listed or the index can't be written.
	 */
	async refresh(onProgress?: (done: number, total: number) => void): Promise<void> {
		await this.#change(() => this.#look(onProgress));
	}

	/** Does the same if something may have changed, or the last look was long ago. */
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

	/** Stops indexing after the current day. The next start continues. */
	stop(): void {
		this.#sync.stop();
		this.replacements.stop();
	}

	/** Resolves when no change is in progress. */
	async idle(): Promise<void> {
		await this.replacements.idle();
		await this.#changes;
	}

	/** Indexes new and changed days, also for search by meaning. Only within a change. */
	async #look(onProgress?: (done: number, total: number) => void): Promise<void> {
		const hasChanged = await this.#sync.run(onProgress);
		if (hasChanged) this.#meaning?.catchUp();
		// Also after a kill: the log of the index must not retain deleted words.
		if (hasChanged || !this.#isCheckpointed) this.#rows.checkpoint();
		this.#isCheckpointed = true;
		await this.people.look();
		await this.replacements.look();
		const { births } = this.#options;
		if (this.#isCompared && !births?.isBehind) return;
		await births?.compareAll(this.#rows);
		this.#isCompared = true;
	}

	/** If the folder is missing, the last known content stays. */
	async #lookAtOwnFiles(): Promise<void> {
		if (!(await this.#folder.isThere()) || (await this.isFolderMissing())) return;
		await this.people.look();
		await this.replacements.look();
	}

	counts(): Counts {
		return this.#rows.counts();
	}

	/** All days, in order. */
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

	/** IDs of lifelogs that pass a filter, newest first, without the first `skip`. */
	filterLifelogs(filter: SearchFilter, skip: number, limit: number): string[] {
		return this.#rows.filterLifelogs(this.people.filterOf(filter), skip, limit);
	}

	/** IDs of up to `limit` lifelogs that have most words of a search, but not all. */
	partlyMatching(search: string, asked: SearchFilter, limit: number): string[] {
		const voicesOf = (terms: string[]) => this.people.voicesNamed(terms);
		return this.#rows.partlyMatching(search, this.people.filterOf(asked), limit, voicesOf);
	}

	/**
	 * The search with similar words instead of unknown ones; undefined if all words are known or have
	 * no similar ones.
	 */
	corrected(search: string): string | undefined {
		return this.#rows.corrected(search);
	}

	/** The people that a search names. */
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

	/** A new object after each change of the index. */
	get revision(): object {
		return this.#rows.revision;
	}

	/** Times of all lifelogs, by start. UTC ISO strings. */
	lifelogTimes(): ReturnType<Rows['lifelogTimes']> {
		return this.#rows.lifelogTimes();
	}

	/** Audio ranges that overlap a range, by start, in Unix ms. */
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
	 * Deletes the files of an entry. It becomes a tombstone in all its days. Throws an ApiError: 403
	 * if deletes aren't possible, 409 while a file of these days is unreadable.
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
				// A day may have been archived since the last look. An older version must not hide it.
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

	/** Throws an ApiError (403) with the reason if changes aren't possible. */
	checkAllowed(): void {
		const { allowChanges, refusal } = this.#options;
		if (allowChanges) return;
		throw new ApiError(
			403,
			refusal ??
				'This archive accepts no new lifelogs and no changes: start lifelog-server with --allow-changes',
		);
	}

	/** Whether a lifelog exists, or was deleted by this server. */
	stateOf(id: string): 'known' | 'deleted' | undefined {
		if (this.#rows.currentDay(id) !== undefined) return 'known';
		return this.#rows.isDeleted(id) ? 'deleted' : undefined;
	}

	/**
	 * Adds a lifelog, unless its ID exists or was deleted.
	 *
	 * @throws ApiError (409) while the archive isn't writable.
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
	 * Adds a recording's audio and its lifelogs, each unless it exists. Deleted ones aren't created
	 * again.
	 *
	 * @returns The IDs of the existing lifelogs.
	 * @throws ApiError (409) while the archive isn't writable.
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

	/** Rejects if the folder is missing, before anything is written in its place. */
	async #checkFolder(): Promise<void> {
		if (await this.#sync.isFolderMissing()) throw new MissingFolderError();
	}

	/**
	 * Adds lifelogs and the audio of a recording, each unless it exists or was deleted. Only within a
	 * change.
	 *
	 * @returns The new lifelogs.
	 * @throws ApiError (409) if a day is unreadable.
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
	 * Changes a lifelog in one step. Labels of its speakers are also changed in the recording's other
	 * lifelogs. Returns false if the lifelog doesn't exist.
	 *
	 * @param recording The IDs of all lifelogs of the recording. Without it, only this one is changed.
	 * @throws ApiError: 400 for an unknown speaker, a name (instead of a label) in a recording, or too
	 *   many corrected lines; 409 for an unknown line, or while files are unreadable.
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
			// A lifelog without given names stays unchanged.
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
	 * Replaces a lifelog that was created here with the result of `rewrite`, which gets it without
	 * edits. `replacesTitle` drops an edited title. Returns false if the lifelog doesn't exist.
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
	 * Changes lifelogs in the newest manifests of their days. Unknown lifelogs are skipped. If the
	 * first one is unknown, nothing is changed and the result is false.
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
	 * Changes names of people.
	 *
	 * @returns The changed person; undefined for a forgotten name.
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

	/** Audio files that overlap a lifelog. */
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
