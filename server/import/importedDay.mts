import { join } from 'node:path';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import {
	type Additions,
	addTo,
	draftLifelog,
	draftText,
	EntryError,
	newestOf,
	serviceAudioOf,
} from '../archive/additions.mts';
import { type Change, changeDays, type Day } from '../archive/changeDays.mts';
import type { Draft, Drafts } from '../archive/drafts.mts';
import { readArchived } from '../archive/entries.mts';
import { checkInside, FileError, ignoreFileError, type Folder } from '../archive/folder.mts';
import type { AudioFile, LifelogEntry } from '../archive/layout.mts';
import { toJson } from '../archive/lifelogFiles.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import { type Span, spansOf } from '../util/spans.mts';

/** Times in names are whole seconds. */
export const NAME_TOLERANCE_MS = 1000;
// One every nine seconds. The manifest is held in memory, up to a kilobyte for each.
const MAX_ENTRIES = 10_000;

type Kind = 'lifelogs' | 'chats';

/** A day of an archive to import into. Existing entries stay unchanged. */
export class ImportedDay {
	readonly day: string;
	readonly #folder: Folder;
	readonly #drafts: Drafts;
	readonly #timezone: string;
	/** The archive's entries when the day was opened. */
	readonly #lifelogs: Record<string, LifelogEntry>;
	readonly #chats: Record<string, unknown>;
	readonly #audio: AudioFile[];
	/** IDs in progress: several files of an export may be the same entry. */
	readonly #begun = new Set<string>();
	readonly #added: Required<Additions> = { lifelogs: [], chats: [], audio: [] };
	/** Times of the added lifelogs, by ID. */
	readonly #spansOf = new Map<string, Span[]>();
	#spans: Promise<Span[]> | undefined;
	/** Lifelogs, chats and audio files. */
	#entries: number;

	private constructor(
		folder: Folder,
		drafts: Drafts,
		timezone: string,
		day: string,
		before: Pick<Day['all'][number]['file'], Kind | 'audio'>,
	) {
		this.day = day;
		this.#folder = folder;
		this.#drafts = drafts;
		this.#timezone = timezone;
		this.#lifelogs = before.lifelogs;
		this.#chats = before.chats;
		this.#audio = [...before.audio];
		this.#entries =
			Object.keys(before.lifelogs).length + Object.keys(before.chats).length + before.audio.length;
	}

