import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { Engine, EngineOptions } from '../../support/engine.mts';
import { engineAt } from '../../support/lab.mts';
import { serve } from '../../support/serve.mts';
import { skipPauses } from '../../support/skipPauses.mts';
import { type NodeRun, useNode } from '../../support/useNode.mts';

export const PATH = '/v1/download-audio';
export const NOW = '2026-03-20T23:00:00Z';
export const minute = 60_000;
export const hour = 60 * minute;

/** A time of 20 March 2026, UTC. */
export const at = (time: string) => `2026-03-20T${time}`;
export const ms = (time: string) => Date.parse(`${at(time)}Z`);

/** A range of that day as the output lists it. */
export const spanOf = (from: string, to: string) => ({
	startMs: ms(from),
	endMs: ms(to),
	startTime: `${at(from)}:00.000Z`,
	endTime: `${at(to)}:00.000Z`,
});

/** The beginning of the address of the chunk that begins then, for a fault of it alone. */
export const chunkAt = (time: string) => `${PATH}?startMs=${ms(time)}`;

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** The node, a sandbox without audio before each test, and a folder for the files. */
export function useAudio() {
	const binaryDir = mkdtempSync(join(tmpdir(), 'audio-'));
	const stored = { binaryMode: 'filesystem', binaryDir } as const;
	const {
		sandbox,
		engine,
		run: runNode,
	} = useNode('lifelogAudio', {
		usual: { operation: 'download', source: 'timeRange' },
		...stored,
	});
	const pauses = skipPauses();
	const started: Array<{ close: () => Promise<void> }> = [];

	beforeEach(async () => {
		await sandbox.control.reset({ empty: true, now: NOW });
	});
	afterEach(async () => {
		for (const { close } of started.splice(0)) await close();
	});
	afterAll(async () => {
		pauses.stop();
		await rm(binaryDir, { recursive: true });
	});

	async function storedFiles(): Promise<string[]> {
		const files = await readdir(binaryDir, { recursive: true, withFileTypes: true });
		return files
			.filter((file) => file.isFile())
			.map(({ parentPath, name }) => join(parentPath, name));
	}

	/** The same, once n8n has put away what it had begun to write. */
	async function settledFiles(): Promise<string[]> {
		let files = await storedFiles();
		while (files.some((file) => file.includes('.tmp.'))) {
			await sleep(20);
			files = await storedFiles();
		}
		return files;
	}

	async function run(parameters: IDataObject, options?: NodeRun) {
		const before = await storedFiles();
		const result = await runNode(parameters, options);
		const { requests } = result;
		return {
			...result,
			checks: requests.filter(({ path }) => path === '/v1/chats').length,
			asked: requests
				.filter(({ path }) => path === PATH)
				.map(({ query }) => [Number(query.startMs), Number(query.endMs)]),
			left: (await settledFiles()).filter((file) => !before.includes(file)),
		};
	}

	/** An engine for a service, until the end of the test. */
	async function startEngine(url: string, options: Partial<EngineOptions> = {}): Promise<Engine> {
		const own = await engineAt({ url, apiKey: sandbox.apiKey }, { ...stored, ...options });
		started.push(own);
		return own;
	}

	return {
		sandbox,
		engine,
		binaryDir,
		storedFiles,
		run,
		startEngine,

		downloadRange: async (start: unknown, end: unknown, options: IDataObject = {}) =>
			await run({ start, end, options } as IDataObject),

		/** An engine whose service answers as a test wants it to. */
		async engineFor(handler: RequestListener, nodeTypes = {}): Promise<Engine> {
			const service = await serve(handler);
			started.push(service);
			return await startEngine(service.url, { nodeTypes });
		},

		/** Adds a lifelog of some minutes, from a time of 20 March 2026 (UTC) on. */
		async record(time: string, minutes: number) {
			const start = ms(time);
			const [startTime, endTime] = [start, start + minutes * minute].map((instant) =>
				new Date(instant).toISOString(),
			);
			return await sandbox.control.addLifelog({ startTime, endTime });
		},

		async fetchAudio([startMs, endMs]: number[]): Promise<Buffer> {
			const headers = { 'x-api-key': sandbox.apiKey };
			const url = `${sandbox.url}${PATH}?startMs=${startMs}&endMs=${endMs}`;
			const response = await fetch(url, { headers });
			expect(response.status).toBe(200);
			return Buffer.from(await response.arrayBuffer());
		},
	};
}
