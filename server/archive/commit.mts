// Carries out steps atomically: the lowest layer of changeDays.mts.
import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asError } from '../util/errors.mts';
import { onWindowsAgain } from '../util/onWindowsAgain.mts';
import { saveStream } from '../util/saveStream.mts';
import { checkInside, prepareFolder } from './folder.mts';
import { DRAFTS, JOURNAL } from './layout.mts';

/** One step of a change. Paths are relative to the archive's folder, with `/`. */
export type Step = { rename: string; to: string } | { remove: string };

/**
 * Carries out steps in order. If the process is killed, a journal remains, and the next change
 * finishes the steps. The caller holds the write lock, and has already finished an older journal.
 *
 * @returns Whether all steps were done; false if a file to rename is gone.
 */
export async function commit(folder: string, steps: Step[]): Promise<boolean> {
	if (steps.length === 0) return true;
	for (const step of steps) {
		if (!('rename' in step)) continue;
		if (!(await isThere(join(folder, step.rename)))) return false;
		await prepareFolder(folder, dirname(step.to));
	}
	const draft = await writeDraft(folder, JSON.stringify(steps));
	await onWindowsAgain(() => rename(join(folder, draft), join(folder, JOURNAL)));
	return await finishJournal(folder);
}

/** A path for a new draft in a folder. */
export const newDraft = (below: string): string => `${below}/${randomBytes(8).toString('hex')}`;

/** Writes a draft under the write lock; returns its path in the archive. */
export async function writeDraft(folder: string, content: string): Promise<string> {
	await prepareFolder(folder, DRAFTS);
	const path = newDraft(DRAFTS);
	await saveStream(join(folder, path), [Buffer.from(content)]);
	return path;
}

/**
 * Finishes the change of a killed process. The caller holds the write lock.
 *
 * @returns Whether all steps were done; false if a draft is gone.
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
		// Files come before manifests: no manifest may name a lost file.
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
		// Not our file.
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
		// Renamed before the process was killed, or lost.
		const isLost = (error as NodeJS.ErrnoException).code === 'ENOENT' && (await isThere(folder));
		if (!isLost || (await isThere(from))) throw error;
		return await isThere(to);
	}
}

async function isThere(path: string): Promise<boolean> {
	return (await stat(path).catch(() => undefined)) !== undefined;
}
