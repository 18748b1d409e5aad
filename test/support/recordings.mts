// Recordings that are uploaded to a lifelog-server, and servers that are killed on the way.
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recording as Stored } from '../../server/recordings/queue.mts';
import { spawnLifelogServer, startLifelogServer, type SpawnedServer } from './lifelogServer.mts';
import { newestManifests } from './manifests.mts';

/** A recording, as the API answers it. */
export type Recording = Stored & { deletedLifelogIds: string[] };

type Server = Pick<SpawnedServer, 'url' | 'apiKey'>;

/** What was answered about a recording. */
export interface RecordingAnswer {
	status: number;
	recording: Recording;
	error: string;
}

/** Sends a request about recordings, by default GET. */
export async function askRecordings(
	{ url, apiKey }: Server,
	path: string,
	init: RequestInit = {},
): Promise<RecordingAnswer> {
	const headers = { 'X-API-Key': apiKey, ...init.headers };
	const response = await fetch(`${url}/v1/recordings${path}`, { ...init, headers });
	const body = await response.json();
	return { status: response.status, recording: body.data?.recording, error: body.error };
}

/** Uploads a file. */
export async function uploadTo(
	server: Server,
	path: string,
	fields: Record<string, string> = {},
): Promise<RecordingAnswer> {
	const body = new FormData();
	for (const [name, value] of Object.entries(fields)) body.set(name, value);
	body.set('file', await openAsBlob(path), basename(path));
	return askRecordings(server, '', { method: 'POST', body });
}

/** A recording, when it has come to be as it is wanted. */
export async function whenRecording(
	server: Server,
	id: string,
	isSo: (recording: Recording) => boolean,
): Promise<Recording> {
	for (;;) {
		const { recording } = await askRecordings(server, `/${id}`);
		if (isSo(recording)) return recording;
		await sleep(50);
	}
}

/** What an archive has, without when it was written. */
export const archivedIn = (folder: string) =>
	[...newestManifests(folder).values()]
		.map(({ day, lifelogs, audio }) => ({ day, audio, lifelogs: Object.keys(lifelogs) }))
		.sort((a, b) => (a.day < b.day ? -1 : 1));

/**
 * Uploads recordings to a server that is killed so many times, each a random moment after it was ready, and lets the last one finish.
 *
 * @param random From 0 to 1.
 */
export async function killWhileRecording(
	folder: string,
	args: string[],
	uploads: { path: string; fields: Record<string, string> }[],
	{ kills, random }: { kills: number; random: () => number },
): Promise<void> {
	const left = [...uploads];
	for (let kill = 0; kill < kills; kill += 1) {
		const { child, exited, ready } = spawnLifelogServer(folder, args);
		const server = await ready;
		const killing = sleep(random() * 1_500).then(() => child.kill('SIGKILL'));
		try {
			for (const { path, fields } of [...left]) {
				await uploadTo(server, path, fields);
				left.shift();
			}
		} catch {
			// Killed meanwhile: whoever uploads tries again.
		}
		await Promise.all([killing, exited]);
	}
	const server = await startLifelogServer(folder, args);
	for (const { path, fields } of uploads) {
		const { recording } = await uploadTo(server, path, fields);
		await whenRecording(server, recording.id, ({ status }) => status === 'done');
	}
	await server.close();
}
