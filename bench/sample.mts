// One measurement, in a process of its own: node --expose-gc bench/sample.mts <JSON of a Sample>
import { createWriteStream } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { IDataObject } from 'n8n-workflow';
import { median } from 'simple-statistics';
import type { Read, Reading, Service, Way } from './ways.mts';

/** What is measured, and what comes back for it, by kind. */
export interface Samples {
	/** Reads a list `warmUps` times, and then `reads` times to be measured; `ms` is their median. */
	list: {
		asked: Reading & { way: Way; warmUps: number; reads: number };
		given: { ms: number; lifelogs: number; peak: number; error?: string };
	};
	/** CPU time of each of some polls that find nothing new, and of their requests by the HTTP Request node. */
	poll: {
		asked: Service & { polls: number; pageSize: number; dates: string[] };
		given: { cpuMs: number[]; httpCpuMs: number[] };
	};
	/** Downloads a range of audio, epoch ms, to n8n's binary storage. */
	audio: {
		asked: Service & { start: number; end: number; binaryMode: 'filesystem' | 'default' };
		given: { ms: number; bytes: number; peak: number };
	};
	/** The same by the HTTP Request node, from addresses, to filesystem storage. */
	httpFiles: {
		asked: Service & { urls: string[] };
		given: { ms: number; bytes: number; peak: number };
	};
	/** Downloads to files without n8n's help, in a process that has it loaded all the same. */
	files: { asked: { apiKey: string; urls: string[]; folder: string }; given: { ms: number } };
	/** Loads what n8n gives to every node, and then the nodes. */
	load: { asked: Record<string, never>; given: { baseMs: number; nodesMs: number } };
}

export type Kind = keyof Samples;

const peak = () => process.resourceUsage().maxRSS * 1024;

type Measure = { [K in Kind]: (asked: Samples[K]['asked']) => Promise<Samples[K]['given']> };

const measure: Measure = {
	async list({ way, warmUps, reads, ...reading }) {
		const { open } = await import('./ways.mts');
		const { read, close } = await open(way, reading);
		const nothing = { start: '2000-01-01 00:00:00', end: '2000-01-02 00:00:00' };
		await read({ ...reading, range: nothing });
		for (let nth = 0; nth < warmUps; nth++) await read(reading);
		let last: Read = { lifelogs: 0 };
		const taken: number[] = [];
		for (let nth = 0; nth < reads; nth++) {
			globalThis.gc!();
			const began = performance.now();
			last = await read(reading);
			taken.push(performance.now() - began);
		}
		await close();
		return { ...last, ms: median(taken), peak: peak() };
	},

	async poll({ baseUrl, apiKey, polls, pageSize, dates }) {
		const { pollByHttp, startEngine: startWithHttp } = await import('./ways.mts');
		const engine = await startWithHttp({ baseUrl, apiKey });
		const staticData: IDataObject = {};
		const { workflowWith } = await import('../test/support/workflow.mts');
		const workflow = workflowWith('lifelogTrigger', { options: { lookbackDays: 31 } });
		const poll = async () => {
			if ((await engine.runPoll(workflow, { staticData })).output !== null) {
				throw new Error('The poll found something');
			}
		};
		const byHttp = pollByHttp({ baseUrl, apiKey }, pageSize);
		const input = dates.map((date) => ({ json: { date } }));
		const http = async () => {
			const { error } = await engine.runWorkflow(byHttp, { input });
			if (error) throw error;
		};
		await poll();
		await http();
		const cpuMs: number[] = [];
		const httpCpuMs: number[] = [];
		for (let nth = 0; nth < polls; nth++) {
			cpuMs.push(await cpuTime(poll));
			httpCpuMs.push(await cpuTime(http));
		}
		await engine.close();
		return { cpuMs, httpCpuMs };
	},

	async audio({ start, end, binaryMode, ...service }) {
		const { engine, close } = await startEngine(service, binaryMode);
		const { workflowWith } = await import('../test/support/workflow.mts');
		const parameters = { operation: 'download', source: 'timeRange', start, end };
		const nothing = {
			start: 100_000_000_000,
			end: 100_000_001_000,
			options: { ifNoAudio: 'skip' },
		};
		await engine.runWorkflow(workflowWith('lifelogAudio', { ...parameters, ...nothing }));
		const began = performance.now();
		const { error, items } = await engine.runWorkflow(workflowWith('lifelogAudio', parameters));
		const ms = performance.now() - began;
		if (error) throw error;
		const sizes = items('Node').map(({ json }) => json.fileSize as number);
		await close();
		return { ms, bytes: sizes.reduce((sum, size) => sum + size, 0), peak: peak() };
	},

	async httpFiles({ urls, ...service }) {
		const { filesWorkflow, startEngine: startWithHttp } = await import('./ways.mts');
		const engine = await startWithHttp(service, 'filesystem');
		const download = async (from: string[]) =>
			await engine.runWorkflow(filesWorkflow(service.apiKey), {
				input: from.map((url) => ({ json: { url } })),
			});
		await download([`${service.baseUrl}/v1/download-audio?startMs=1&endMs=2`]);
		const began = performance.now();
		const { error, items } = await download(urls);
		const ms = performance.now() - began;
		if (error) throw error;
		const sizes = items('Node').map(({ binary }) => Number(binary!.data.bytes));
		await engine.close();
		return { ms, bytes: sizes.reduce((sum, size) => sum + size, 0), peak: peak() };
	},

	async files({ apiKey, urls, folder }) {
		const { close } = await startEngine({ baseUrl: urls[0], apiKey });
		const { default: axios } = await import('axios');
		const began = performance.now();
		for (const [nth, url] of urls.entries()) {
			const headers = { 'X-API-Key': apiKey };
			const { data } = await axios.get(url, { headers, responseType: 'stream' });
			await pipeline(data, createWriteStream(join(folder, `${nth}.ogg`)));
		}
		const ms = performance.now() - began;
		await close();
		return { ms };
	},

	async load() {
		const require = createRequire(resolve('package.json'));
		const { n8n } = require('./package.json') as { n8n: { nodes: string[] } };
		const start = performance.now();
		for (const name of ['n8n-workflow', 'luxon']) require(name);
		const between = performance.now();
		for (const file of n8n.nodes) require(resolve(file));
		return { baseMs: between - start, nodesMs: performance.now() - between };
	},
};

/** CPU time in ms. */
async function cpuTime(run: () => Promise<void>): Promise<number> {
	const before = process.cpuUsage();
	await run();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

async function startEngine(service: Service, binaryMode?: 'filesystem' | 'default') {
	const { createEngine, loadPackage } = await import('../test/support/engine.mts');
	const credentials = { lifelogApi: { ...service } };
	const engine = await createEngine({ ...loadPackage(), credentials, binaryMode });
	return { engine, close: engine.close };
}

const [kind, asked] = JSON.parse(process.argv[2]) as [Kind, never];
process.stdout.write(JSON.stringify(await measure[kind](asked)), () => process.exit());
