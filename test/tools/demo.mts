// Runs the example workflows on the real n8n engine, against the sandbox or, with LIFELOG_API_KEY
// set, against the real service, and prints what a person would want to read of it.
import { spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../lifelog/api.ts';
import { startSandbox } from '../../server/sandbox/server.mts';
import { openLog } from '../../server/http/log.mts';
import { startServer } from '../../server/http/startServer.mts';
import {
	createEngine,
	type Engine,
	loadPackage,
	type RunOptions,
	type RunResult,
	type WorkflowJson,
} from '../support/engine.mts';
import { byId, withCredential, within, workflowWith } from '../support/workflow.mts';
import { utterances } from '../../lifelog/contents.ts';
import { asError } from '../../server/util/errors.mts';

const PUBLIC_SERVICE = 'https://api.limitless.ai';

const { LIFELOG_API_KEY, LIFELOG_BASE_URL = PUBLIC_SERVICE } = process.env;
/** The sandbox's person lives in Berlin. */
const timezone = LIFELOG_API_KEY
	? Intl.DateTimeFormat().resolvedOptions().timeZone
	: 'Europe/Berlin';

/** The summary of a whole day is longer than a screen. */
const SUMMARY_LINES = 40;

/** Columns without lines around them. */
const NO_LINES = {
	...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
	...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
	...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: ' ' },
};

let requests = 0;

/** Counts what goes over the wire, whichever service it goes to, and shows it as it grows. */
function showRequests(): void {
	subscribe('http.client.request.start', () => {
		requests++;
		if (process.stdout.isTTY) process.stdout.write(`\r  ${requests} requests …`);
	});
}

function printLifelogs(lifelogs: Lifelog[]): void {
	const width = Math.min(process.stdout.columns || 100, 120);
	const table = new Table({
		head: ['Time', 'Length', 'Title', 'Who spoke'],
		colAligns: ['left', 'right', 'left', 'left'],
		colWidths: [7, 10, Math.floor((width - 22) / 2), Math.floor((width - 22) / 2)],
		style: { head: [], border: [] },
		chars: NO_LINES,
	});
	for (const lifelog of lifelogs) {
		const start = DateTime.fromISO(lifelog.startTime, { setZone: true });
		const minutes = Math.round(DateTime.fromISO(lifelog.endTime).diff(start).as('minutes'));
		const speakers = new Set(utterances(lifelog).map(({ speaker }) => speaker));
		table.push([
			start.toFormat('HH:mm'),
			`${minutes} min`,
			lifelog.title,
			[...speakers].join(', '),
		]);
	}
	console.log(table.toString());
}

function printChat({ items }: RunResult): void {
	for (const { json } of items('Latest scheduled chat')) {
		const { createdAt, prompt, response } = json as Record<string, string | null>;
		const created = DateTime.fromISO(createdAt!, { setZone: true }).toFormat('d LLLL yyyy, HH:mm');
		console.log(`\nThe latest chat of a scheduled prompt (${created}):\n`);
		console.log(`  ${prompt}\n`);
		console.log(`${response}`.replace(/^/gm, '  '));
	}
}

function printAudio({ items }: RunResult): void {
	const [lifelog] = items('Latest lifelog');
	const files = items('Download audio');
	console.log(`\nThe audio of the latest lifelog, "${lifelog?.json.title as string}":\n`);
	if (files.length === 0) console.log('  This lifelog has no audio.');
	for (const { json } of files) printFile(json);
}

function printFile(json: IDataObject): void {
	const { fileName, startMs, endMs, fileSize } = json as Record<string, number>;
	const minutes = ((endMs - startMs) / 60_000).toFixed(1);
	console.log(`  ${fileName}  ${minutes} min  ${(fileSize / 1e6).toFixed(2)} MB`);
}

function printSummary({ items }: RunResult): void {
	const [{ json }] = items('Node');
	const lines = (json.markdown as string).trimEnd().split('\n');
	console.log(`\n${lines.slice(0, SUMMARY_LINES).join('\n')}`);
	if (lines.length > SUMMARY_LINES) console.log(`… and ${lines.length - SUMMARY_LINES} more lines`);
}

/** Runs an example to its end; throws what made it fail. */
async function runExample(engine: Engine, file: string): Promise<RunResult> {
	console.log(`• Running ${file} on the n8n engine …`);
	const workflow = JSON.parse(await readFile(file, 'utf8')) as WorkflowJson;
	return await run(engine, withCredential(workflow));
}

async function run(
	engine: Engine,
	workflow: WorkflowJson,
	options: RunOptions = { timezone },
): Promise<RunResult> {
	const result = await engine.runWorkflow(workflow, options);
	if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
	if (result.status !== 'success') {
		const { message, description } = (result.error ?? {}) as Error & { description?: string };
		throw new Error([message, description].filter(Boolean).join('\n  '));
	}
	return result;
}

/** What the credential in n8n holds. */
interface Credential {
	baseUrl: string;
	apiKey: string;
}

/** The nodes of this package on the n8n engine, at a service. */
async function engineAt(baseUrl: string, apiKey: string): Promise<Engine> {
	return await createEngine({
		...loadPackage(),
		credentials: { lifelogApi: { baseUrl, apiKey } },
	});
}

/** A lifelog-server over the archive of the demo. */
interface ServedArchive {
	url: string;
	apiKey: string;
	close: () => Promise<void>;
}

