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

/** Told of lifelogs that may be served otherwise now. */
export type OnTaken = (ids: string[]) => Promise<void>;
/** Told of each file that cannot be read, once for each state it is in. */
export type OnProblem = (path: string, reason: string) => void;

// Entries read at once and put into the index as one change, so that neither memory nor what
// waits for the index grows with a day.
const BATCH_SIZE = 24;
// New names change their folder. Files that are written anew under their old names are looked for
// more rarely the longer it takes, as somebody who has archived for years has thousands of days.
const MIN_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 300_000;
const PAUSE_PER_LOOK = 2000;
// Instead of the fingerprint of a file that may be read another time, though it is the same.
const anyFile = '';
// The last instant that there is a date for, epoch ms.
const LATEST_MS = 8.64e15;

/** Keeps the index as the folder is. */
export class Sync {
	readonly #folder: Folder;
	readonly #rows: Rows;
	readonly #onProblem: OnProblem;
	readonly #onNote: OnProblem;
	readonly #onTaken: OnTaken;
	readonly #days: Map<string, DayRecord>;
	readonly #told = new Map<string, string>();
	/** The folder of the days, as it was when they were last looked at, and when they are next. */
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

	/** Ends a run under way after the day in hand. */
	stop(): void {
		this.#isStopped = true;
	}

	/** All days in the index, in order. */
	days(): DayRecord[] {
		return [...this.#days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
	}

	/**
	 * Whether the folder has no days although the index has: its drive isn't there. Nobody takes away
	 * all days on purpose, and to read them again can cost money.
	 */
	async isFolderMissing(): Promise<boolean> {
		return this.#days.size > 0 && !(await this.#folder.hasDays());
	}

	/** Whether it is time to look at the days: cheap, while nothing happens. */
	async isDue(): Promise<boolean> {
		if (performance.now() > this.#nextWholeLook) return true;
		if ((await this.#folder.fingerprint('days')) !== this.#listed) return true;
		for (const record of this.#days.values()) if (await this.#isMended(record)) return true;
		return false;
	}

	/**
	 * Reads what is new or has changed since the last time, and removes what is gone. Returns whether
	 * there was any. Rejects when the folder cannot be listed or the index not be written; what was
	 * done until then stays done. Changes nothing and rejects with a MissingFolderError when the folder
	 * is missing.
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
			// Overwriting deleted words takes a while, for a thousand days many minutes.
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
			// Else each file of the days that are left would be told as missing.
			if (!(await this.#folder.isThere())) throw new MissingFolderError();
			onProgress(index + 1, changed.length);
		}
		this.#listed = listed;
		this.#nextWholeLook = performance.now() + pauseAfter(tookMs);
		return gone.length + changed.length > 0;
	}

	/** The files of each day with their fingerprints. */
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
		// Not at each cheap look: what fails for good, as on a broken disk, would make each a whole one.
		if (Object.values(known.problems).some(({ fingerprint }) => fingerprint === anyFile))
			return true;
		return await this.#isMended(known);
	}

	/** Whether a day manifest that could not be read is another one now. */
	async #isMended({ problems }: DayRecord): Promise<boolean> {
		for (const [path, { fingerprint }] of Object.entries(problems)) {
			if (fingerprint === anyFile) continue;
			if ((await this.#folder.fingerprint(path)) !== fingerprint) return true;
		}
		return false;
	}

	async #readDay(day: string, files: Record<string, string>): Promise<void> {
		const problems: Record<string, FileProblem> = {};
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
				this.#tell(path, fingerprint, error.message);
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
		// While nothing of the day can be read but what it was before, what is known of it stays.
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

	/** Of several versions the one counts that the service changed last, whatever was edited here. */
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

	/** The audio of a day that is there in its full length. */
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
	/** Whether a scheduled prompt made the chat; nothing for a lifelog. */
	flag: boolean | undefined;
	edited?: Edited;
	file: NamedFile | undefined;
}

type Entries<Entry> = Record<string, Entry & { deletedAt?: string }>;

/** The entries that weren't deleted here. */
const kept = <Entry,>(entries: Entries<Entry>) =>
	Object.entries(entries).filter(([, { deletedAt }]) => deletedAt === undefined);

/** What was deleted here: its ID, and for a lifelog its own time. */
const deletedOf = (entries: Entries<{ spans?: Span[] }>) =>
	new Map(
		Object.entries(entries)
			.filter(([, { deletedAt }]) => deletedAt !== undefined)
			.map(([id, { spans }]) => [id, spans?.[0]]),
	);

const asText = (edited: Edited | undefined) => (edited ? JSON.stringify(edited) : '');

/** Until all files are looked at again, in ms, when a look took so long. */
const pauseAfter = (tookMs: number) =>
	Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, tookMs * PAUSE_PER_LOOK));

const jsonOf = (files: NamedFile[]) => files.find(({ path }) => path.endsWith('.json'));

function required<Value>(value: Value | undefined, problem: string): Value {
	if (value === undefined) throw new FileError(problem);
	return value;
}
