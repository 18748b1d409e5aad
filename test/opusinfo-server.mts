// Lets opusinfo check audio that lifelog-server cuts: random ranges over real recordings with gaps,
// overlaps, several streams in a file, and files of different lengths.
import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeArchive, type ArchivedAudio } from './support/archive.mts';
import { startLifelogServer } from './support/lifelog-server.mts';
import { startSandbox } from './support/sandbox.mts';
import { randomSeed } from './soak/seed.mts';

const RANGES = 500;
const MINUTE_MS = 60_000;
const from = Date.parse('2026-03-20T09:00:00Z');
/** What the archive's files hold, in minutes. */
const FILES = [
	[0, 7],
	[7, 8],
	[10, 25],
	[22, 31],
	[31, 31.5],
	[40, 75],
];

const seed = randomSeed();
let state = seed >>> 0;
const random = () => {
	state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
	return state / 2 ** 32;
};

const folder = await mkdtemp(join(tmpdir(), 'opusinfo-server-'));
const sandbox = await startSandbox(['--now', '2026-03-20T20:00:00Z', '--days', '1']);
const get = ({ url, apiKey }: { url: string; apiKey: string }, startMs: number, endMs: number) =>
	fetch(`${url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`, {
		headers: { 'X-API-Key': apiKey },
	});
const problems: string[] = [];
let checked = 0;
try {
	await sandbox.control.reset({ empty: true, now: '2026-03-20T20:00:00Z' });
	for (const [begin, end] of FILES) {
		// Recordings of their own, so that a file has several streams.
		for (let minute = begin; minute < end; minute += 5) {
			await sandbox.control.addLifelog({
				startTime: new Date(from + minute * MINUTE_MS).toISOString(),
				endTime: new Date(from + Math.min(end, minute + 5) * MINUTE_MS).toISOString(),
			});
		}
	}
	const audio: ArchivedAudio[] = [];
	for (const range of FILES) {
		const [startMs, endMs] = range.map((minute) => from + minute * MINUTE_MS);
		const response = await get(sandbox, startMs, endMs);
		if (!response.ok) throw new Error(`The sandbox has no audio: ${response.status}`);
		audio.push({ startMs, endMs, content: Buffer.from(await response.arrayBuffer()) });
	}
	await writeArchive(folder, { audio });
	const server = await startLifelogServer(folder);
	for (let nth = 0; nth < RANGES; nth += 1) {
		const startMs = from + Math.floor(random() * 74 * MINUTE_MS);
		const endMs = startMs + 1 + Math.floor(random() ** 2 * 40 * MINUTE_MS);
		const response = await get(server, startMs, endMs);
		if (response.status === 404) continue;
		const file = join(folder, 'range.ogg');
		await writeFile(file, Buffer.from(await response.arrayBuffer()));
		const { report, status } = await new Promise<{ report: string; status: unknown }>(
			(resolve, reject) =>
				execFile('opusinfo', [file], (error: ExecFileException | null, stdout, stderr) => {
					if (error?.code === 'ENOENT') reject(error);
					else resolve({ report: stdout + stderr, status: error?.code ?? 0 });
				}),
		);
		checked += 1;
		const complaints = report.split('\n').filter((line) => /warning|error/i.test(line));
		if (response.status !== 200 || status !== 0 || complaints.length > 0) {
			problems.push(`${startMs} to ${endMs}: ${[status, ...complaints].join(' ')}`);
		}
	}
	problems.push(...server.log);
	await server.close();
} finally {
	await sandbox.close();
	await rm(folder, { recursive: true });
}
console.log(`opusinfo read ${checked} ranges of lifelog-server (seed ${seed})`);
for (const problem of problems.slice(0, 20)) console.log(problem);
if (problems.length > 0 || checked === 0) process.exitCode = 1;
