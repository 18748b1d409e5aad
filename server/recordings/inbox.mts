import { constants, type Stats } from 'node:fs';
import { access, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../util/failures.mts';
import { moveInto, PROCESSING } from './inboxFiles.mts';
import type { Intake } from './intake.mts';
import { printableAscii } from '../util/text.mts';

export interface InboxOptions extends InboxTimes {
	folder: string;
	/** Whether files are copied and stay in place. */
	isCopied: boolean;
	intake: Intake;
	warn: (line: string) => void;
}

/** Intervals. Defaults are only overridden by tests. */
export interface InboxTimes {
	/** Interval between looks at the folder, in ms. */
	everyMs?: number;
	/** How long a file must stay unchanged, in ms. */
	unchangedMs?: number;
}

const EVERY_MS = 5_000;
const UNCHANGED_MS = 10_000;
/** Extensions of unfinished files from browsers, download managers and sync tools. */
const UNFINISHED_ENDINGS = [
	...['part', 'part-frag\\d+', 'partial', 'filepart', 'crdownload', 'opdownload', 'download'],
	...['fdmdownload', 'dtapart', 'td', 'xltd', 'ytdl', 'driveupload', 'drivedownload'],
	...['tmp', 'tmp[._-]?\\w{1,16}', 'temp', 'incomplete', 'inprogress', 'unfinished', 'writing'],
	// BitTorrent clients: .!qB, .!ut, .bc!
	...['uploading', 'downloading', 'upload', 'swp', '!\\w+', '\\w+!'],
];
/** Extensions of control files beside an unfinished file. */
const CONTROL_ENDINGS = ['aria2', 'lftp-pget-status', 'st'];
const CONTROL = new RegExp(`\\.(?:${CONTROL_ENDINGS.join('|')})$`, 'i');
/** Hidden and unfinished files. */
const UNFINISHED = new RegExp(
	`^[.~]|~$|\\.(?:${[...UNFINISHED_ENDINGS, ...CONTROL_ENDINGS].join('|')})$`,
	'i',
);

/** State of a file, and since when it is unchanged. */
interface Seen {
	size: number;
	mtimeMs: number;
	/** By performance.now(). */
	sinceMs: number;
	isCopied?: boolean;
}

/**
 * Watches a folder whose files become recordings. It polls, because network mounts send no events.
 * Subfolders are ignored.
 */
export class Inbox {
	readonly #options: InboxOptions;
	readonly #stopped = new AbortController();
	#seen = new Map<string, Seen>();
	/** Names by path, for files in .processing/ that aren't in the queue yet. */
	readonly #claimed = new Map<string, string>();
	/** Problems reported in the last look and in this one. */
	#told = new Set<string>();
	#telling = new Set<string>();
	#looking: Promise<void> = Promise.resolve();

	private constructor(options: InboxOptions) {
		this.#options = options;
	}

	/** Rejects with an Error that says what to do if the folder is unusable. */
	static async open(options: InboxOptions): Promise<Inbox> {
		const { isCopied } = options;
		const folder = await realpath(options.folder).catch(() => {
			throw new Error(`There is no folder ${options.folder}: make it, or choose another --inbox`);
		});
		const inbox = new Inbox({ ...options, folder });
		try {
			if (isCopied) await access(folder, constants.R_OK);
			else await mkdir(join(folder, PROCESSING), { recursive: true });
		} catch {
			throw new Error(
				isCopied
					? `The inbox ${folder} can't be read. Check its permissions`
					: `The inbox ${folder} can't be written to. Check its permissions, or add --inbox-copy to leave its files where they are`,
			);
		}
		return inbox;
	}

	/** Continues with claimed files, then polls for new ones until closed. */
	begin(): void {
		this.#looking = this.#keepLooking();
	}

	async close(): Promise<void> {
		this.#stopped.abort();
		await this.#looking;
	}

	async #keepLooking(): Promise<void> {
		const { everyMs = EVERY_MS } = this.#options;
		const { signal } = this.#stopped;
		let hasResumed = false;
		while (!signal.aborted) {
			try {
				if (!hasResumed) await this.#findClaimed();
				hasResumed = true;
				for (const [path, name] of this.#claimed) await this.#add(path, name);
				await this.#look();
			} catch (error) {
				this.#tell(`The inbox can't be read (${reasonOf(error as Error)})`);
			}
			this.#told = this.#telling;
			this.#telling = new Set();
			await sleep(everyMs, undefined, { signal }).catch(() => {});
		}
	}

	/** Finds files that a killed process had claimed. */
	async #findClaimed(): Promise<void> {
		const processing = join(this.#options.folder, PROCESSING);
		for (const name of await readdir(processing).catch(noneIfGone)) {
			this.#claimed.set(join(processing, name), name);
		}
	}

	/** Adds a claimed file to the queue, or reports why it must be tried again later. */
	async #add(path: string, fileName: string): Promise<void> {
		const { folder, intake } = this.#options;
		try {
			const file = await lstat(path);
			if (file.isFile()) {
				const { mtimeMs: modifiedMs } = file;
				const taken = { path, fileName, modifiedMs, inbox: folder };
				await intake.addFromInbox(taken, this.#stopped.signal);
			}
			this.#claimed.delete(path);
		} catch (error) {
			this.#tell(
				`${printableAscii(fileName)} in the inbox can't be taken (${reasonOf(error as Error)})`,
			);
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#claimed.delete(path);
		}
	}

	async #look(): Promise<void> {
		const { folder, unchangedMs = UNCHANGED_MS } = this.#options;
		const before = this.#seen;
		this.#seen = new Map();
		const names = await readdir(folder);
		const written = new Set(
			names.filter((name) => CONTROL.test(name)).map((name) => name.replace(CONTROL, '')),
		);
		for (const name of names) {
			if (this.#stopped.signal.aborted) return;
			if (UNFINISHED.test(name) || written.has(name)) continue;
			const file = await lstat(join(folder, name)).catch(() => undefined);
			// Node.js can't open a file whose name isn't UTF-8.
			if (!file && name.includes('\ufffd')) {
				this.#tell(`The name of ${printableAscii(name)} in the inbox isn't UTF-8. Rename the file`);
			}
			if (!file?.isFile()) continue;
			const { size, mtimeMs } = file;
			const known = before.get(name);
			const isSame = known?.size === size && known.mtimeMs === mtimeMs;
			const seen = isSame ? known : { size, mtimeMs, sinceMs: performance.now() };
			this.#seen.set(name, seen);
			// Some programs create a file long before writing it.
			if (size === 0) continue;
			if (seen.isCopied || performance.now() - seen.sinceMs < unchangedMs) continue;
			try {
				await this.#take(name, file);
				seen.isCopied = this.#options.isCopied;
				// A file that is put back looks the same.
				if (!seen.isCopied) this.#seen.delete(name);
			} catch (error) {
				this.#tell(
					`${printableAscii(name)} in the inbox can't be taken (${reasonOf(error as Error)})`,
				);
			}
		}
	}

	async #take(name: string, { mtimeMs }: Stats): Promise<void> {
		const { folder, isCopied, intake } = this.#options;
		const path = join(folder, name);
		if (isCopied) {
			const { signal } = this.#stopped;
			if (await intake.knows(path, signal)) return;
			const received = await intake.receive(createReadStream(path, { signal }));
			await intake.add(received, { fileName: name, modifiedMs: mtimeMs });
			return;
		}
		await access(path, constants.R_OK);
		const processing = join(folder, PROCESSING);
		// The folder was removed, or a drive was mounted since.
		await mkdir(processing).catch(unlessThere);
		const claimed = await moveInto(processing, path, name);
		if (claimed === undefined) return;
		this.#claimed.set(claimed, name);
		await this.#add(claimed, name);
	}

	/** Reports a problem once while it lasts. */
	#tell(problem: string): void {
		// Errors now come from the interruption.
		if (this.#stopped.signal.aborted) return;
		if (!this.#told.has(problem) && !this.#telling.has(problem)) this.#options.warn(problem);
		this.#telling.add(problem);
	}
}

function noneIfGone(error: NodeJS.ErrnoException): string[] {
	if (error.code !== 'ENOENT') throw error;
	return [];
}

function unlessThere(error: NodeJS.ErrnoException): void {
	if (error.code !== 'EEXIST') throw error;
}
