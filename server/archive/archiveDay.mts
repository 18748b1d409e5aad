import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import {
	commit,
	LostDraftError,
	prepareFolder,
	removeDrafts,
	type Step,
	writeDraft,
} from './commit.mts';
import { readArchived } from './entries.mts';
import { FileError, ignoreFileError, maxBytes, type Folder } from './folder.mts';
import { manifestNames, readManifests } from './manifests.mts';
import {
	nameOfDay,
	parseDayManifest,
	type DayManifest,
	type MadeHere,
	type NamedFile,
	RECORDINGS,
} from './layout.mts';
import { inOrder, lifelogFiles, placesBeside, toJson } from './lifelogFiles.mts';
import { spansOf, without, type Span } from '../util/spans.mts';

/** Why something can't be added to a day; its message is the end of a sentence. */
export class EntryError extends Error {}

/** The day was changed by another program since it was opened. */
export class DayChangedError extends EntryError {}

/** Rejects if a file of this size, in bytes, isn't to be written to the disk of a folder. */
type DemandRoom = (folder: string, bytes: number) => Promise<void>;

type FullManifest = DayManifest & {
	missingAudio: Span[];
	failed: { what: string; message: string }[];
};

/** The times of a name are whole seconds. */
export const NAME_TOLERANCE_MS = 1000;
// One every nine seconds. The manifest has at most a kilobyte for each, and is held in memory.
const MAX_ENTRIES = 10_000;

/**
 * A day of an archive to which an import adds. What it adds carries `goneAt`, as the service does
 * not know it by its ID: the day's fingerprint says what the service has of it, as before.
 */
export class ArchiveDay {
	readonly #folder: Folder;
	readonly #file: FullManifest;
	readonly #importedAt: string;
	readonly #timezone: string;
	/** What is being stored: several files of an export may be the same entry. */
	readonly #begun = new Set<string>();
	#spans: Promise<Span[]> | undefined;
	/** What is to be moved to its place when the day is saved. */
	readonly #steps: Step[] = [];
	#hasChanged = false;
	readonly #placesOf: Record<'lifelogs' | 'chats', ReturnType<typeof placesBeside>>;
	readonly #demandRoom: DemandRoom | undefined;
	/** Lifelogs, chats and audio files. */
	#entries: number;

	private constructor(
		folder: Folder,
		file: FullManifest,
		importedAt: string,
		timezone: string,
		demandRoom: DemandRoom | undefined,
	) {
		this.#timezone = timezone;
		this.#demandRoom = demandRoom;
		this.#folder = folder;
		this.#file = file;
		this.#importedAt = importedAt;
		this.#placesOf = { lifelogs: placesBeside(file.lifelogs), chats: placesBeside(file.chats) };
		this.#entries =
			Object.keys(file.lifelogs).length + Object.keys(file.chats).length + file.audio.length;
	}

	/**
	 * Reads what the archive has of a day, `names` being its files in `days/`. Rejects with an
	 * EntryError when there are some and none is whole, or one may be read another time: a new one
	 * would hide what they name. Times in Markdown are in `timezone`.
	 */
	static async open(
		folder: Folder,
		day: string,
		names: string[],
		importedAt: string,
		timezone: string,
		demandRoom?: DemandRoom,
	): Promise<ArchiveDay> {
		const refuse = () => {
			throw new EntryError(`belongs to ${day}, whose day manifest can't be read`);
		};
		const found: DayManifest[] = [];
		for (const name of names) {
			const file = await folder.readDayManifest(name, day).catch(refuse);
			if (file) found.push(file);
		}
		if (names.length > 0 && found.length === 0) refuse();
		found.sort((a, b) => Date.parse(b.archivedAt) - Date.parse(a.archivedAt));
		const none: FullManifest = {
			version: 1,
			day,
			lifelogs: {},
			chats: {},
			audio: [],
			missingAudio: [],
			failed: [],
			archivedAt: importedAt,
			isComplete: true,
		};
		const file = { ...none, ...found.at(0) };
		return new ArchiveDay(folder, file, importedAt, timezone, demandRoom);
	}

