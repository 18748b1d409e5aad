// Starts programs that serve something, waits until they do, and stops them by their id.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupOnExit } from './cleanup.mts';

/** A program to start. */
export interface ProcessOptions {
	/** What it is called in messages. */
	name: string;
	command: string;
	args: string[];
	env?: NodeJS.ProcessEnv;
	cwd?: string;
	/** User id to run as. */
	uid?: number;
	/** Group id to run as. */
	gid?: number;
	/** Whether it serves already; asked several times a second. A rejection means: not yet. */
	isReady: () => Promise<boolean>;
	/** How long it may take to come up, in ms. */
	timeoutMs?: number;
	/** Called with each line it prints. */
	onLine?: (line: string) => void;
}

/** A program that serves. */
export interface RunningProcess {
	pid: number;
	/** What it printed last, stdout and stderr. */
	lastLines: () => string[];
	/** Resolves when it has ended, however that came. */
	exited: Promise<void>;
	/** Asks it to end, makes it end if it does not, and waits for that. */
	stop: () => Promise<void>;
	/** Ends it at once, as a power failure would, and waits for that. */
	kill: () => Promise<void>;
}

const KEPT_LINES = 40;
const STOP_TIMEOUT_MS = 30_000;

/**
 * Starts a program and resolves when it serves. It is stopped with this process at the latest.
 *
 * @throws Error with its last lines when it ends, or does not come up in time.
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
	const { name, command, args, env, cwd, uid, gid, isReady, timeoutMs = 300_000 } = options;
	// A group of its own: Ctrl+C reaches this process alone, which then stops it in good order.
	const child = spawn(command, args, {
		env: env ?? process.env,
		cwd,
		uid,
		gid,
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const lines = keepLines(child, options.onLine);
	let failure: string | undefined;
	child.once('error', (error) => (failure = error.message));
	const exited = new Promise<void>((resolve) => {
		child.once('close', () => resolve());
		child.once('error', () => resolve());
	});
	const stop = cleanupOnExit({
		orderly: async () => await stopGroup(child, exited),
		immediate: () => killGroup(child),
	});

	const hasEnded = () => child.exitCode !== null || child.signalCode !== null || !!failure;
	const deadline = Date.now() + timeoutMs;
	while (!(await isReady().catch(() => false))) {
		const ended = hasEnded();
		if (ended || Date.now() > deadline) {
			await stop();
			const why = ended
				? `ended (${failure ?? child.exitCode ?? child.signalCode})`
				: `did not come up within ${timeoutMs / 1000} s`;
			throw new Error([`${name} ${why}. Its last lines:`, ...lines].join('\n  '));
		}
		await sleep(500);
	}
	const kill = async () => {
		killGroup(child);
		await stop();
	};
	return { pid: child.pid!, lastLines: () => [...lines], exited, stop, kill };
}

function keepLines(child: ChildProcess, onLine?: (line: string) => void): string[] {
	const kept: string[] = [];
	for (const stream of [child.stdout!, child.stderr!]) {
		let rest = '';
		stream.setEncoding('utf8').on('data', (text: string) => {
			const lines = (rest + text).split('\n');
			rest = lines.pop()!;
			for (const line of lines.filter((each) => each.trim() !== '')) {
				kept.push(line);
				if (kept.length > KEPT_LINES) kept.shift();
				onLine?.(line);
			}
		});
	}
	return kept;
}

/** SIGTERM to the program; SIGKILL to it and its children if it is still there after a while. */
async function stopGroup(child: ChildProcess, exited: Promise<void>): Promise<void> {
	child.kill('SIGTERM');
	const timer = new AbortController();
	const timeout = sleep(STOP_TIMEOUT_MS, 'late', { signal: timer.signal }).catch(() => 'ended');
	if ((await Promise.race([exited, timeout])) === 'late') {
		killGroup(child);
		await exited;
	}
	timer.abort();
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
	if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

/** Runs a program to its end and resolves with what it printed to stdout. */
export async function runProgram(
	command: string,
	args: string[],
	options: { cwd?: string; env?: NodeJS.ProcessEnv; uid?: number; gid?: number } = {},
): Promise<string> {
	const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
	const output = { stdout: '', stderr: '' };
	child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
	child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
	const [code] = await once(child, 'close');
	if (code !== 0) {
		throw new Error(
			`"${[command, ...args].join(' ')}" failed (${code}):\n${output.stderr}${output.stdout}`,
		);
	}
	return output.stdout;
}
