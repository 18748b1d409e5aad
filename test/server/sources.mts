import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeArchive, type ArchivedAudio } from '../support/archive.mts';
import { startLifelogServer, type SpawnedServer } from '../support/lifelogServer.mts';
import type { TestSandbox } from '../support/sandbox.mts';

/** A range in Unix milliseconds. */
export type Range = readonly [startMs: number, endMs: number];

/** Makes a folder that is gone after the tests of the file. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), 'lifelog-server-'));
	folders.push(folder);
	return folder;
}
const folders: string[] = [];
afterAll(() => {
	for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Archives everything that a sandbox has of its user, and its audio of these ranges. */
export async function archiveSandbox(
	{ url, apiKey, control }: TestSandbox,
	folder: string,
	ranges: Range[] = [],
): Promise<void> {
	const chats = (await control.chats())
		.filter(({ owner }) => owner === 'self')
		.map(({ globalPromptId, ...chat }) => ({
			...chat,
			owner: undefined,
			isScheduled: globalPromptId !== null,
		}));
	const audio: ArchivedAudio[] = [];
	for (const [startMs, endMs] of ranges) {
		const range = `startMs=${startMs}&endMs=${endMs}`;
		const headers = { 'X-API-Key': apiKey };
		const response = await fetch(`${url}/v1/download-audio?${range}`, { headers });
		if (response.ok) {
			audio.push({ startMs, endMs, content: Buffer.from(await response.arrayBuffer()) });
		}
	}
	await writeArchive(folder, { lifelogs: await control.lifelogs(), chats, audio });
}

/** Calls a server, by default with its key. */
export function ask(
	{ url, apiKey }: Pick<SpawnedServer, 'url' | 'apiKey'>,
	path: string,
	{ headers, ...init }: RequestInit = {},
): Promise<Response> {
	return fetch(url + path, { ...init, headers: { 'X-API-Key': apiKey, ...headers } });
}

export { startLifelogServer, type SpawnedServer };