	/** The folder of the archive. */
	get root(): string {
		return this.#folder.root;
	}

	/** The audio that begins on the day. */
	get audio(): DayManifest['audio'] {
		return this.#file.audio;
	}

	/** The same without recordings of other devices, which may overlap with it. */
	get serviceAudio(): DayManifest['audio'] {
		return this.audio.filter(({ path }) => !path.startsWith(`audio/${RECORDINGS}/`));
	}

	/** Adds a lifelog; false when the day has it, or had it before a delete, by its ID or its time. */
	async addLifelog(lifelog: Lifelog): Promise<boolean> {
		const { id } = lifelog;
		if (Object.hasOwn(this.#file.lifelogs, id)) return false;
		const spans = await (this.#spans ??= this.#readSpans());
		if (spansOf(lifelog).some((span) => spans.some((other) => isSame(span, other)))) return false;
		if (!this.#begin(id)) return false;
		await this.#put(lifelog, {});
		return true;
	}

	/**
	 * Adds a lifelog that was made by lifelog-server, whatever else was at its time. Rejects with an
	 * EntryError for an ID that the day has: a file that can't be read now isn't to be replaced.
	 */
	async addMade(lifelog: Lifelog, madeHere: MadeHere): Promise<void> {
		if (Object.hasOwn(this.#file.lifelogs, lifelog.id)) {
			throw new EntryError('is in the archive, and cannot be read');
		}
		await this.#put(lifelog, { madeHere });
	}

	async #put(lifelog: Lifelog, more: { madeHere?: MadeHere }): Promise<void> {
		const { id, startTime, updatedAt, isStarred } = lifelog;
		const path = this.#placesOf.lifelogs('lifelogs', id, Date.parse(startTime));
		const { markdown } = lifelogFiles(lifelog, this.#timezone)!;
		const files = [
			await this.#store(`${path}.json`, toJson(lifelog)),
			await this.#store(`${path}.md`, markdown.content),
		];
		const goneAt = this.#importedAt;
		const entry = { updatedAt, isStarred, files, goneAt, ...more };
		// Assigned, `__proto__` would be no entry.
		this.#file.lifelogs = { ...this.#file.lifelogs, [id]: entry };
		this.#hasChanged = true;
	}

	/** Adds a chat; false when the day has it, or had it before a delete, by its ID. */
	async addChat(chat: Chat, isScheduled: boolean): Promise<boolean> {
		const { id, createdAt, messages } = chat;
		if (Object.hasOwn(this.#file.chats, id) || !this.#begin(id)) return false;
		const path = this.#placesOf.chats('chats', id, Date.parse(createdAt));
		const files = [await this.#store(`${path}.json`, toJson(chat))];
		const goneAt = this.#importedAt;
		const entry = { messages: messages.length, isScheduled, files, goneAt };
		this.#file.chats = { ...this.#file.chats, [id]: entry };
		return (this.#hasChanged = true);
	}

	/** Takes over a file of audio from a draft. */
	async addAudio(
		recorder: string,
		{ startMs, endMs }: Span,
		draft: { path: string; bytes: number; sha256: string },
	): Promise<void> {
		this.#count();
		const place = `audio/${recorder}/${this.#inFolders}/audio_${compact(startMs)}_${compact(endMs)}`;
		let path = `${place}.ogg`;
		for (let n = 2; this.audio.some((file) => file.path === path); n += 1)
			path = `${place}-${n}.ogg`;
		await prepareFolder(this.#folder.root, dirname(path));
		this.#steps.push({ rename: draft.path, to: path });
		const { bytes, sha256 } = draft;
		this.#file.audio.push({ startMs, endMs, path, bytes, sha256 });
		this.#hasChanged = true;
	}

	/** Moves what was added to its place, with the manifest; returns the manifest's name. Does nothing when nothing was added. */
	async save(): Promise<string | undefined> {
		if (!this.#hasChanged) return undefined;
		const { audio, missingAudio, archivedAt } = this.#file;
		const later = Math.max(Date.parse(this.#importedAt), Date.parse(archivedAt) + 1);
		const file: FullManifest = {
			...this.#file,
			lifelogs: inOrder(Object.entries(this.#file.lifelogs)),
			chats: inOrder(Object.entries(this.#file.chats)),
			audio: audio.toSorted((a, b) => a.startMs - b.startMs),
			missingAudio: without(missingAudio, this.serviceAudio),
			archivedAt: new Date(later).toISOString(),
		};
		if (!parseDayManifest(toJson(file), file.day)) {
			throw new EntryError(`would make the day manifest of ${file.day} invalid`);
		}
		const name = nameOfDay(file);
		await commit(this.#folder.root, async () => {
			const names = (await manifestNames(this.#folder)).get(file.day) ?? [];
			const [now] = await readManifests(this.#folder, file.day, names);
			// A server may have deleted something meanwhile.
			if (now && now.file.archivedAt !== archivedAt) {
				throw new DayChangedError(`${file.day} was changed during the import. Import again`);
			}
			const manifest = await writeDraft(this.#folder.root, toJson(file));
			this.#steps.push({ rename: manifest, to: `days/${name}` });
			return this.#steps;
		}).catch((error: unknown) => {
			if (!(error instanceof LostDraftError)) throw error;
			throw new DayChangedError(`${file.day} could not be written. Import again`);
		});
		return name;
	}

	/** Removes what was written for a day that couldn't be saved. */
	async discard(): Promise<void> {
		const drafts = this.#steps.flatMap((step) => ('rename' in step ? [step.rename] : []));
		await removeDrafts(this.#folder.root, drafts);
	}

	/** False for an ID that another file has had, which counts. */
	#begin(id: string): boolean {
		if (this.#begun.has(id)) return false;
		this.#count();
		this.#begun.add(id);
		return true;
	}

	#count(): void {
		if (this.#entries >= MAX_ENTRIES) {
			const entries = MAX_ENTRIES.toLocaleString('en');
			throw new EntryError(`belongs to ${this.#file.day}, which has ${entries} entries already`);
		}
		this.#entries += 1;
	}

	get #inFolders(): string {
		return this.#file.day.replaceAll('-', '/');
	}

	async #store(path: string, text: string | Buffer): Promise<NamedFile> {
		const content = Buffer.from(text);
		if (content.length > maxBytes) {
			throw new EntryError('would create a file larger than 64 MiB, which no server reads');
		}
		await this.#demandRoom?.(this.#folder.root, content.length);
		await prepareFolder(this.#folder.root, dirname(path));
		this.#steps.push({ rename: await writeDraft(this.#folder.root, content), to: path });
		const sha256 = createHash('sha256').update(content).digest('hex');
		return { path, bytes: content.length, sha256 };
	}

	/**
	 * When the lifelogs were that the day has, or had before they were deleted; those whose files
	 * cannot be read are not known.
	 */
	async #readSpans(): Promise<Span[]> {
		const spans: Span[] = [];
		for (const [id, { files, spans: ofDeleted = [] }] of Object.entries(this.#file.lifelogs)) {
			const lifelog = await readArchived(this.#folder, id, files).catch(ifLasting);
			spans.push(...(lifelog ? spansOf(lifelog) : ofDeleted));
		}
		return spans;
	}
}

/** Makes nothing of a file that counts for nothing, unless it may be read another time. */
function ifLasting(error: Error): undefined {
	if (error instanceof FileError && error.isPassing) {
		throw new EntryError('belongs to a day of which a lifelog in the archive cannot be read');
	}
	return ignoreFileError(error);
}

const isSame = (a: Span, b: Span) =>
	Math.abs(a.startMs - b.startMs) < NAME_TOLERANCE_MS &&
	Math.abs(a.endMs - b.endMs) < NAME_TOLERANCE_MS;

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
