import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from './layout.mts';

/** Begins the run ID of reports that the command `archive` writes. */
export const OWN_RUN = 'lifelog-server ';
/** A run writes its report after each day; after this it is taken for stopped. */
const RUN_ENDS_MS = 30 * 60_000;

/**
 * The time since which a run of Full archive in n8n has been going on; undefined if there is none.
 * A run of this command is not looked for here, as it holds a lock.
 */
export async function otherRunSince(folder: string): Promise<string | undefined> {
	const json = await readFile(join(folder, 'report.json'), 'utf8').catch(() => '');
	const { state, runId, startedAt, updatedAt } = (parseJson(json) ?? {}) as Record<string, unknown>;
	const goesOn = state === 'starting' || state === 'running';
	if (!goesOn || String(runId).startsWith(OWN_RUN)) return undefined;
	// A time in the future was written by a clock that was wrong.
	const isFresh = Math.abs(Date.now() - Date.parse(String(updatedAt))) < RUN_ENDS_MS;
	return isFresh ? String(startedAt ?? updatedAt) : undefined;
}
