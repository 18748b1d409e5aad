// Measures what downloading 24 hours of audio does to the memory of n8n: the peak of a process
// that runs the workflow on the n8n engine, with chunks as large as two hours really are and with
// tiny ones. Fails when the large ones raise the peak by more than the limit.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { createEngine, loadPackage } from '../test/support/engine.mts';
import { type SpawnedSandbox, startSandbox } from '../test/support/sandbox.mts';
import { workflowWith } from '../test/support/workflow.mts';

const LIMIT_MIB = 64;
const CHUNKS = 12;
const CHUNK_MS = 7_200_000;
const START_MS = Date.parse('2026-03-01T00:00:00Z');
const END_MS = START_MS + CHUNKS * CHUNK_MS;

type BinaryMode = 'filesystem' | 'default';

interface Run {
	baseUrl: string;
	apiKey: string;
	binaryMode: BinaryMode;
}

interface Measured {
	bytes: number;
	/** The most memory the process ever held, in bytes. */
	peak: number;
}

/** Records `recordedMs` of audio at the start of each chunk. */
async function record({ control }: SpawnedSandbox, recordedMs: number): Promise<void> {
	await control.reset({ empty: true, now: new Date(END_MS).toISOString() });
	for (let start = START_MS; start < END_MS; start += CHUNK_MS) {
		const [startTime, endTime] = [start, start + recordedMs].map((ms) =>
			new Date(ms).toISOString(),
		);
		await control.addLifelog({ startTime, endTime });
	}
}

/** Downloads the 24 hours in a process of its own. */
async function measure(sandbox: SpawnedSandbox, binaryMode: BinaryMode): Promise<Measured> {
	const run: Run = { baseUrl: sandbox.url, apiKey: sandbox.apiKey, binaryMode };
	const script = fileURLToPath(import.meta.url);
	const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(run)]);
	return JSON.parse(stdout) as Measured;
}

/** What the process of its own does. */
async function download({ baseUrl, apiKey, binaryMode }: Run): Promise<Measured> {
	const engine = await createEngine({
		...loadPackage(),
		credentials: { lifelogApi: { baseUrl, apiKey } },
		binaryMode,
	});
	try {
		const workflow = workflowWith('lifelogAudio', {
			operation: 'download',
			source: 'timeRange',
			start: START_MS,
			end: END_MS,
		});
		const { error, items } = await engine.runWorkflow(workflow);
		const sizes = items('Node').map(({ json }) => json.fileSize as number);
		if (sizes.length !== CHUNKS) throw new Error(error?.message ?? `${sizes.length} files came`);
		return {
			bytes: sizes.reduce((sum, size) => sum + size, 0),
			peak: process.resourceUsage().maxRSS * 1024,
		};
	} finally {
		await engine.close();
	}
}

async function compare(): Promise<void> {
	const sandbox = await startSandbox();
	const table = new Table({
		head: ['Binary mode', 'A chunk, MB', 'In all, MB', 'Peak memory, MiB', 'More than tiny, MiB'],
		colAligns: ['left', 'right', 'right', 'right', 'right'],
		style: { head: [], border: [] },
	});
	const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
	const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
	try {
		const rise = async (binaryMode: BinaryMode): Promise<number> => {
			await record(sandbox, 20);
			const tiny = await measure(sandbox, binaryMode);
			await record(sandbox, CHUNK_MS);
			const large = await measure(sandbox, binaryMode);
			for (const { bytes, peak } of [tiny, large]) {
				const more = peak === tiny.peak ? '' : mebibytes(peak - tiny.peak);
				const figures = [megabytes(bytes / CHUNKS), megabytes(bytes), mebibytes(peak), more];
				table.push([binaryMode, ...figures]);
			}
			return large.peak - tiny.peak;
		};
		const streamed = await rise('filesystem');
		await rise('default');
		console.log(`${CHUNKS} chunks of two hours each, Node.js ${process.version}`);
		console.log(table.toString());
		const holds = streamed <= LIMIT_MIB * 2 ** 20;
		console.log(
			`In mode filesystem ${mebibytes(streamed)} MiB more; the limit of ${LIMIT_MIB} MiB ${holds ? 'holds' : 'is exceeded'}.`,
		);
		console.log('Mode default keeps binary data in memory by design; it is shown for comparison.');
		if (!holds) process.exitCode = 1;
	} finally {
		await sandbox.close();
	}
}

const [run] = process.argv.slice(2);
if (run === undefined) await compare();
else console.log(JSON.stringify(await download(JSON.parse(run) as Run)));
