// 24 hours of audio into n8n's binary storage: throughput against curl, and memory.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestSandbox } from '../test/support/sandbox.mts';
import { figureOf, mebibytes, ratioOf, type Row, seconds, spreadOf } from './figures.mts';
import { sample, times } from './processes.mts';

const RUNS = 5;
const MAX_MORE_MIB = 64;
/** By default, V8 collects used buffers late: tens of MiB of them add up in every node. */
const COLLECTED_SOON = ['--max-semi-space-size=1'];
const CHUNKS = 12;
const CHUNK_MS = 7_200_000;
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const END_MS = START_MS + CHUNKS * CHUNK_MS;
const starts = Array.from({ length: CHUNKS }, (_, nth) => START_MS + nth * CHUNK_MS);

/** Records so much at the start of each chunk. */
async function record({ control }: TestSandbox, recordedMs: number): Promise<void> {
	const dialect = { rateLimit: { max: 1_000_000 } };
	await control.reset({ empty: true, now: new Date(END_MS).toISOString(), dialect });
	for (const start of starts) {
		const [startTime, endTime] = [start, start + recordedMs].map((ms) =>
			new Date(ms).toISOString(),
		);
		await control.addLifelog({ startTime, endTime });
	}
}

async function download(
	sandbox: TestSandbox,
	binaryMode: 'filesystem' | 'default' = 'filesystem',
	flags: string[] = [],
) {
	const { url: baseUrl, apiKey } = sandbox;
	const asked = { baseUrl, apiKey, binaryMode, start: START_MS, end: END_MS };
	return await sample('audio', asked, flags);
}

const urlsOf = ({ url }: TestSandbox) =>
	starts.map((start) => `${url}/v1/download-audio?startMs=${start}&endMs=${start + CHUNK_MS}`);

/** The same chunks by n8n's own node, which asks for all of them at once. */
async function downloadByHttp(sandbox: TestSandbox, flags: string[] = []) {
	const { url: baseUrl, apiKey } = sandbox;
	return await sample('httpFiles', { baseUrl, apiKey, urls: urlsOf(sandbox) }, flags);
}

/** Peaks of memory, in bytes, of both nodes: as n8n runs, and with used buffers collected soon. */
async function peaks(sandbox: TestSandbox) {
	return await times(RUNS, async () => ({
		own: (await download(sandbox)).peak,
		http: (await downloadByHttp(sandbox)).peak,
		ownHeld: (await download(sandbox, 'filesystem', COLLECTED_SOON)).peak,
		httpHeld: (await downloadByHttp(sandbox, COLLECTED_SOON)).peak,
	}));
}

/** Times, in ms, of the same chunks without n8n, one after the other into files. */
async function downloadFiles(sandbox: TestSandbox) {
	const { apiKey } = sandbox;
	const folder = await mkdtemp(join(tmpdir(), 'bench-audio-'));
	try {
		const urls = urlsOf(sandbox);
		const files = urls.flatMap((each, nth) => ['--output', join(folder, `${nth}.ogg`), each]);
		const began = performance.now();
		const args = ['--silent', '--fail', '--header', `X-API-Key: ${apiKey}`, ...files];
		await promisify(execFile)('curl', args);
		const curlMs = performance.now() - began;
		const { ms: axiosMs } = await sample('files', { apiKey, urls, folder });
		return { curlMs, axiosMs };
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Throughput against curl, and how much more memory it takes than with tiny files. */
export async function audio(sandbox: TestSandbox): Promise<Row[]> {
	await record(sandbox, 20);
	const tiny = await peaks(sandbox);
	const tinyInMemory = await download(sandbox, 'default');
	await record(sandbox, CHUNK_MS);
	const full = await peaks(sandbox);
	const runs = await times(RUNS, async () => ({
		...(await download(sandbox)),
		...(await downloadFiles(sandbox)),
		http: await downloadByHttp(sandbox),
	}));
	for (const { bytes, http } of runs) {
		if (http.bytes !== bytes) throw new Error(`The HTTP Request node: ${http.bytes} of ${bytes}`);
	}
	const inMemory = await download(sandbox, 'default');

	const [{ bytes }] = runs;
	const [own, curl, axios] = [
		runs.map(({ ms }) => ms),
		runs.map(({ curlMs }) => curlMs),
		runs.map(({ axiosMs }) => axiosMs),
	];
	const medians = [own, curl, axios].map((ms) => seconds(spreadOf(ms).median));
	const byHttp = runs.map(({ http }) => http.ms);
	const toHttp = ratioOf(byHttp, own);
	const moreOf = (way: keyof (typeof full)[0]) =>
		spreadOf(full.map((peak, nth) => (peak[way] - tiny[nth][way]) / 2 ** 20));
	const [held, httpHeld] = [moreOf('ownHeld'), moreOf('httpHeld')];
	const size = `${CHUNKS} files, ${(bytes / 1e6).toFixed(0)} MB in all`;
	return [
		{
			what: '24 hours of audio to filesystem storage, throughput against the HTTP Request node',
			figure: figureOf(toHttp),
			from: `${size}: ${medians[0]}, the node, all files at once, ${seconds(spreadOf(byHttp).median)}; curl ${medians[1]}, axios in a process with n8n ${medians[2]}`,
			goal: 'at least 1.00',
			holds: toHttp.median >= 1,
			reason: 'it also makes a checksum of each file',
		},
		{
			what: 'Peak memory for them, above that for tiny files',
			figure: `${figureOf(held, 0)} MiB; HTTP Request node: ${figureOf(httpHeld, 0)} MiB`,
			from: `with ${COLLECTED_SOON[0]}, so that V8 collects used buffers soon; by default ${figureOf(moreOf('own'), 0)} and ${figureOf(moreOf('http'), 0)} MiB; binary mode \`default\`, which keeps files in memory, ${mebibytes(inMemory.peak - tinyInMemory.peak)}`,
			goal: `below ${MAX_MORE_MIB} MiB; HTTP Request node: less`,
			holds: held.median < MAX_MORE_MIB && held.median < httpHeld.median,
		},
	];
}
