import { setImmediate as yieldToRequests } from 'node:timers/promises';
import type { Chat, Lifelog } from '../../lifelog/api.ts';
import type { Rows } from './rows.mts';
import type { DayRecord, FileProblem, Origin } from './schema.mts';
import { parseChat, parseLifelog } from '../archive/entries.mts';
import { withEdits } from '../archive/edits.mts';
import { FileError, MissingFolderError, type Folder } from '../archive/folder.mts';
import { newestFirst } from '../archive/manifests.mts';
import type { Span } from '../util/spans.mts';
import {
	dayOfName,
	isFuture,
	parseDayManifest,
	type DayManifest,
	type Edited,
	type NamedFile,
	type AudioFile,
} from '../archive/layout.mts';

/** Called with lifelogs whose served data may have changed. */
export type OnTaken = (ids: string[]) => Promise<void>;
/** Called for each unreadable file, once per state of the file. */
export type OnProblem = (path: string, reason: string) => void;

// Entries to read at once and index in one transaction. It limits memory and the wait of other
// requests, however large the day.
const BATCH_SIZE = 24;
// New names change their folder. Looking for files rewritten under old names takes longer with
// thousands of days, so the pause grows with the duration.
const MIN_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 300_000;
const PAUSE_PER_LOOK = 2000;
// Replaces the fingerprint of a file that may be readable later without a change.
const anyFile = '';
// The last instant of JavaScript dates, epoch ms.
const LATEST_MS = 8.64e15;

/** Keeps the index in sync with the folder. */
export class Sync {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #onProblem: OnProblem;
	readonly #onNote: OnProblem;
	readonly #onTaken: OnTaken;
	readonly #days: Map<string, DayRecord>;
	readonly #told = new Map<string, string>();
	/** State of the `days` folder when last read, and the time of the next look. */
	#listed = '';
	#nextWholeLook = -Infinity;
	#isStopped = false;

	constructor(
		folder: Folder,
		rows: Rows,
		onProblem: OnProblem,
		onNote: OnProblem = () => {},
		onTaken: OnTaken = async () => {},
	) {
		this.#folder = folder;
		this.#rows = rows;
		this.#onProblem = onProblem;
		this.#onNote = onNote;
		this.#onTaken = onTaken;
		this.#days = new Map(rows.days().map((record) => [record.day, record]));
	}

	/** Stops after the current day. */
	stop(): void {
		this.#isStopped = true;
	}

