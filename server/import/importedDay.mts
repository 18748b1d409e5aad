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

/** The times of a name are whole seconds. */
export const NAME_TOLERANCE_MS = 1000;
// One every nine seconds. The manifest has at most a kilobyte for each, and is held in memory.
const MAX_ENTRIES = 10_000;

type Kind = 'lifelogs' | 'chats';

/** A day of an archive to which an import adds. What it has already stays as it is. */
export class ImportedDay {
	readonly day: string;
	readonly #folder: Folder;
	readonly #drafts: Drafts;
	readonly #timezone: string;
	/** What the archive had when the day was opened. */
	readonly #lifelogs: Record<string, LifelogEntry>;
	readonly #chats: Record<string, unknown>;
	readonly #audio: AudioFile[];
	/** What is being stored: several files of an export may be the same entry. */
	readonly #begun = new Set<string>();
	readonly #added: Required<Additions> = { lifelogs: [], chats: [], audio: [] };
	/** When those lifelogs are that are added, by ID. */
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
	 * Reads what the archive has of a day. Rejects with an EntryError when its manifests can't be read.
	 *
	 * @param timezone IANA name of the zone of times in Markdown.
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

	/** The audio that begins on the day, without recordings of other devices. */
	get serviceAudio(): AudioFile[] {
		return serviceAudioOf(this.#audio);
	}

	/** Adds a lifelog; false when the day has it, or had it before a delete, by its ID or its time. */
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

	/** Adds a chat; false when the day has it, or had it before a delete, by its ID. */
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

	/** Takes over a file of audio from a draft. */
	async addAudio(recorder: string, { startMs, endMs }: Span, draft: Draft): Promise<void> {
		this.#count();
		await this.#checkPlace(`audio/${recorder}`);
		this.#added.audio.push({ recorder, startMs, endMs, draft });
		const { bytes, sha256 } = draft;
		this.#audio.push({ startMs, endMs, path: `audio/${recorder}/`, bytes, sha256 });
	}

	/** What was added to the day, without what another program has added or deleted meanwhile. */
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
			throw new EntryError(`belongs to ${this.day}, which has ${entries} entries already`);
		}
		this.#entries += 1;
	}

	/**
	 * When lifelogs were, or had been before they were deleted; those whose files cannot be read are
	 * not known.
	 */
	async #readSpans(entries: [id: string, entry: LifelogEntry][]): Promise<Span[]> {
		const spans: Span[] = [];
		for (const [id, { files, spans: ofDeleted = [] }] of entries) {
			const lifelog = await readArchived(this.#folder, id, files).catch(ifLasting);
			spans.push(...(lifelog ? spansOf(lifelog) : ofDeleted));
		}
		return spans;
	}
}

/** Adds to an archive what was added to days, all at once; returns the days. */
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

/** Makes nothing of a file that counts for nothing, unless it may be read another time. */
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
