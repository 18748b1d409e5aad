// Finds leftovers of a program that was killed while writing (docs/reference/archive.md).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Report } from './findings.mts';
import { type Folder, IS_MISSING } from './folder.mts';

const JOURNAL = '.lifelog-journal.json';
const DRAFTS = '.lifelog-drafts';
const SQLITE_BUSY = 5;

/** Reports leftover drafts and an unfinished change, unless a program is writing now. */
export async function checkDrafts(folder: Folder, report: Report): Promise<void> {
	const drafts = new Map<string, string[]>();
	for (const name of await folder.names(DRAFTS)) {
		const paths: string[] = [];
		for await (const path of folder.files(`${DRAFTS}/${name}`)) paths.push(path);
		// A file instead of a process's folder.
		drafts.set(name, paths.length > 0 ? paths : [`${DRAFTS}/${name}`]);
	}
	const journal = await folder.sum(JOURNAL);
	const isInterrupted = !('problem' in journal) || journal.problem !== IS_MISSING;
	// After listing: the list may include files of a program that was still writing.
	if (['run', 'write'].some((name) => isLocked(join(folder.root, `.lifelog-${name}.lock`)))) return;
	for (const [name, paths] of drafts) {
		const path = join(folder.root, DRAFTS, name);
		// A process that is writing holds its folder's lock.
		if (isLocked(join(path, '.lifelog-drafts.lock')) || !existsSync(path)) continue;
		for (const each of paths) {
			report({
				...{ kind: 'left over', path: each },
				message: 'was being written when a run was killed: the next archive or import removes it',
			});
		}
	}
	if (isInterrupted) {
		report({
			...{ kind: 'incomplete', path: JOURNAL },
			message: 'says that a change was interrupted: the next archive or import finishes it',
		});
	}
}

/** Whether a program holds a lock, which is SQLite's lock on a file. */
function isLocked(path: string): boolean {
	if (!existsSync(path)) return false;
	try {
		const database = new DatabaseSync(path, { readOnly: true });
		try {
			database.exec('PRAGMA busy_timeout = 0; SELECT 1 FROM sqlite_master');
		} finally {
			database.close();
		}
		return false;
	} catch (error) {
		return (Number((error as { errcode?: number }).errcode) & 0xff) === SQLITE_BUSY;
	}
}
