// Lets opusinfo, ffprobe and ffmpeg check audio that lifelog-server cuts: random ranges over real
// recordings with gaps, overlaps, several streams in a file, and files of different lengths.
import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { writeArchive, type ArchivedAudio } from '../../support/archive.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { startSandbox } from '../../support/sandbox.mts';
import { randomSeed } from '../../support/size.mts';

const RANGES = 60;
/** Of so many ranges one is decoded, which takes the longest. */
const DECODED = 4;
const PACKET_MS = 20;
const SAMPLES_PER_MS = 48;
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
const sandbox = await startSandbox({ now: '2026-03-20T20:00:00Z', days: 1 });
const get = ({ url, apiKey }: { url: string; apiKey: string }, startMs: number, endMs: number) =>
	fetch(`${url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`, {
		headers: { 'X-API-Key': apiKey },
	});
/** What a program says of a file, and how it ended. */
const run = (program: string, args: string[]) =>
	new Promise<{ report: string; status: unknown }>((resolve, reject) =>
		execFile(program, args, (error: ExecFileException | null, stdout, stderr) => {
			if (error?.code === 'ENOENT') reject(error);
			else resolve({ report: stdout + stderr, status: error?.code ?? 0 });
		}),
	);
/** How much of a range the files have, in ms. */
const recordedMs = (startMs: number, endMs: number) => {
	let reachedMs = startMs;
	let total = 0;
	for (const [begin, end] of FILES) {
		const to = Math.min(endMs, from + end * MINUTE_MS);
		total += Math.max(0, to - Math.max(reachedMs, from + begin * MINUTE_MS));
		reachedMs = Math.max(reachedMs, to);
	}
	return total;
};
const problems: string[] = [];
let checked = 0;
try {
	await sandbox.control.reset({ empty: true, now: '2026-03-20T20:00:00Z' });
	await sandbox.control.addLifelog({
		startTime: new Date(from).toISOString(),
		endTime: new Date(from + 75 * MINUTE_MS).toISOString(),
	});
	const audio: ArchivedAudio[] = [];
	for (const range of FILES) {
		const [startMs, endMs] = range.map((minute) => from + minute * MINUTE_MS);
		const streams: Buffer[] = [];
		for (let ms = startMs; ms < endMs; ms += 5 * MINUTE_MS) {
			const response = await get(sandbox, ms, Math.min(endMs, ms + 5 * MINUTE_MS));
			if (!response.ok) throw new Error(`The sandbox has no audio: ${response.status}`);
			streams.push(Buffer.from(await response.arrayBuffer()));
		}
		audio.push({ startMs, endMs, content: Buffer.concat(streams) });
	}
	await writeArchive(folder, { audio });
	const server = await spawnLifelogServer(folder).ready;
	const ranges = Array.from({ length: RANGES }, () => {
		const startMs = from + Math.floor(random() * 74 * MINUTE_MS);
		return { startMs, endMs: startMs + 1 + Math.floor(random() ** 2 * 40 * MINUTE_MS) };
	});
	const check = async ({ startMs, endMs }: { startMs: number; endMs: number }, nth: number) => {
		const response = await get(server, startMs, endMs);
		if (response.status === 404) return;
		const file = join(folder, `range-${nth}.ogg`);
		await writeFile(file, Buffer.from(await response.arrayBuffer()));
		checked += 1;
		const told: unknown[] = [];
		if (response.status !== 200) told.push(response.status);
		const { report, status } = await run('opusinfo', [file]);
		const streams = report.match(/^New logical stream/gm)?.length ?? 0;
		if (status !== 0 || streams !== 1) told.push(`opusinfo: ${status}, ${streams} streams`);
		told.push(...report.split('\n').filter((line) => /warning|error/i.test(line)));
		const duration = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', file];
		const probed = await run('ffprobe', duration);
		// ffprobe counts what a player skips at the beginning (RFC 7845, section 4.3).
		const skipped = Number(/Pre-skip: (\d+)/.exec(report)?.[1]) / SAMPLES_PER_MS;
		const dueMs = recordedMs(startMs, endMs);
		const off = Number(probed.report) * 1000 - skipped - dueMs;
		if (!(Math.abs(off) <= PACKET_MS)) told.push(`ffprobe: ${probed.report.trim()}, ${off} ms off`);
		// ffmpeg keeps the end of a packet that it trims at both ends.
		if (nth % DECODED === 0 && dueMs >= PACKET_MS) {
			const raw = join(folder, `range-${nth}.raw`);
			const output = ['-y', '-f', 's16le', '-ac', '1', raw];
			const decoded = await run('ffmpeg', ['-v', 'error', '-i', file, ...output]);
			if (decoded.status !== 0 || decoded.report) told.push(`ffmpeg: ${decoded.report.trim()}`);
			const { size } = await stat(raw);
			if (size !== dueMs * SAMPLES_PER_MS * 2) told.push(`ffmpeg decoded ${size} bytes`);
			await rm(raw);
		}
		await rm(file);
		if (told.length > 0) problems.push(`${startMs} to ${endMs}: ${told.join(' ')}`);
	};
	await pMap(ranges, check, { concurrency: availableParallelism() });
	problems.push(...server.log);
	await server.close();
} finally {
	await sandbox.close();
	await rm(folder, { recursive: true });
}
console.log(`opusinfo and ffprobe read ${checked} ranges of lifelog-server (seed ${seed})`);
for (const problem of problems.slice(0, 20)) console.log(problem);
if (problems.length > 0 || checked === 0) process.exitCode = 1;
