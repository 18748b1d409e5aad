// The example Full archive on some days of 100 MB of audio each, in the real n8n: npm run bench:archive -- 30 120
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS, dayOf, makeFolders } from '../test/n8n/support/archive.mts';
import { importExample } from '../test/n8n/support/examples.mts';
import { startLab } from '../test/n8n/support/lab.mts';

const SAMPLE_MS = 250;

/** What archiving some days took. */
interface Measured {
	days: number;
	bytes: number;
	seconds: number;
	requests: number;
	/** Of the n8n server at rest, before the run. Bytes. */
	before: number;
	/** Of the n8n server, most. Bytes. */
	peak: number;
	/** Of the process that runs the Code nodes, most. Bytes. */
	runnerPeak: number;
}

/** The resident memory of a process in bytes; 0 when it is gone. */
async function residentOf(pid: number | string): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
	return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

async function childrenOf(pid: number): Promise<string[]> {
	const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	const stats = await Promise.all(
		pids.map(async (each) => await readFile(`/proc/${each}/stat`, 'utf8').catch(() => '')),
	);
	const isChild = (stat: string) => stat.split(') ').at(-1)!.split(' ')[1] === String(pid);
	return pids.filter((_, index) => stats[index] !== '' && isChild(stats[index]));
}

/** What the run says; undefined while it has said nothing, or is at it. */
async function reportIn(folder: string) {
	try {
		return JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
	} catch {
		return undefined;
	}
}

async function measure(days: number): Promise<Measured> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-archive-'));
	const lab = await startLab({
		sandbox: ['--days', String(days + 1)],
		env: {
			N8N_RESTRICT_FILE_ACCESS_TO: folder,
			// n8n's own copies would take as much of the disk again.
			EXECUTIONS_DATA_PRUNE_HARD_DELETE_INTERVAL: '1',
		},
	});
	try {
		const { control } = lab.sandbox;
		await control.dialect({ rateLimit: { max: 1_000_000 } });
		await makeFolders(folder, dayOf(Date.now() - (days + 1) * DAY_MS), dayOf(Date.now()));
		const firstDay = dayOf(Date.now() - days * DAY_MS);
		const workflow = await importExample(lab, 'full-archive', { settings: { folder, firstDay } });
		const { pid } = lab.n8n;
		const measured: Measured = {
			...{ days, bytes: 0, seconds: 0, requests: 0, peak: 0, runnerPeak: 0 },
			before: await residentOf(pid),
		};
		await control.clearRequests();
		const began = Date.now();
		await lab.rest.run(workflow, "When clicking 'Execute workflow'");
		for (;;) {
			measured.peak = Math.max(measured.peak, await residentOf(pid));
			for (const child of await childrenOf(pid)) {
				measured.runnerPeak = Math.max(measured.runnerPeak, await residentOf(child));
			}
			const report = await reportIn(folder);
			if (report?.state === 'ended') {
				if (!report.isComplete) throw new Error(report.summary);
				measured.bytes = report.bytes;
				break;
			}
			await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
		}
		measured.seconds = (Date.now() - began) / 1000;
		measured.requests = (await control.requests()).length;
		return measured;
	} finally {
		await lab.close();
		await rm(folder, { recursive: true, force: true });
	}
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
const asked = process.argv.slice(2).map(Number);
console.log(`${cpus().length} cores, Node.js ${process.version}\n`);
console.log('| Days | MB | Seconds | Requests | n8n at rest, MiB | n8n, most | Code nodes, most |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const days of asked.length > 0 ? asked : [30, 120]) {
	const { bytes, seconds, requests, before, peak, runnerPeak } = await measure(days);
	const figures = [Math.round(bytes / 1e6), Math.round(seconds), requests];
	const memory = [before, peak, runnerPeak].map(mebibytes);
	console.log(`| ${[days, ...figures, ...memory].join(' | ')} |`);
}
