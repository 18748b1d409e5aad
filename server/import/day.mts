import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Chat, Lifelog } from '../../nodes/shared/api/apiTypes.ts';
import { commit, prepareFolder, type Step, writeDraft } from '../archive/commit.mts';
import { parseLifelog } from '../archive/entries.mts';
import { FileError, ignoreFileError, type Folder } from '../archive/folder.mts';
import { manifestNames, readManifests } from '../archive/manifests.mts';
import { nameOfDay, type DayFile, type NamedFile } from '../archive/layout.mts';
import { ExportError } from './export.mts';
import { asName } from './names.mts';
import { without, type Span } from '../archive/spans.mts';

type WholeDay = DayFile & { missingAudio: Span[]; failed: { what: string; message: string }[] };

// The times of a name are whole seconds.
const toleranceMs = 1000;

/**
 * A day of an archive to which an import adds. What it adds carries `goneAt`, as the service does
 * not know it by its ID: the day's version says what the service has of it, as before.
 */
export class ArchiveDay {
	readonly #folder: Folder;
	readonly #file: WholeDay;
	readonly #importedAt: string;
	/** What is being stored: several files of an export may be the same entry. */
	readonly #begun = new Set<string>();
	#spans: Promise<Span[]> | undefined;
	/** What is to be moved to its place when the day is saved. */
	readonly #steps: Step[] = [];
	#hasChanged = false;

	private constructor(folder: Folder, file: WholeDay, importedAt: string) {
		this.#folder = folder;
		this.#file = file;
		this.#importedAt = importedAt;
	}