/** Archives a day with lifelog-server, as it is typed. */
async function archiveDay(folder: string, day: string, credential: Credential): Promise<void> {
	const days = ['--from', day, '--to', day];
	const args = ['archive', folder, '--url', credential.baseUrl, ...days];
	const child = spawn(process.execPath, ['server/lifelog-server.cjs', ...args], {
		env: { ...process.env, LIFELOG_API_KEY: credential.apiKey },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	let said = '';
	child.stdout.on('data', (data) => (said += data));
	const [status] = await once(child, 'close');
	console.log(said.split('\n\n')[0].replace(/^/gm, '  '));
	if (status !== 0) throw new Error(`lifelog-server archive ended with ${status}`);
}

/** Archives a day, serves the archive with lifelog-server, and asks that instead of the service. */
async function showArchive(
	engine: Engine,
	folder: string,
	credential: Credential,
): Promise<ServedArchive | undefined> {
	const date = DateTime.utc().minus({ days: 1 }).toISODate();
	const period = within({ start: `${date}T00:00:00Z`, end: `${date}T23:59:59Z` });
	const options = { includeContents: true };
	const ofDay = { operation: 'getMany', returnAll: true, ...period, options };
	const found = await run(engine, workflowWith('lifelog', ofDay));
	const lifelogs = found.items('Node').map(({ json }) => json as unknown as Lifelog);
	const length = ({ startTime, endTime }: Lifelog) => Date.parse(endTime) - Date.parse(startTime);
	const [longest] = lifelogs.toSorted((a, b) => length(b) - length(a));
	if (!longest) {
		console.log('  Nothing was recorded on that day.');
		return undefined;
	}
	await archiveDay(folder, date, credential);
	const { ready, close } = await startServer({
		...{ folder, host: '127.0.0.1', port: 0, index: join(folder, '.lifelog-index.sqlite') },
		...{ apiKey: undefined, allowDelete: false, embeddings: undefined, rateLimit: undefined },
		...{ trustProxy: undefined, timezone, makesKey: true },
		log: openLog({ level: 'info', format: 'text' }),
		onProgress: () => {},
	});
	const server = await ready;
	let archive: Engine | undefined;
	try {
		archive = await engineAt(server.url, server.apiKey!);
		console.log(
			`• lifelog-server serves them at ${server.url}: the Lifelog node's Base URL from here on. Searching for "${longest.title}", and downloading its audio …\n`,
		);
		const search = { operation: 'search', query: longest.title, limit: 3, options };
		const results = await run(archive, workflowWith('lifelog', search));
		printLifelogs(results.items('Node').map(({ json }) => json as unknown as Lifelog));
		const audio = {
			source: 'lifelog',
			lifelogId: byId(longest.id),
			options: { ifNoAudio: 'skip' },
		};
		const { items } = await run(archive, workflowWith('lifelogAudio', audio));
		for (const { json } of items('Node')) printFile(json);
	} catch (error) {
		await close();
		throw error;
	} finally {
		await archive?.close();
	}
	return { url: server.url, apiKey: server.apiKey!, close };
}

/** Says where the page is. On a terminal it stays until Ctrl+C. */
async function showPage({ url, apiKey, close }: ServedArchive): Promise<void> {
	const { isTTY } = process.stdout;
	console.log(
		`\nThe day on lifelog-server's page, in a browser${isTTY ? ', until you press Ctrl+C' : ''}. Sign in with the key ${apiKey}\n  ${url}`,
	);
	if (isTTY) await once(process, 'SIGINT');
	await close();
}

async function demo(): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-demo-'));
	const sandbox = LIFELOG_API_KEY ? undefined : await startSandbox();
	const credential = {
		apiKey: LIFELOG_API_KEY ?? sandbox!.apiKey,
		baseUrl: sandbox?.url ?? LIFELOG_BASE_URL,
	};
	console.log(
		sandbox
			? `• The sandbox runs at ${sandbox.url}: a month of one person's life in Berlin, made up.`
			: `• Using the service at ${credential.baseUrl}.`,
	);

	let engine: Engine | undefined;
	try {
		engine = await engineAt(credential.baseUrl, credential.apiKey);
		showRequests();
		const result = await runExample(engine, 'examples/yesterdays-lifelogs.json');
		const lifelogs = result
			.items("Yesterday's lifelogs")
			.map(({ json }) => json as unknown as Lifelog);
		const yesterday = DateTime.local().minus({ days: 1 }).toFormat('cccc, d LLLL yyyy');
		console.log(`\n${yesterday} (${timezone}): ${lifelogs.length} lifelogs\n`);
		if (lifelogs.length > 0) printLifelogs(lifelogs);

		console.log();
		const latest = await runExample(engine, 'examples/chat-and-audio.json');
		printChat(latest);
		printAudio(latest);

		console.log(
			'\n• Running Get Daily Summary of the Lifelog node, for yesterday, on the n8n engine …',
		);
		printSummary(await run(engine, workflowWith('lifelog', { operation: 'getDailySummary' })));

		console.log(
			`\n• Archiving yesterday (UTC) with one command, as you would all your days:\n  npm run server -- archive ${folder}\n`,
		);
		const served = await showArchive(engine, folder, credential);
		console.log(`\nThe nodes made ${requests} requests.`);
		if (sandbox) {
			console.log(
				`\nTo click through the nodes in a real n8n:\n  npm run dev\nWith your own lifelogs:\n  LIFELOG_API_KEY=… npm run demo\n  LIFELOG_BASE_URL=… points it at another host (default ${PUBLIC_SERVICE}).`,
			);
		}
		if (served) await showPage(served);
	} finally {
		await engine?.close();
		await sandbox?.close();
		await rm(folder, { recursive: true, force: true });
	}
}

demo().catch((error: unknown) => {
	console.error(`\nThe demo failed: ${asError(error).message}`);
	process.exitCode = 1;
});
