import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Kind, Samples } from './sample.mts';

/**
 * Takes a sample in a process of its own.
 *
 * @param flags Of Node.js, beside `--expose-gc`.
 * @param env Environment variables beside those of this process.
 */
export async function sample<K extends Kind>(
	kind: K,
	asked: Samples[K]['asked'],
	flags: string[] = [],
	env: Record<string, string> = {},
): Promise<Samples[K]['given']> {
	const script = join(import.meta.dirname, 'sample.mts');
	const args = ['--expose-gc', ...flags, script, JSON.stringify([kind, asked])];
	const { stdout } = await promisify(execFile)(process.execPath, args, {
		env: { ...process.env, ...env },
	});
	return JSON.parse(stdout) as Samples[K]['given'];
}

/** Runs something several times, one run after the other. */
export async function times<T>(runs: number, run: () => Promise<T>): Promise<T[]> {
	const results: T[] = [];
	for (let nth = 0; nth < runs; nth++) results.push(await run());
	return results;
}
