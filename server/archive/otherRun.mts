import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from './layout.mts';

/** Start of the run ID in reports of the command `archive`. */
export const OWN_RUN = 'lifelog-server ';
/** A run writes its report after each day. After this time it counts as stopped. */
const RUN_ENDS_MS = 30 * 60_000;
/** n8n empties a file before it writes to it. A report that is cut for longer counts as broken. */
const WRITE_TAKES_MS = 5_000;

/**
 * Start of a run of Full archive in n8n that is in progress; otherwise undefined. Runs of
 * this command aren't looked up here: they hold a lock.
 */
export async function otherRunSince(folder: string): Promise<string | undefined> {
	const { state, runId, startedAt, updatedAt } = (await readReport(folder)) ?? {};
	const goesOn = state === 'starting' || state === 'running';
	if (!goesOn || String(runId).startsWith(OWN_RUN)) return undefined;
	// A time in the future comes from a wrong clock.
	const isFresh = Math.abs(Date.now() - Date.parse(String(updatedAt))) < RUN_ENDS_MS;
	return isFresh ? String(startedAt ?? updatedAt) : undefined;
}

async function readReport(folder: string): Promise<Record<string, unknown> | undefined> {
	const deadline = Date.now() + WRITE_TAKES_MS;
	for (;;) {
		const json = await readFile(join(folder, 'report.json'), 'utf8').catch(() => undefined);
		const report = json === undefined ? undefined : parseJson(json);
		if (report || json === undefined || Date.now() > deadline) {
			return report as Record<string, unknown> | undefined;
		}
		await sleep(50);
	}
}
