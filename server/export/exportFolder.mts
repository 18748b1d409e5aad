// The target folder of an export. The user and other programs write to it, too.
import { createReadStream } from 'node:fs';
import { lstat, readFile, realpath, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHash, hash, randomBytes } from 'node:crypto';
import { sameName } from '../../lifelog/names.ts';
import { type Folder, FileError, isWithin, prepareFolder } from '../archive/folder.mts';
import type { HeldLock } from '../archive/lock.mts';
import { asError } from '../util/errors.mts';
import { onWindowsAgain } from '../util/onWindowsAgain.mts';
import { type Saved, saveStream } from '../util/saveStream.mts';
import { clearDrafts, DRAFTS, enter, STATE, unlessMissing } from './ownFolder.mts';
import type { Exported } from './report.mts';
import { type MadeFile, type MadeLifelog, parseState, type State, stateJson } from './state.mts';

/** State of a path: no file, an export's file, a changed export's file, or another file. */
export type Found = 'nothing' | 'unchanged' | 'changed' | 'foreign';

/** A written file that isn't in its place yet. */
export interface Draft extends Saved {
	draft: string;
}

/** A file to move to its place. */
export interface Put {
	/** In the folder, with `/`. */
	path: string;
	draft: Draft;
	made: Omit<MadeFile, 'sha256'>;
	/** Earlier paths of the same file. */
	before: string[];
}

type Report = Pick<Exported, 'written' | 'kept' | 'failed'>;

/** Errors that concern only one file. */
const OBSTACLES: Record<string, string> = {
	ENOTDIR: 'belongs in a folder, but there is a file of its name',
	ENOENT: 'belongs in a folder that is a broken link',
	ELOOP: 'belongs in a folder that is a broken link',
};

export class ExportFolder {
	/** Its real path. */
	readonly root: string;
	readonly state: State;
	readonly #lock: HeldLock;
	/** Paths of files by lifelog ID. */
	readonly #byId = new Map<string, Set<string>>();
	#isSaved = true;

	private constructor(root: string, state: State, lock: HeldLock) {
		this.root = root;
		this.state = state;
		this.#lock = lock;
		for (const [path, { id }] of state.files) this.#ofId(id).add(path);
	}

	/**
	 * Opens or creates a folder, and removes drafts of a killed export.
	 *
	 * @throws CannotStart if the folder isn't writable or mustn't be used, and file system errors.
	 */
	static async open(path: string, archive: Folder): Promise<ExportFolder> {
		const { root, lock } = await enter(path, archive);
		try {
			await clearDrafts(root);
			const json = await readFile(join(root, STATE), 'utf8').catch(unlessMissing);
			return new ExportFolder(root, parseState(json, join(root, STATE)), lock);
		} catch (error) {
			lock.release();
			throw error;
		}
	}

	/** Saves the state, and lets other exports run. */
	async close(): Promise<void> {
		try {
			// First, because leftovers may fill the disk.
			await clearDrafts(this.root);
			await this.#save();
			await rm(join(this.root, DRAFTS), { recursive: true, force: true });
		} finally {
			this.#lock.release();
		}
	}

