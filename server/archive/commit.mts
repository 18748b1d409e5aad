// Steps that are done all or none: the lowest part of changeDays.mts.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../util/errors.mts';
import { saveStream } from '../util/saveStream.mts';
import { FileError, isWithin } from './folder.mts';
import { withWriteLock } from './lock.mts';

/** One step of a change. Paths are relative to the archive's folder, with `/`. */
export type Step = { rename: string; to: string } | { remove: string };

/** Files that are being written. They count for nothing until a change moves them to their place. */
export const DRAFTS = '.lifelog-drafts';
const JOURNAL = '.lifelog-journal.json';

const WINDOWS_RETRIES = 50;
const WINDOWS_PAUSE_MS = 50;

/** A draft is gone that was to be moved to its place. */
export class LostDraftError extends Error {
	constructor() {
		super('Another program removed files that were being written. Run the command again');
	}
}

/**
 * Carries out steps in their order. A process that is killed on the way leaves a journal, and the next
 * change or {@link recover} finishes what was begun. The caller holds the write lock, and has finished
 * the journal of the change before.
 *
 * @throws LostDraftError if a file to rename is gone; no step is carried out then.
 */
export async function commit(folder: string, steps: Step[]): Promise<void> {
	if (steps.length === 0) return;
	for (const step of steps) {
		if (!('rename' in step)) continue;
		if (!(await isThere(join(folder, step.rename)))) throw new LostDraftError();
		await prepareFolder(folder, dirname(step.to));
	}
	const draft = await writeDraft(folder, JSON.stringify(steps));
	await onWindowsAgain(() => rename(join(folder, draft), join(folder, JOURNAL)));
	if (!(await finishJournal(folder))) throw new LostDraftError();
}

/** Finishes what a process that was killed had begun to change. Does nothing if there is no such. */
export async function recover(folder: string): Promise<void> {
	if (await isInterrupted(folder)) await withWriteLock(folder, () => finishJournal(folder));
}

/** Whether a process was killed while it changed the archive, or is changing it now. */
export async function isInterrupted(folder: string): Promise<boolean> {
	return await isThere(join(folder, JOURNAL));
}

/** A path for a new draft, which has a folder. */
export const newDraft = (below: string): string => `${below}/${randomBytes(8).toString('hex')}`;

/** Writes a draft while the write lock is held; returns its path in the archive. */
export async function writeDraft(folder: string, content: string): Promise<string> {
	await prepareFolder(folder, DRAFTS);
	const path = newDraft(DRAFTS);
	await saveStream(join(folder, path), [Buffer.from(content)]);
	return path;
}

/**
 * Finishes what a process that was killed had begun to change. The caller holds the write lock.
 *
 * @returns Whether all of it could be done; false if a draft is gone.
 */
export async function finishJournal(folder: string): Promise<boolean> {
	const journal = join(folder, JOURNAL);
	const json = await readFile(journal, 'utf8').catch((error: unknown) => {
		if (asError(error).code === 'ENOENT') return undefined;
		throw error;
	});
	if (json === undefined) return true;
	const steps = parseSteps(json);
	// A folder may have become a link since the journal was written.
	for (const path of new Set(steps.flatMap(pathsOf).map((each) => dirname(each)))) {
		await checkInside(folder, join(folder, path));
	}
	let isWhole = true;
	for (const step of steps) {
		// The manifests come after the files: of a file that is lost, none must tell.
		isWhole = await take(folder, step);
		if (!isWhole) break;
	}
	await onWindowsAgain(() => rm(journal, { force: true }));
	return isWhole;
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
export async function onWindowsAgain(work: () => Promise<void>): Promise<void> {
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

/**
 * Makes sure that a folder is in the archive, or would be.
 *
 * @throws FileError if a link leads out of the archive.
 */
export async function checkInside(root: string, folder: string): Promise<void> {
	const real = await realpath(folder).catch(() => undefined);
	const realRoot = await realpath(root);
	if (real === undefined && folder !== root) return checkInside(root, dirname(folder));
	if (real === undefined || !isWithin(realRoot, real)) {
		throw new FileError('belongs in a folder that is outside of the archive, because of a link');
	}
}