	/**
	 * Reads what the archive has of a day, `names` being its files in `days/`. Rejects with an
	 * ExportError when there are some and none is whole, or one may be read another time: a new one
	 * would hide what they name.
	 */
	static async open(
		folder: Folder,
		day: string,
		names: string[],
		importedAt: string,
	): Promise<ArchiveDay> {
		const refuse = () => {
			throw new ExportError(`belongs to ${day}, whose file in the archive cannot be read`);
		};
		const found: DayFile[] = [];
		for (const name of names) {
			const file = await folder.readDayFile(name, day).catch(refuse);
			if (file) found.push(file);
		}
		if (names.length > 0 && found.length === 0) refuse();
		found.sort((a, b) => Date.parse(b.archivedAt) - Date.parse(a.archivedAt));
		const none: WholeDay = {
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
		return new ArchiveDay(folder, { ...none, ...found.at(0) }, importedAt);
	}

	/** The folder of the archive. */
	get root(): string {
		return this.#folder.root;
	}

	/** The audio that begins on the day. */
	get audio(): DayFile['audio'] {
		return this.#file.audio;
	}

	/** Adds a lifelog; false when the day has it, by its ID or its time. */
	async addLifelog(lifelog: Lifelog, markdown: Buffer): Promise<boolean> {
		const { id, startTime, updatedAt, isStarred } = lifelog;
		if (Object.hasOwn(this.#file.lifelogs, id)) return false;
		const spans = await (this.#spans ??= this.#readSpans());
		if (spansOf(lifelog).some((span) => spans.some((other) => isSame(span, other)))) return false;
		if (!this.#begin(id)) return false;
		const path = this.#pathOf('lifelogs', startTime, id);
		const files = [
			await this.#store(`${path}.json`, toJson(lifelog)),
			await this.#store(`${path}.md`, markdown),
		];
		this.#file.lifelogs[id] = { updatedAt, isStarred, files, goneAt: this.#importedAt };
		return (this.#hasChanged = true);
	}

	/** Adds a chat; false when the day has it, by its ID. */
	async addChat(chat: Chat, isScheduled: boolean): Promise<boolean> {
		const { id, createdAt, messages } = chat;
		if (Object.hasOwn(this.#file.chats, id) || !this.#begin(id)) return false;
		const path = this.#pathOf('chats', createdAt, asName(id));
		const files = [await this.#store(`${path}.json`, toJson(chat))];
		const goneAt = this.#importedAt;
		const entry = { messages: messages.length, isScheduled, files, goneAt };
		// Assigned, `__proto__` would be no entry.
		this.#file.chats = { ...this.#file.chats, [id]: entry };
		return (this.#hasChanged = true);
	}

	/** Takes over a file of audio from a draft. */
	async addAudio(
		recorder: string,
		{ startMs, endMs }: Span,
		draft: { path: string; bytes: number; sha256: string },
	): Promise<void> {
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
		const file: WholeDay = {
			...this.#file,
			lifelogs: sorted(this.#file.lifelogs),
			chats: sorted(this.#file.chats),
			audio: audio.toSorted((a, b) => a.startMs - b.startMs),
			missingAudio: without(missingAudio, audio),
			archivedAt: new Date(later).toISOString(),
		};
		const name = nameOfDay(file);
		await commit(this.#folder.root, async () => {
			const names = (await manifestNames(this.#folder)).get(file.day) ?? [];
			const [now] = await readManifests(this.#folder, file.day, names);
			// A server may have deleted something meanwhile.
			if (now && now.file.archivedAt !== archivedAt) {
				throw new ExportError(`${file.day} was changed during the import. Import again`);
			}
			const manifest = await writeDraft(this.#folder.root, toJson(file));
			return [...this.#steps, { rename: manifest, to: `days/${name}` }];
		});
		return name;
	}

	/** False for an ID that another file has had, which counts. */
	#begin(id: string): boolean {
		const isFirst = !this.#begun.has(id);
		this.#begun.add(id);
		return isFirst;
	}

	get #inFolders(): string {
		return this.#file.day.replaceAll('-', '/');
	}

	#pathOf(collection: string, beginsAt: string, name: string): string {
		const [hours, minutes, seconds] = beginsAt.slice(11, 19).split(':');
		const time = `${hours}h${minutes}m${seconds}s`;
		return `${collection}/${this.#inFolders}/${this.#file.day}_${time}_${name}`;
	}

	async #store(path: string, content: string | Buffer): Promise<NamedFile> {
		await prepareFolder(this.#folder.root, dirname(path));
		this.#steps.push({ rename: await writeDraft(this.#folder.root, content), to: path });
		const sha256 = createHash('sha256').update(content).digest('hex');
		return { path, bytes: Buffer.byteLength(content), sha256 };
	}

	/** When the lifelogs were that the day has; those whose files cannot be read are not known. */
	async #readSpans(): Promise<Span[]> {
		const spans: Span[] = [];
		for (const [id, { files }] of Object.entries(this.#file.lifelogs)) {
			const named = files.find(({ path }) => path.endsWith('.json'));
			const json = named && (await this.#folder.readNamed(named).catch(ifLasting));
			const lifelog = json === undefined ? undefined : parseLifelog(json, id);
			if (lifelog) spans.push(...spansOf(lifelog));
		}
		return spans;
	}
}

/** Makes nothing of a file that counts for nothing, unless it may be read another time. */
function ifLasting(error: Error): undefined {
	if (error instanceof FileError && error.isPassing) {
		throw new ExportError('belongs to a day of which a lifelog in the archive cannot be read');
	}
	return ignoreFileError(error);
}

/** When a lifelog was: by its own times, and by what was said in it. */
function spansOf({ startTime, endTime, contents }: Lifelog): Span[] {
	const own = { startMs: Date.parse(startTime), endMs: Date.parse(endTime) };
	const said: Span = { startMs: Infinity, endMs: -Infinity };
	const read = (nodes: Lifelog['contents']) => {
		for (const { type, startTime: from, endTime: to, children } of nodes) {
			if (type === 'blockquote' && from && to) {
				said.startMs = Math.min(said.startMs, Date.parse(from));
				said.endMs = Math.max(said.endMs, Date.parse(to));
			}
			read(children ?? []);
		}
	};
	read(contents);
	return said.endMs >= said.startMs ? [own, said] : [own];
}

const isSame = (a: Span, b: Span) =>
	Math.abs(a.startMs - b.startMs) < toleranceMs && Math.abs(a.endMs - b.endMs) < toleranceMs;

const toJson = (value: object) => `${JSON.stringify(value, null, '\t')}\n`;

const sorted = <Value,>(entries: Record<string, Value>) =>
	Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));

const compact = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
