import { randomBytes } from 'node:crypto';
import {
	type FileHandle,
	mkdir,
	open,
	readFile,
	realpath,
	rename,
	rm,
	stat,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, isWithin } from './folder.mts';
import { withWriteLock } from './lock.mts';
import { asError } from '../util/errors.mts';
import { type Saved, saveStream } from '../util/saveStream.mts';

/** One change of an archive. Paths are relative to its folder, with `/`. */
export type Step = { rename: string; to: string } | { remove: string };

/** Files that are being written. They count for nothing until a commit moves them to their place. */
export const DRAFTS = '.lifelog-drafts';
const JOURNAL = '.lifelog-journal.json';

const WINDOWS_RETRIES = 50;
const MAX_DRAFT_TRIES = 10;
const WINDOWS_PAUSE_MS = 50;

/** Another program removed a draft before it was moved to its place: a run clears them all. */
export class LostDraftError extends Error {}

/**
 * Changes an archive all at once: a process that is killed on the way leaves a journal, and the next
 * commit or {@link recover} finishes what was begun.
 *
 * @param folder The folder of the archive.
 * @param change The steps in this order, or what reads the archive, which nobody else changes
 * meanwhile, and returns them. Renamed files replace what is there.
 * @throws LostDraftError if a file to rename is gone. Nothing is changed then.
 */
export async function commit(
	folder: string,
	change: Step[] | (() => Promise<Step[]>),
): Promise<void> {
	await withWriteLock(folder, async () => {
		await finishJournal(folder);
		const steps = typeof change === 'function' ? await change() : change;
		if (steps.length === 0) return;
		for (const step of steps) {
			if (!('rename' in step)) continue;
			if (!(await isThere(join(folder, step.rename)))) {
				throw new LostDraftError('Another program removed what was being written');
			}
			await prepareFolder(folder, dirname(step.to));
		}
		const draft = await writeDraft(folder, JSON.stringify(steps));
		await onWindowsAgain(() => rename(join(folder, draft), join(folder, JOURNAL)));
		await finishJournal(folder);
	});
}

/** Finishes what a process that was killed had begun to change. Does nothing if there is no such. */
export async function recover(folder: string): Promise<void> {
	if (await isInterrupted(folder)) await withWriteLock(folder, () => finishJournal(folder));
}

/** Whether a process was killed while it changed the archive, or is changing it now. */
export async function isInterrupted(folder: string): Promise<boolean> {
	return await isThere(join(folder, JOURNAL));
}

/** Writes a file that counts for nothing yet, flushed to the disk; returns its path in the archive. */
export async function writeDraft(folder: string, content: string | Buffer): Promise<string> {
	const { path, file } = await openDraft(folder);
	try {
		await file.writeFile(content);
		await file.sync();
	} catch (error) {
		// On a full disk, what is written of it would take the rest.
		await rm(join(folder, path), { force: true }).catch(() => {});
		throw error;
	} finally {
		await file.close();
	}
	return path;
}

/** A copy that counts for nothing yet. */
export interface Copy extends Saved {
	/** In the archive. */
	path: string;
}

/** Writes what a source gives as a file that counts for nothing yet, flushed to the disk. */
export async function writeCopy(folder: string, source: AsyncIterable<Uint8Array>): Promise<Copy> {
	const path = await newDraft(folder);
	return { path, ...(await saveStream(join(folder, path), source)) };
}

/** A path for a new draft, in a folder that exists. */
async function newDraft(folder: string): Promise<string> {
	await prepareFolder(folder, DRAFTS);
	return `${DRAFTS}/${randomBytes(8).toString('hex')}`;
}

async function openDraft(folder: string): Promise<{ path: string; file: FileHandle }> {
	for (let tries = 1; ; tries++) {
		const path = await newDraft(folder);
		try {
			return { path, file: await open(join(folder, path), 'wx') };
		} catch (error) {
			// Another program has just cleared the drafts, with their folder.
			const mayPass = (error as NodeJS.ErrnoException).code === 'ENOENT';
			if (!mayPass || tries === MAX_DRAFT_TRIES) throw error;
		}
	}
}

