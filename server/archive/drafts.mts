// Files that are written before a change moves them into place.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onWindowsAgain } from '../util/onWindowsAgain.mts';
import { type Saved, saveStream } from '../util/saveStream.mts';
import { finishJournal, newDraft } from './commit.mts';
import { prepareFolder } from './folder.mts';
import { DRAFTS, JOURNAL } from './layout.mts';
import { type HeldLock, tryLock, withWriteLock } from './lock.mts';

/** A file without effect until a change moves it into place. */
export interface Draft extends Saved {
	/** Path in the archive. */
	draft: string;
}

/** Rejects if the folder's disk has no room for so many bytes. */
type DemandRoom = (folder: string, bytes: number) => Promise<void>;

/** A folder of drafts, safe from `clearDrafts` while this process lives. */
export class Drafts {
	/** The folder of the archive. */
	readonly root: string;
	readonly #path: string;
	readonly #lock: HeldLock;
	readonly #demandRoom: DemandRoom | undefined;

	private constructor(root: string, path: string, lock: HeldLock, demandRoom?: DemandRoom) {
		this.root = root;
		this.#path = path;
		this.#lock = lock;
		this.#demandRoom = demandRoom;
	}

	/** Under the write lock: nobody may clear the folder before its own lock is held. */
	static async open(root: string, demandRoom?: DemandRoom): Promise<Drafts> {
		return await withWriteLock(root, async () => {
			const path = `${DRAFTS}/${randomBytes(8).toString('hex')}`;
			await prepareFolder(root, path);
			const lock = lockDrafts(join(root, path));
			if (!lock) throw new Error('A new folder of drafts is locked');
			return new Drafts(root, path, lock, demandRoom);
		});
	}

	/** Writes a text and flushes it to the disk. */
	async write(content: string | Buffer): Promise<Draft> {
		const bytes = Buffer.from(content);
		await this.#demandRoom?.(this.root, bytes.length);
		return await this.save([bytes]);
	}

	/** Writes a stream and flushes it to the disk. */
	async save(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Draft> {
		const draft = newDraft(this.#path);
		return { draft, ...(await saveStream(join(this.root, draft), source)) };
	}

	/** Removes unused drafts, unless an unfinished change needs them. */
	async close(): Promise<void> {
		try {
			await withWriteLock(this.root, async () => {
				await finishJournal(this.root);
				this.#lock.release();
				await removeFolder(join(this.root, this.#path));
			});
		} finally {
			this.#lock.release();
		}
	}
}

/** Runs `work` with drafts, then removes the unused ones. */
export async function withDrafts<Result>(
	root: string,
	work: (drafts: Drafts) => Promise<Result>,
	demandRoom?: DemandRoom,
): Promise<Result> {
	const drafts = await Drafts.open(root, demandRoom);
	try {
		return await work(drafts);
	} finally {
		// clearDrafts removes leftovers later. An error here must not hide the result of the work.
		await drafts.close().catch(() => {});
	}
}

/** Whether a change is in progress, or was interrupted by a kill. */
export const isInterrupted = (root: string): boolean => existsSync(join(root, JOURNAL));

/** Finishes an interrupted change, and removes the drafts of killed processes. */
export async function clearDrafts(root: string): Promise<void> {
	const folder = join(root, DRAFTS);
	await withWriteLock(root, async () => {
		// An unfinished journal still needs its drafts.
		await finishJournal(root);
		const found = await lstat(folder).catch(() => undefined);
		if (!found?.isDirectory()) {
			await rm(folder, { force: true });
			return;
		}
		for (const entry of await readdir(folder, { withFileTypes: true })) {
			const path = join(folder, entry.name);
			if (entry.isDirectory()) {
				const lock = lockDrafts(path);
				if (!lock) continue;
				lock.release();
			}
			await removeFolder(path);
		}
		await rmdir(folder).catch(() => {});
	});
}

const lockDrafts = (path: string) => tryLock(path, 'drafts');

const removeFolder = async (path: string) =>
	await onWindowsAgain(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
