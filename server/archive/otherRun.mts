import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printable } from '../util/text.mts';
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
	const deadline = performance.now() + WRITE_TAKES_MS;
	let report = await readReport(folder);
	while (report && Object.keys(report).length === 0 && performance.now() < deadline) {
		await sleep(50);
		report = await readReport(folder);
	}
	const { state, runId, startedAt, updatedAt } = report ?? {};
	const goesOn = state === 'starting' || state === 'running';
	if (!goesOn || String(runId).startsWith(OWN_RUN)) return undefined;
	// A time in the future comes from a wrong clock.
	const isFresh = Math.abs(Date.now() - Date.parse(String(updatedAt))) < RUN_ENDS_MS;
	return isFresh ? printable(String(startedAt ?? updatedAt)) : undefined;
}

/**
 * The texts, numbers and flags of an archive's `report.json`, by name.
 *
 * @returns None if it is broken; undefined if there is no such file.
 */
export async function readReport(
	folder: string,
): Promise<Record<string, string | number | boolean> | undefined> {
	const path = join(folder, 'report.json');
	const isFile = await stat(path).then(
		(found) => found.isFile(),
		() => false,
	);
	const json = isFile ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
	if (json === undefined) return undefined;
	const fields = Object.entries((parseJson(json) ?? {}) as Record<string, unknown>);
	return Object.fromEntries(fields.filter(([, value]) => PLAIN.includes(typeof value))) as Record<
		string,
		string | number | boolean
	>;
}
const PLAIN = ['string', 'number', 'boolean'];
