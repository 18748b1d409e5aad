import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Group, Outcome } from './cells.mts';

/**
 * Runs a group of cells in a process of their own, so that everything it prints, n8n's
 * log at its most talkative included, can be searched.
 */
export async function runMatrix(group: Group): Promise<{ outcomes: Outcome[]; printed: string }> {
	const directory = await mkdtemp(join(tmpdir(), 'matrix-'));
	try {
		const file = join(directory, 'outcomes.json');
		const { stdout, stderr } = await promisify(execFile)(
			process.execPath,
			[join('test', 'nodes', 'faults', 'matrix.mts'), group, file],
			{ env: { ...process.env, N8N_LOG_LEVEL: 'debug' }, maxBuffer: 1e9 },
		);
		const outcomes = JSON.parse(await readFile(file, 'utf8')) as Outcome[];
		return { outcomes, printed: stdout + stderr };
	} finally {
		await rm(directory, { recursive: true });
	}
}