	/** All days in the index, in order. */
	days(): DayRecord[] {
		return [...this.#days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
	}

	/**
	 * Whether the folder has no days although the index has: its drive isn't mounted. Nobody removes
	 * all days on purpose, and indexing them again can cost money.
	 */
	async isFolderMissing(): Promise<boolean> {
		return this.#days.size > 0 && !(await this.#folder.hasDays());
	}

	/** Whether it is time to look at the days. Cheap if nothing has changed. */
	async isDue(): Promise<boolean> {
		if (performance.now() > this.#nextWholeLook) return true;
		if ((await this.#folder.fingerprint('days')) !== this.#listed) return true;
		for (const record of this.#days.values()) if (await this.#isMended(record)) return true;
		return false;
	}

	/**
	 * Indexes new and changed days, and removes missing ones. Returns whether anything has changed.
	 * Rejects if the folder can't be listed or the index can't be written; finished days stay
	 * indexed. Rejects with a MissingFolderError, without any change, if the folder is missing.
	 */
	async run(onProgress: (done: number, total: number) => void = () => {}): Promise<boolean> {
		const began = performance.now();
		const listed = await this.#folder.fingerprint('days');
		const found = await this.#findDays();
		if (found.size === 0 && this.#days.size > 0) throw new MissingFolderError();
		const tookMs = performance.now() - began;
		const gone = [...this.#days.keys()].filter((known) => !found.has(known));
		for (const day of gone) {
			if (this.#isStopped) return true;
			this.#rows.transaction(() => this.#rows.removeDay(day));
			this.#days.delete(day);
			await this.#onTaken(this.#rows.takeTouched());
			// Overwriting deleted words takes long, many minutes for a thousand days.
			await yieldToRequests();
		}
		const changed: string[] = [];
		for (const [day, files] of found) if (await this.#hasChanged(day, files)) changed.push(day);
		changed.sort();
		onProgress(0, changed.length);
		for (const [index, day] of changed.entries()) {
			if (this.#isStopped) return true;
			await this.#readDay(day, found.get(day)!);
			await this.#onTaken(this.#rows.takeTouched());
			// Otherwise, all files of the remaining days would be reported as missing.
			if (!(await this.#folder.isThere())) throw new MissingFolderError();
			onProgress(index + 1, changed.length);
		}
		this.#listed = listed;
		this.#nextWholeLook = performance.now() + pauseAfter(tookMs);
		return gone.length + changed.length > 0;
	}

	/** Files of each day with their fingerprints. */
	async #findDays(): Promise<Map<string, Record<string, string>>> {
		const days = new Map<string, Record<string, string>>();
		const names = (await this.#folder.listDays()).filter((name) => dayOfName(name) !== undefined);
		const fingerprintOf = (name: string) => this.#folder.fingerprint(`days/${name}`);
		const fingerprints = await Promise.all(names.sort().map(fingerprintOf));
		for (const [nth, name] of names.entries()) {
			const day = dayOfName(name)!;
			days.set(day, { ...days.get(day), [name]: fingerprints[nth] });
		}
		return days;
	}

	async #hasChanged(day: string, files: Record<string, string>): Promise<boolean> {
		const known = this.#days.get(day);
		if (!known || JSON.stringify(known.files) !== JSON.stringify(files)) return true;
		// Not at each cheap look: permanent failures, as on a broken disk, would turn each into a full one.
		if (Object.values(known.problems).some(({ fingerprint }) => fingerprint === anyFile))
			return true;
		return await this.#isMended(known);
	}

	/** Whether an unreadable day manifest has changed. */
	async #isMended({ problems }: DayRecord): Promise<boolean> {
		for (const [path, { fingerprint }] of Object.entries(problems)) {
			if (fingerprint === anyFile) continue;
			if ((await this.#folder.fingerprint(path)) !== fingerprint) return true;
		}
		return false;
	}

	async #readDay(day: string, files: Record<string, string>): Promise<void> {
		const problems: Record<string, FileProblem> = {};
		const found: { path: string; fingerprint: string; reason: string }[] = [];
		const attempt = async <Result,>(path: string, read: () => Promise<Result>) => {
			const fingerprint = await this.#folder.fingerprint(path);
			try {
				return await read();
			} catch (error) {
				if (!(error instanceof FileError)) throw error;
				problems[path] = {
					fingerprint: error.isPassing ? anyFile : fingerprint,
					reason: error.message,
				};
				found.push({ path, fingerprint, reason: error.message });
				return undefined;
			}
		};
		const dayManifests: DayManifest[] = [];
		for (const name of Object.keys(files)) {
			const path = `days/${name}`;
			const dayManifest = await attempt(path, async () =>
				required(parseDayManifest(await this.#folder.read(path), day), "isn't a day manifest"),
			);
			if (!dayManifest) continue;
			dayManifests.push(dayManifest);
			if (isFuture(Date.parse(dayManifest.archivedAt))) {
				this.#onNote(
					path,
					`is dated in the future (archivedAt ${new Date(dayManifest.archivedAt).toISOString()}), so it hides what is archived of its day before then: check the clock of the machine that archives`,
				);
			}
		}
		dayManifests.sort(newestFirst);
		const [newest] = dayManifests;
		// While no current manifest is readable, the indexed state stays.
		let archivedMs = this.#days.get(day)?.archivedMs ?? 0;
		let isComplete = false;
		const isBroken = dayManifests.length < Object.keys(files).length;
		let audio: AudioFile[] | undefined;
		if (newest && !(isBroken && Date.parse(newest.archivedAt) < archivedMs)) {
			archivedMs = Date.parse(newest.archivedAt);
			isComplete = newest.isComplete;
			await this.#readEntries(newest, attempt);
			audio = await this.#checkAudio(newest, attempt);
		}
		const record = { day, files, problems, archivedMs, isComplete };
		this.#rows.transaction(() => {
			if (audio) this.#rows.putAudio(day, audio);
			this.#rows.putDay(record);
		});
		this.#days.set(day, record);
		// Another program may have replaced a manifest meanwhile, and removed what it names. The next look
		// reads the day again.
		if (found.length === 0 || !(await this.#areAsBefore(files))) return;
		for (const { path, fingerprint, reason } of found) this.#tell(path, fingerprint, reason);
	}

	async #areAsBefore(files: Record<string, string>): Promise<boolean> {
		for (const [name, fingerprint] of Object.entries(files)) {
			if ((await this.#folder.fingerprint(`days/${name}`)) !== fingerprint) return false;
		}
		return true;
	}

	async #readEntries(dayManifest: DayManifest, attempt: Attempt): Promise<void> {
		const { day, archivedAt } = dayManifest;
		const known = {
			lifelog: this.#rows.ofDay('lifelog', day),
			chat: this.#rows.ofDay('chat', day),
		};
		const wanted: Wanted[] = [
			...kept(dayManifest.lifelogs).map(([id, entry]) => ({
				kind: 'lifelog' as const,
				id,
				isGone: entry.goneAt !== undefined,
				flag: undefined,
				edited: entry.edited,
				file: jsonOf(entry.files),
			})),
			...kept(dayManifest.chats).map(([id, entry]) => ({
				kind: 'chat' as const,
				id,
				isGone: entry.goneAt !== undefined,
				flag: entry.isScheduled,
				file: jsonOf(entry.files),
			})),
		];
		const isNew = ({ kind, id, isGone, flag, edited, file }: Wanted) => {
			const row = known[kind].get(id);
			return (
				row?.sha256 !== file?.sha256 ||
				row?.isGone !== isGone ||
				row?.edited !== asText(edited) ||
				(flag !== undefined && row?.flag !== flag)
			);
		};
		const unread = wanted.filter(isNew);
		for (let at = 0; at < unread.length; at += BATCH_SIZE) {
			const batch = unread.slice(at, at + BATCH_SIZE);
			const read = await Promise.all(batch.map((entry) => this.#readEntry(entry, day, attempt)));
			this.#rows.transaction(() => {
				for (const [index, { kind, isGone, flag, edited, file }] of batch.entries()) {
					const value = read[index];
					if (!value || !file) continue;
					const origin = { day, sha256: file.sha256, isGone, edited: asText(edited) };
					if (kind === 'lifelog') this.#putLifelog(value as Lifelog, edited, origin);
					else this.#rows.putChat(value as Chat, origin, flag === true, archivedAt);
				}
			});
		}
		this.#rows.transaction(() => {
			for (const { kind, id } of wanted) known[kind].delete(id);
			for (const kind of ['lifelog', 'chat'] as const) {
				for (const id of known[kind].keys()) this.#rows.remove(kind, id, day);
				this.#rows.putDeleted(kind, day, deletedOf(dayManifest[`${kind}s`]));
			}
		});
	}

	/** Of several versions, the latest from the service is used, regardless of edits here. */
	#putLifelog(stored: Lifelog, edited: Edited | undefined, origin: Origin): void {
		this.#rows.putLifelog(edited ? withEdits(stored, edited) : stored, origin, stored.updatedAt);
	}

	#readEntry(
		{ kind, id, file }: Wanted,
		day: string,
		attempt: Attempt,
	): Promise<Lifelog | Chat | undefined> {
		const parse = kind === 'lifelog' ? parseLifelog : parseChat;
		return attempt(file?.path ?? `days/${day}`, async () => {
			const { path, bytes, sha256 } = required(file, `names no JSON of a ${kind}`);
			const json = await this.#folder.readNamed({ path, bytes, sha256 });
			return required<Lifelog | Chat>(parse(json, id), `isn't a ${kind}, or is another one`);
		});
	}

	/** A day's audio files that are complete. */
	async #checkAudio({ audio }: DayManifest, attempt: Attempt): Promise<AudioFile[]> {
		const there: AudioFile[] = [];
		for (const { startMs, endMs, path, bytes, sha256 } of audio) {
			const isWhole = await attempt(path, async () => {
				if (Math.max(startMs, endMs) > LATEST_MS) throw new FileError('has an impossible time');
				const size = await this.#folder.sizeOf(path);
				if (size !== bytes)
					throw new FileError(`has ${size} bytes, not ${bytes} as its day manifest says`);
				return true;
			});
			if (isWhole) there.push({ startMs, endMs, path, bytes, sha256 });
		}
		return there;
	}

	#tell(path: string, fingerprint: string, reason: string): void {
		if (this.#told.get(path) === fingerprint) return;
		this.#told.set(path, fingerprint);
		this.#onProblem(path, reason);
	}
}

type Attempt = <Result>(path: string, read: () => Promise<Result>) => Promise<Result | undefined>;

interface Wanted {
	kind: 'lifelog' | 'chat';
	id: string;
	isGone: boolean;
	/** Whether a scheduled prompt made the chat; undefined for a lifelog. */
	flag: boolean | undefined;
	edited?: Edited;
	file: NamedFile | undefined;
}

type Entries<Entry> = Record<string, Entry & { deletedAt?: string }>;

/** Entries that weren't deleted here. */
const kept = <Entry,>(entries: Entries<Entry>) =>
	Object.entries(entries).filter(([, { deletedAt }]) => deletedAt === undefined);

/** IDs of entries deleted here, with the times of lifelogs. */
const deletedOf = (entries: Entries<{ spans?: Span[] }>) =>
	new Map(
		Object.entries(entries)
			.filter(([, { deletedAt }]) => deletedAt !== undefined)
			.map(([id, { spans }]) => [id, spans?.[0]]),
	);

const asText = (edited: Edited | undefined) => (edited ? JSON.stringify(edited) : '');

/** Ms until the next look at all files, by the duration of the last one. */
const pauseAfter = (tookMs: number) =>
	Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, tookMs * PAUSE_PER_LOOK));

const jsonOf = (files: NamedFile[]) => files.find(({ path }) => path.endsWith('.json'));

function required<Value>(value: Value | undefined, problem: string): Value {
	if (value === undefined) throw new FileError(problem);
	return value;
}
