// Runs lifelog-server as it is typed, and looks at what it wrote.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { CommandHost } from './commands.mts';
import type { TestSandbox } from './sandbox.mts';

const SHORT_BACKOFF = ['--import', join(process.cwd(), 'test', 'support', 'shortBackoff.mts')];

/** A command under way. */
export interface RunningCommand {
	child: ChildProcessWithoutNullStreams;
	/** What it has written so far. */
	output: { stdout: string; stderr: string };
	ended: Promise<{ status: number | null; stdout: string; stderr: string }>;
}

/** Starts `lifelog-server <args>` from the sources. */
export function startCommand(args: string[], env: Record<string, string> = {}): RunningCommand {
	const command = [join(process.cwd(), 'server', 'lifelog-server.cjs'), ...args];
	const child = spawn(process.execPath, [...SHORT_BACKOFF, ...command], {
		env: { ...process.env, LIFELOG_API_KEY: undefined, LIFELOG_BASE_URL: undefined, ...env },
	});
	child.stdin.end();
	const output = { stdout: '', stderr: '' };
	child.stdout.on('data', (data) => (output.stdout += data));
	child.stderr.on('data', (data) => (output.stderr += data));
	const ended = once(child, 'close').then(([status]) => ({ status, ...output }));
	return { child, output, ended };
}

let host: CommandHost | undefined;
afterAll(async () => {
	await host?.close();
	host = undefined;
});

/**
 * Runs it to its end, in a process with the others of the test file unless something is to be loaded
 * before it.
 */
export async function runCommand(
	[name, ...args]: string[],
	env: Record<string, string> = {},
): Promise<{ status: number | null; stdout: string; stderr: string }> {
	if (env.NODE_OPTIONS !== undefined) return await startCommand([name, ...args], env).ended;
	host ??= new CommandHost(SHORT_BACKOFF);
	return await host.run(name, args, env);
}

/** The arguments and the environment with which a sandbox is archived as fast as it can be. */
export function archiving(
	{ url, apiKey }: Pick<TestSandbox, 'url' | 'apiKey'>,
	folder: string,
	...args: string[]
): [string[], Record<string, string>] {
	const fast = ['archive', folder, '--url', url, '--rate-limit', '1000000'];
	return [[...fast, ...args], { LIFELOG_API_KEY: apiKey }];
}

/** Every file of an archive that a day may name, and the manifests without `archivedAt`. */
export function contentsOf(folder: string): Record<string, string> {
	const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.map((path) => path.split(sep).join('/'))
		.filter((path) => !/^\.|^report\./.test(path) && statSync(join(folder, path)).isFile())
		.sort();
	return Object.fromEntries(
		paths.map((path) => {
			const content = readFileSync(join(folder, path), 'latin1');
			const isManifest = path.startsWith('days/');
			return [
				path,
				isManifest ? content.replace(/"(archivedAt|goneAt)": "[^"]*"/g, '"$1"') : content,
			];
		}),
	);
}

/** What the check of an archive finds, as it is typed. */
export async function checkFolder(folder: string, sandbox?: TestSandbox) {
	const env = sandbox && { LIFELOG_API_KEY: sandbox.apiKey, LIFELOG_BASE_URL: sandbox.url };
	const service = sandbox ? ['--service'] : [];
	const { stdout } = await runCommand(['check', folder, '--json', ...service], env);
	return JSON.parse(stdout) as {
		isComplete: boolean;
		findings: { kind: string; id?: string; path?: string; day?: string; message: string }[];
		lifelogs: number;
		chats: number;
		audioFiles: number;
	};
}