	/** The files of a lifelog; for an empty ID, those with several lifelogs. */
	filesOf(id: string): string[] {
		return [...this.#ofId(id)];
	}

	/** Records how a lifelog was exported. */
	remember(id: string, made: MadeLifelog): void {
		this.state.lifelogs.set(id, made);
		this.#isSaved = false;
	}

	async write(content: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Draft> {
		const draft = `${DRAFTS}/${randomBytes(8).toString('hex')}`;
		const pieces = typeof content === 'string' ? [Buffer.from(content)] : content;
		return { draft, ...(await saveStream(join(this.root, draft), pieces)) };
	}

	/**
	 * Returns the state of a path.
	 *
	 * @param isThorough Whether to read the file even if size and time are unchanged.
	 */
	async look(path: string, isThorough = false): Promise<Found> {
		const full = join(this.root, path);
		const stats = await lstat(full).catch(unlessMissing);
		if (!stats) return 'nothing';
		const made = this.state.files.get(path);
		if (!made) return 'foreign';
		if (!stats.isFile()) return 'changed';
		const { size: bytes, mtimeMs } = stats;
		const isSame = made.bytes === bytes && made.mtimeMs === mtimeMs && made.sha256.length === 1;
		if (isSame && !isThorough) return 'unchanged';
		const sha256 = await this.#hashOf(path);
		if (sha256 === undefined || !made.sha256.includes(sha256)) return 'changed';
		if (!isSame) this.#set(path, { ...made, sha256: [sha256], bytes, mtimeMs });
		return 'unchanged';
	}

	/** Whether an export wrote a file with this content. False for a stream. */
	async has(path: string, content: unknown): Promise<boolean> {
		const made = this.state.files.get(path);
		if (typeof content !== 'string' || made?.sha256.length !== 1) return false;
		return made.sha256[0] === hash('sha256', content) && (await this.look(path)) === 'unchanged';
	}

	/** The first bytes of a file as text; undefined if it is unreadable. */
	async beginningOf(path: string, bytes: number): Promise<string | undefined> {
		try {
			await this.#checkInside(path);
			if (!(await lstat(join(this.root, path))).isFile()) return undefined;
			let text = '';
			for await (const piece of createReadStream(join(this.root, path), { end: bytes - 1 })) {
				text += String(piece);
			}
			return text;
		} catch {
			return undefined;
		}
	}

	/**
	 * Moves files to their places, and removes earlier versions. After a kill, the next export still
	 * knows its own files. A file that isn't as an export wrote it stays.
	 *
	 * @param report Results are added to it.
	 * @returns The new paths of files that remain nowhere else.
	 */
	async put(puts: Put[], report: Report): Promise<Set<string>> {
		const before = new Map(puts.map(({ path }) => [path, this.state.files.get(path)]));
		for (const { path, draft, made } of puts) {
			this.#set(path, { ...made, sha256: [...(before.get(path)?.sha256 ?? []), draft.sha256] });
		}
		await this.#save();
		const done = new Set<string>();
		for (const put of puts) {
			const { path } = put;
			const made = before.get(path);
			let isPut = false;
			try {
				isPut = await this.#putOne(put, made, report);
			} catch (error) {
				report.failed.push({ path, problem: await this.#obstacleOf(error) });
			}
			if (isPut) {
				report.written += 1;
				if (await this.#removeBefore(put, report)) done.add(path);
			} else if (made) this.#set(path, made);
			else this.#forget(path);
		}
		return done;
	}

	/**
	 * Removes a file if it is as an export wrote it.
	 *
	 * @returns The reason if it remains; undefined if it is gone.
	 */
	async remove(path: string): Promise<typeof CHANGED | typeof LOCKED | undefined> {
		const found = await this.look(path, true);
		if (found !== 'unchanged' && found !== 'nothing') return CHANGED;
		try {
			if (found === 'unchanged') await onWindowsAgain(() => unlink(join(this.root, path)));
		} catch {
			return LOCKED;
		}
		this.#forget(path);
		return undefined;
	}

	/** Forgets a lifelog without files. */
	forgetLifelog(id: string): void {
		this.state.lifelogs.delete(id);
		this.#isSaved = false;
	}

	/** Returns whether the file is in its place now. */
	async #putOne({ path, draft, made, before }: Put, old: MadeFile | undefined, report: Report) {
		for (const each of before) {
			if ((await this.look(each, true)) !== 'changed') continue;
			report.kept.push({ path: each, problem: CHANGED });
			return false;
		}
		// If the file system ignores case, the old name may be the new one.
		for (const each of before) if (sameName(each) === sameName(path)) await this.remove(each);
		const [from, to] = [join(this.root, draft.draft), join(this.root, path)];
		await prepareFolder(this.root, dirname(path));
		const isFree = (await lstat(to).catch(unlessMissing)) === undefined;
		const sha256 = isFree ? undefined : await this.#hashOf(path);
		const isOwn = isFree || sha256 === draft.sha256 || old?.sha256.includes(sha256 ?? '');
		if (!isOwn) {
			report.kept.push({ path, problem: old ? CHANGED : OTHER });
			return false;
		}
		await onWindowsAgain(() => rename(from, to));
		const { size: bytes, mtimeMs } = await lstat(to);
		this.#set(path, { ...made, sha256: [draft.sha256], bytes, mtimeMs });
		return true;
	}

	/** Removes a file from its earlier paths. Returns whether none remains. */
	async #removeBefore({ path, before }: Put, report: Report): Promise<boolean> {
		let isGone = true;
		for (const each of before) {
			if (sameName(each) === sameName(path)) continue;
			const problem = await this.remove(each);
			if (problem === undefined) continue;
			report.failed.push({ path: each, problem });
			isGone = false;
		}
		return isGone;
	}

	async #obstacleOf(error: unknown): Promise<string> {
		if (error instanceof FileError) return OUTSIDE;
		const problem = OBSTACLES[asError(error).code ?? ''];
		// Without the folder, all files would fail.
		if (problem === undefined || !(await lstat(this.root).catch(() => undefined))) throw error;
		return problem;
	}

	/** The SHA-256 of a file; undefined if it isn't a file, is outside the folder or unreadable. */
	async #hashOf(path: string): Promise<string | undefined> {
		const full = join(this.root, path);
		try {
			await this.#checkInside(path);
			if (!(await lstat(full)).isFile()) return undefined;
			const hash = createHash('sha256');
			for await (const piece of createReadStream(full)) hash.update(piece as Buffer);
			return hash.digest('hex');
		} catch {
			return undefined;
		}
	}

	/** Rejects with a FileError if a link leads out of the folder. */
	async #checkInside(path: string): Promise<void> {
		const folder = await realpath(join(this.root, dirname(path)));
		if (!isWithin(this.root, folder)) throw new FileError(OUTSIDE);
	}

	#set(path: string, made: MadeFile): void {
		this.state.files.set(path, made);
		this.#ofId(made.id).add(path);
		this.#isSaved = false;
	}

	#forget(path: string): void {
		const made = this.state.files.get(path);
		if (!made) return;
		this.state.files.delete(path);
		this.#byId.get(made.id)?.delete(path);
		this.#isSaved = false;
	}

	#ofId(id: string): Set<string> {
		const paths = this.#byId.get(id) ?? new Set();
		this.#byId.set(id, paths);
		return paths;
	}

	async #save(): Promise<void> {
		if (this.#isSaved) return;
		const { draft } = await this.write(stateJson(this.state));
		await onWindowsAgain(() => rename(join(this.root, draft), join(this.root, STATE)));
		this.#isSaved = true;
	}
}

export const CHANGED = 'was changed since it was exported';
export const OTHER = 'was there already, with other contents';
export const LOCKED = "can't be removed. Close it in other programs, and check who may change it";
const OUTSIDE = 'belongs in a folder that is a link to another place';
