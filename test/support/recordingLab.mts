// A lifelog-server that takes recordings, the endpoint that transcribes them, and files to send.
import { appendFileSync, copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { startLifelogServer, type SpawnedServer } from './lifelogServer.mts';
import {
	askRecordings,
	uploadTo,
	whenRecording,
	type Recording,
	type RecordingAnswer,
} from './recordings.mts';
import { makeTones } from './tones.mts';
import { startTranscription, type TranscriptionEndpoint } from './transcription.mts';

/** The text of a segment, its speaker, and when it begins and ends in seconds. */
export type Said = [text: string, speaker: string | undefined, start: number, end: number];

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

	/** Has the endpoint hear this. */
	hears(...segments: Said[]): void {
		this.endpoint.instead = () => ({
			segments: segments.map(([text, speaker, start, end]) => ({ text, speaker, start, end })),
		});
	}

	/** A recording of 10 seconds that is done, in which this was heard, and its lifelogs. */
	async recorded(startTime: string, ...segments: Said[]) {
		const path = this.ten();
		this.hears(...segments);
		const { recording } = await this.upload(path, { startTime });
		const { lifelogIds } = await this.ended(recording.id);
		return { id: recording.id, lifelogIds, path };
	}

	askAgain(id: string): Promise<RecordingAnswer> {
		return this.ask(`/${id}/transcribe-again`, { method: 'POST' });
	}

	/** Transcribes a recording again, and returns it then. */
	async again(id: string): Promise<Recording> {
		const { status, recording } = await this.askAgain(id);
		expect([status, recording.status]).toEqual([202, 'queued']);
		return await this.ended(id);
	}

	/** What the page shows of the recording of a lifelog. */
	async recordingOf(lifelogId: string) {
		return await (await this.fetch(`/web/lifelogs/${lifelogId}/recording`)).json();
	}

	/** What is said in a lifelog, a text for each line. */
	async textsOf(lifelogId: string): Promise<string[]> {
		return said(await this.lifelog(lifelogId)).map(({ content }) => content);
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
