// lifelog-server archive: time at the rate limit, memory for a long life and for much audio.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestSandbox } from '../test/support/sandbox.mts';
import { count, mebibytes, type Row, seconds } from './figures.mts';

const MIB = 2 ** 20;
const LIFELOGS = 50_000;
/** Requests a minute, as `--rate-limit` has it by itself. */
const RATE = 150;
const MEMORY_EVERY_MS = 100;
const MINUTE_MS = 60_000;
const UNLIMITED = { rateLimit: { max: 10_000_000 } };

interface Figures {
	ms: number;
	/** Resident memory at most, in bytes. */
	memory: number;
	/** Bytes of audio and texts. */
	stored: number;
	requests: number;
}

/** Archives a sandbox into a new folder. */
async function archive(sandbox: TestSandbox, ...options: string[]): Promise<Figures> {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-bench-'));
	await sandbox.control.clearRequests();
	try {
		const began = performance.now();
		const args = ['archive', folder, '--url', sandbox.url, '--json', ...options];
		const child = spawn(process.execPath, ['server/lifelog-server.cjs', ...args], {
			env: { ...process.env, LIFELOG_API_KEY: sandbox.apiKey },
			stdio: ['ignore', 'ignore', 'inherit'],
		});
		let memory = 0;
		const timer = setInterval(() => {
			const path = `/proc/${child.pid}/status`;
			const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
			const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
			memory = Math.max(memory, peak);
		}, MEMORY_EVERY_MS);
		const [status] = await once(child, 'close');
		clearInterval(timer);
		if (status !== 0) throw new Error(`archive ended with ${status}`);
		const { bytes } = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
		const requests = (await sandbox.control.requests()).length;
		return { ms: performance.now() - began, memory, stored: bytes, requests };
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Measures the command `archive` against the sandbox. */
export async function archiver(sandbox: TestSandbox): Promise<Row[]> {
	const { control } = sandbox;
	const rows: Row[] = [];

	await control.reset({ days: 40, perDay: 0, dialect: UNLIMITED });
	const limited = await archive(sandbox);
	const minMs = (limited.requests / RATE) * MINUTE_MS;
	const ratio = limited.ms / minMs;
	rows.push({
		what: `Archive, ${count(limited.requests)} requests at ${RATE} a minute`,
		figure: `${ratio.toFixed(2)} of what they need`,
		from: `${seconds(limited.ms)}, ${seconds(minMs)}`,
		goal: '≤ 1.1',
		holds: ratio <= 1.1,
	});

	const unlimited = ['--rate-limit', '1000000'];
	await control.reset({ days: 1000, lifelogs: LIFELOGS, markdownBytes: 1000, dialect: UNLIMITED });
	const texts = await archive(sandbox, ...unlimited, '--only', 'lifelogs');
	rows.push({
		what: `Archive, memory for ${count(LIFELOGS)} lifelogs`,
		figure: mebibytes(texts.memory),
		from: `${count(texts.requests)} requests in ${seconds(texts.ms)}`,
		goal: '< 150 MiB',
		holds: texts.memory < 150 * MIB,
	});

	const ofDays = async (days: number) => {
		await control.reset({ days: days + 1, dialect: UNLIMITED });
		return await archive(sandbox, ...unlimited, '--only', 'audio');
	};
	const [less, more] = [await ofDays(10), await ofDays(30)];
	rows.push({
		what: `Archive, memory for ${(more.stored / 1e9).toFixed(1)} GB of audio`,
		figure: mebibytes(more.memory),
		from: `${mebibytes(less.memory)} for ${(less.stored / 1e9).toFixed(1)} GB`,
		goal: '≤ 1.1 of that',
		holds: more.memory <= less.memory * 1.1,
	});
	return rows;
}
