// A lifelog-server that takes recordings, the endpoint that transcribes them, and files to send.
import { appendFileSync, copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { clearDrafts } from '../../server/archive/drafts.mts';
import { spawnLifelogServer, startLifelogServer, type SpawnedServer } from './lifelogServer.mts';
import { newestManifests } from './manifests.mts';
import {
	askRecordings,
	uploadTo,
	whenRecording,
	type Recording,
	type RecordingAnswer,
} from './recordings.mts';
import { makeTones } from './tones.mts';
import { startTranscription, type TranscriptionEndpoint } from './transcription.mts';

export class RecordingLab {
	readonly endpoint: TranscriptionEndpoint;
	/** The folder that is served, and one for files to upload. */
	readonly archive: string;
	readonly files: string;
	server!: SpawnedServer;
	#copies = 0;

	private constructor(endpoint: TranscriptionEndpoint, archive: string, files: string) {
		this.endpoint = endpoint;
		this.archive = archive;
		this.files = files;
	}

	/** Starts the endpoint and a server over two empty folders. */
	static async start(archive: string, files: string): Promise<RecordingLab> {
		await makeTones(join(files, 'tones.m4a'), { seconds: 10 });
		const lab = new RecordingLab(await startTranscription(), archive, files);
		try {
			await lab.start();
		} catch (error) {
			await lab.endpoint.close();
			throw error;
		}
		return lab;
	}

	async start(args = this.argsOf()): Promise<void> {
		this.server = await startLifelogServer(this.archive, args);
	}

	async restart(args = this.argsOf()): Promise<void> {
		await this.server.close();
		await this.start(args);
	}

	async close(): Promise<void> {
		await this.server.close();
		await this.endpoint.close();
	}

	/** The endpoint works again. */
	mend(): void {
		this.endpoint.fault = this.endpoint.instead = undefined;
		this.endpoint.refuses = [];
	}

	argsOf(...more: string[]): string[] {
		return [
			...['--allow-changes', '--allow-delete', '--timezone', 'Europe/Berlin'],
			...['--transcription-url', this.endpoint.url, '--transcription-model', 'whisper-1'],
			// Heard without ffmpeg (tones.mts). The inbox and the node are tested with MP3.
			...['--transcription-format', 'wav'],
			...more,
		];
	}

	/** Ten seconds of tones, in a file that no other one is the same as. */
	ten(): string {
		const path = join(this.files, `ten ${(this.#copies += 1)}.m4a`);
		copyFileSync(join(this.files, 'tones.m4a'), path);
		// A box of MP4 without a meaning.
		appendFileSync(path, Buffer.from([0, 0, 0, 12, ...Buffer.from('free'), 0, 0, 0, this.#copies]));
		return path;
	}

	upload(path: string, fields?: Record<string, string>): Promise<RecordingAnswer> {
		return uploadTo(this.server, path, fields);
	}

	/** Sends a request about recordings, by default GET. */
	ask(path: string, init?: RequestInit): Promise<RecordingAnswer> {
		return askRecordings(this.server, path, init);
	}

	get(id: string): Promise<RecordingAnswer> {
		return this.ask(`/${id}`);
	}

	retry(id: string): Promise<RecordingAnswer> {
		return this.ask(`/${id}/retry`, { method: 'POST' });
	}

	drop(id: string): Promise<RecordingAnswer> {
		return this.ask(`/${id}`, { method: 'DELETE' });
	}

	/** Asks for anything that the server has. */
	fetch(path: string, init?: RequestInit): Promise<Response> {
		const { url, apiKey } = this.server;
		return fetch(url + path, { ...init, headers: { 'X-API-Key': apiKey, ...init?.headers } });
	}

	async listed(query = ''): Promise<Recording[]> {
		return (await (await this.fetch(`/v1/recordings?${query}`)).json()).data.recordings;
	}

	when(id: string, isSo: (recording: Recording) => boolean): Promise<Recording> {
		return whenRecording(this.server, id, isSo);
	}

	/** A recording that is done or has failed, and whose file was put away, which is a moment later. */
	async ended(id: string): Promise<Recording> {
		const recording = await this.when(id, ({ status }) => status === 'done' || status === 'failed');
		const kept = recording.status === 'failed' ? `${id}.original` : undefined;
		while (this.waiting().some((name) => name.startsWith(id) && name !== kept)) await sleep(20);
		return recording;
	}

	/** The lifelogs that become of a file. */
	async made(path: string, fields?: Record<string, string>): Promise<Lifelog[]> {
		const { recording } = await this.upload(path, fields);
		const { status, error, lifelogIds } = await this.ended(recording.id);
		expect([status, error]).toEqual(['done', null]);
		return await Promise.all(lifelogIds.map((lifelogId) => this.lifelog(lifelogId)));
	}

	async lifelog(id: string): Promise<Lifelog> {
		return (await (await this.fetch(`/v1/lifelogs/${id}`)).json()).data.lifelog;
	}

	/** All that an upload can leave. */
	async everything(): Promise<unknown> {
		return [await this.listed(), this.waiting()];
	}

	/** What waits in the archive to become lifelogs. */
	waiting(): string[] {
		return readdirSync(join(this.archive, '.lifelog-recordings'));
	}
}

/** The lines of a lifelog in which somebody speaks. */
export const said = ({ contents }: Lifelog): ContentNode[] =>
	contents.filter(({ type }) => type === 'blockquote');

/**
 * Transcribes a recording with two lifelogs on two days again and again, while its server is killed so many
 * times, each a random moment after it was asked. Each time, all of the old transcript or all of the new
 * one must be there.
 *
 * @param random From 0 to 1.
 */
export async function killWhileTranscribingAgain(
	lab: RecordingLab,
	folder: string,
	{ kills, random }: { kills: number; random: () => number },
): Promise<void> {
	const hears = (version: number) => {
		const text = `Version ${version}.`;
		lab.endpoint.instead = () => ({
			// They begin in other seconds, so that their files have other names.
			segments: [0, 606].map((start) => ({
				text,
				start: start + version,
				end: start + version + 1,
			})),
		});
	};
	const path = join(lab.files, `killed ${folder.split('-').at(-1)}.wav`);
	await makeTones(path, { seconds: 640, silent: [[2, 605]] });
	hears(0);
	let server = await startLifelogServer(folder, lab.argsOf());
	const { recording } = await uploadTo(server, path, { startTime: '2026-03-01T23:55:00Z' });
	const { id } = recording;
	const begun = () => askRecordings(server, `/${id}/transcribe-again`, { method: 'POST' });
	const ended = () => whenRecording(server, id, ({ status }) => status === 'done');
	const { lifelogIds } = await ended();
	const from = performance.now();
	await begun();
	await ended();
	const tookMs = performance.now() - from;
	await server.close();
	for (let version = 1; version <= kills; version += 1) {
		hears(version);
		const { child, exited, ready } = spawnLifelogServer(folder, lab.argsOf());
		server = await ready;
		await begun();
		await sleep(random() * 1.2 * tookMs);
		child.kill('SIGKILL');
		await exited;
		// As the next program that writes does.
		await clearDrafts(folder);
		const there = spokenIn(folder);
		expect([[...there.keys()].sort(), new Set(there.values()).size]).toEqual([
			[...lifelogIds].sort(),
			1,
		]);
		expect([`Version ${version - 1}.`, `Version ${version}.`]).toContain([...there.values()][0]);
		server = await startLifelogServer(folder, lab.argsOf());
		expect(await ended()).toMatchObject({ lifelogIds, error: null });
		await server.close();
		expect([...new Set(spokenIn(folder).values())]).toEqual([`Version ${version}.`]);
	}
}

/** What is said in each lifelog of an archive that wasn't deleted. */
function spokenIn(folder: string): Map<string, string> {
	const lifelogs = [...newestManifests(folder).values()].flatMap((day) =>
		Object.entries(day.lifelogs).filter(([, { deletedAt }]) => deletedAt === undefined),
	);
	return new Map(
		lifelogs.map(([id, { files }]) => {
			const { path } = files.find(({ path }) => path.endsWith('.json'))!;
			const lifelog = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Lifelog;
			return [
				id,
				said(lifelog)
					.map(({ content }) => content)
					.join(' '),
			];
		}),
	);
}