/** Removes what was being written by a process that was killed. Only for the holder of the run lock. */
export async function clearDrafts(folder: string): Promise<void> {
	await withWriteLock(folder, async () => {
		// A journal that can't be finished yet needs its drafts.
		await finishJournal(folder);
		await onWindowsAgain(() =>
			rm(join(folder, DRAFTS), { recursive: true, force: true, maxRetries: 10 }),
		);
	});
}

/** Removes drafts that no commit is going to move to their place. */
export async function removeDrafts(folder: string, paths: string[]): Promise<void> {
	await withWriteLock(folder, async () => {
		// One that can't be finished yet may need them.
		await finishJournal(folder);
		for (const path of paths) await rm(join(folder, path), { force: true });
	});
}

async function finishJournal(folder: string): Promise<void> {
	const journal = join(folder, JOURNAL);
	const json = await readFile(journal, 'utf8').catch((error: unknown) => {
		if (asError(error).code === 'ENOENT') return undefined;
		throw error;
	});
	if (json === undefined) return;
	const steps = parseSteps(json);
	// A folder may have become a link since the journal was written.
	for (const path of new Set(steps.flatMap(pathsOf).map((each) => dirname(each)))) {
		await checkInside(folder, join(folder, path));
	}
	for (const step of steps) {
		// Of a file that is lost, the manifest, which is the last step, must not tell.
		if (!(await take(folder, step))) break;
	}
	await onWindowsAgain(() => rm(journal, { force: true }));
}

function parseSteps(json: string): Step[] {
	try {
		const steps = JSON.parse(json) as Step[];
		if (steps.flatMap(pathsOf).every(isInside)) return steps;
	} catch {
		// Not one of ours.
	}
	throw new Error(`${JOURNAL} in the archive is damaged. Remove it, then check the archive`);
}

const pathsOf = (step: Step) => ('rename' in step ? [step.rename, step.to] : [step.remove]);

const isInside = (path: unknown) =>
	typeof path === 'string' &&
	path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') &&
	!/[\\:\0]/.test(path);

/** Returns false if a file to rename is lost. */
async function take(folder: string, step: Step): Promise<boolean> {
	if ('remove' in step) {
		await onWindowsAgain(() => rm(join(folder, step.remove), { force: true }));
		return true;
	}
	const [from, to] = [join(folder, step.rename), join(folder, step.to)];
	try {
		await onWindowsAgain(() => rename(from, to));
		return true;
	} catch (error) {
		// Renamed already, before the process was killed, or lost.
		const isLost = (error as NodeJS.ErrnoException).code === 'ENOENT' && (await isThere(folder));
		if (!isLost || (await isThere(from))) throw error;
		return await isThere(to);
	}
}

async function isThere(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Does something with files again, because Windows refuses it while another program has them open. */
async function onWindowsAgain(work: () => Promise<void>): Promise<void> {
	for (let attempt = 0; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			const mayPass = process.platform === 'win32' && /^(EPERM|EACCES|EBUSY)$/.test(code ?? '');
			if (!mayPass || attempt === WINDOWS_RETRIES) throw error;
			await sleep(WINDOWS_PAUSE_MS);
		}
	}
}

/**
 * Makes a folder of the archive.
 *
 * @throws FileError if a link leads it out of the archive.
 */
export async function prepareFolder(root: string, path: string): Promise<void> {
	const folder = join(root, path);
	await checkInside(root, folder);
	// One by one, because `recursive` would make the archive's folder anew if it has gone.
	let made = root;
	for (const name of path.split(/[\\/]/)) {
		if (name === '.') continue;
		made = join(made, name);
		await mkdir(made).catch(unlessExists);
	}
	await checkInside(root, folder);
}

function unlessExists(error: NodeJS.ErrnoException): void {
	if (error.code !== 'EEXIST') throw error;
}

/** Rejects if the part of a folder that exists is outside of the archive. */
async function checkInside(root: string, folder: string): Promise<void> {
	const real = await realpath(folder).catch(() => undefined);
	const realRoot = await realpath(root);
	if (real === undefined && folder !== root) return checkInside(root, dirname(folder));
	if (real === undefined || !isWithin(realRoot, real)) {
		throw new FileError('belongs in a folder that is outside of the archive, because of a link');
	}
}