	/**
	 * Reads an archive's day. Rejects with an EntryError if its manifests are unreadable.
	 *
	 * @param timezone IANA time zone of the Markdown.
	 */
	static async open(
		folder: Folder,
		drafts: Drafts,
		day: string,
		timezone: string,
	): Promise<ImportedDay> {
		const names = (await manifestNames(folder)).get(day);
		const manifests = await readManifests(folder, day, names).catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			throw new EntryError(`belongs to ${day}, whose day manifest can't be read`);
		});
		const before = newestOf(day, manifests) ?? { lifelogs: {}, chats: {}, audio: [] };
		return new ImportedDay(folder, drafts, timezone, day, before);
	}

	/** Audio that starts on the day, without recordings of other devices. */
	get serviceAudio(): AudioFile[] {
		return serviceAudioOf(this.#audio);
	}

	/** Adds a lifelog. Returns false if the day has or had it, by ID or time. */
	async addLifelog(lifelog: Lifelog): Promise<boolean> {
		const { id } = lifelog;
		if (Object.hasOwn(this.#lifelogs, id)) return false;
		const spans = await (this.#spans ??= this.#readSpans(Object.entries(this.#lifelogs)));
		if (haveOneOf(spans, spansOf(lifelog)) || !this.#begin(id)) return false;
		await this.#checkPlace('lifelogs');
		const added = await draftLifelog(this.#drafts, lifelog, this.#timezone);
		this.#added.lifelogs.push(added);
		this.#spansOf.set(id, spansOf(lifelog));
		return true;
	}

	/** Adds a chat. Returns false if the day has or had it, by ID. */
	async addChat(chat: Chat, isScheduled: boolean): Promise<boolean> {
		const { id, createdAt, messages } = chat;
		if (Object.hasOwn(this.#chats, id) || !this.#begin(id)) return false;
		await this.#checkPlace('chats');
		this.#added.chats.push({
			...{ id, startMs: Date.parse(createdAt) },
			entry: { messages: messages.length, isScheduled },
			files: [{ extension: '.json', draft: await draftText(this.#drafts, toJson(chat)) }],
		});
		return true;
	}

	/** Adds a draft as an audio file. */
	async addAudio(recorder: string, { startMs, endMs }: Span, draft: Draft): Promise<void> {
		this.#count();
		await this.#checkPlace(`audio/${recorder}`);
		this.#added.audio.push({ recorder, startMs, endMs, draft });
		const { bytes, sha256 } = draft;
		this.#audio.push({ startMs, endMs, path: `audio/${recorder}/`, bytes, sha256 });
	}

	/** The additions to the day, without entries that another program has added or deleted meanwhile. */
	async additionsTo({ newest }: Day): Promise<Required<Additions>> {
		const { lifelogs = {}, chats = {} } = newest ?? {};
		const since = Object.entries(lifelogs).filter(([id]) => !Object.hasOwn(this.#lifelogs, id));
		const spans = await this.#readSpans(since);
		return {
			lifelogs: this.#added.lifelogs.filter(
				({ id }) => !Object.hasOwn(lifelogs, id) && !haveOneOf(spans, this.#spansOf.get(id)!),
			),
			chats: this.#added.chats.filter(({ id }) => !Object.hasOwn(chats, id)),
			audio: this.#added.audio,
		};
	}

	get isChanged(): boolean {
		return Object.values(this.#added).some((all) => all.length > 0);
	}

	/** Rejects with a FileError if a link leads out of the archive. */
	async #checkPlace(folder: string): Promise<void> {
		const { root } = this.#folder;
		await checkInside(root, join(root, folder, ...this.day.split('-')));
	}

	/** Returns false if another file already had the ID; that one is used. */
	#begin(id: string): boolean {
		if (this.#begun.has(id)) return false;
		this.#count();
		this.#begun.add(id);
		return true;
	}

	#count(): void {
		if (this.#entries >= MAX_ENTRIES) {
			const entries = MAX_ENTRIES.toLocaleString('en');
			throw new EntryError(`belongs to ${this.day}, which has ${entries} entries already`);
		}
		this.#entries += 1;
	}

	/** Times of existing and deleted lifelogs. Unreadable ones are skipped. */
	async #readSpans(entries: [id: string, entry: LifelogEntry][]): Promise<Span[]> {
		const spans: Span[] = [];
		for (const [id, { files, spans: ofDeleted = [] }] of entries) {
			const lifelog = await readArchived(this.#folder, id, files).catch(ifLasting);
			spans.push(...(lifelog ? spansOf(lifelog) : ofDeleted));
		}
		return spans;
	}
}

/** Saves days in one change; returns the changed days. */
export async function saveDays(folder: Folder, days: ImportedDay[]): Promise<string[]> {
	const changed = new Map(days.filter((day) => day.isChanged).map((day) => [day.day, day]));
	if (changed.size === 0) return [];
	await changeDays(folder, [...changed.keys()], async (before) => {
		const changes: Change[] = [];
		for (const [name, day] of changed) {
			const now = before.get(name)!;
			changes.push(addTo(now, await day.additionsTo(now)));
		}
		return {
			manifests: changes.flatMap(({ manifests = [] }) => manifests),
			files: changes.flatMap(({ files = [] }) => files),
		};
	});
	return [...changed.keys()];
}

/** Ignores an unreadable file, unless a retry may succeed. */
function ifLasting(error: Error): undefined {
	if (error instanceof FileError && error.isPassing) {
		throw new EntryError('belongs to a day of which a lifelog in the archive cannot be read');
	}
	return ignoreFileError(error);
}

const haveOneOf = (spans: Span[], others: Span[]) =>
	others.some((span) => spans.some((other) => isSame(span, other)));

const isSame = (a: Span, b: Span) =>
	Math.abs(a.startMs - b.startMs) < NAME_TOLERANCE_MS &&
	Math.abs(a.endMs - b.endMs) < NAME_TOLERANCE_MS;
