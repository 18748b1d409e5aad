import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { InboxTimes } from '../../server/recordings/inbox.mts';
import { withoutTime } from './log.mts';
import { throwIfAgainstContract } from './againstContract.mts';
import { nativeRequire } from './nativeRequire.mts';

/** A lifelog-server of a test. */
export interface SpawnedServer {
	/** Base address, without a trailing slash. */
	url: string;
	apiKey: string;
	/** What it has logged so far, a line each, without its time. */
	log: string[];
	/** Stops it. Rejects when any of its answers was against openapi.yaml. */
	close: () => Promise<void>;
}

/** A key with which a server may be started. */
export const serverKey = 'a key of the tests'.replaceAll(' ', '-').padEnd(32, '-');

/** A lifelog-server that is about to serve. */
export interface StartingServer {
	child: ChildProcess;
	exited: Promise<unknown>;
	/** Rejects with what it wrote when it does not start. */
	ready: Promise<SpawnedServer>;
}

/**
 * Starts to serve an archive on a free port of 127.0.0.1. `args` are further options of
 * `server/cli/main.mts`, `output` those that say how it tells of itself.
 */
export function spawnLifelogServer(
	folder: string,
	args: string[] = [],
	env: Record<string, string | undefined> = { LIFELOG_SERVER_KEY: serverKey },
	output = ['--json'],
): StartingServer {
	const main = join(process.cwd(), 'server', 'lifelog-server.cjs');
	const held = ['--import', join(process.cwd(), 'test', 'support', 'holdToContractPreload.mts')];
	const child = spawn(
		process.execPath,
		[...held, main, folder, ...output, '--port', '0', ...args],
		{
			stdio: ['pipe', 'pipe', 'pipe'],
			env: { ...process.env, LIFELOG_SERVER_KEY: undefined, ...env },
		},
	);
	const exited = once(child, 'exit');
	const log: string[] = [];
	createInterface(child.stderr).on('line', (line) => log.push(withoutTime(line)));
	const told = once(createInterface(child.stdout), 'line');
	const closed = once(child, 'close');
	const failed = closed.then(() => Promise.reject(new Error(log.join('\n'))));
	failed.catch(() => {});
	const ready = Promise.race([told, failed]).then(([line]) => ({
		...(JSON.parse(line) as { url: string; apiKey: string }),
		log,
		close: async () => {
			child.stdin.end();
			await closed;
			throwIfAgainstContract(log);
		},
	}));
	ready.catch(() => {});
	return { child, exited, ready };
}

/**
 * Serves an archive, in this process unless something is to be loaded before the server. Rejects with
 * what the server wrote when it does not start.
 */
export async function startLifelogServer(
	folder: string,
	args: string[] = [],
	env: Record<string, string | undefined> = { LIFELOG_SERVER_KEY: serverKey },
	inboxTimes?: InboxTimes,
): Promise<SpawnedServer> {
	if (env.NODE_OPTIONS !== undefined) return await spawnLifelogServer(folder, args, env).ready;
	const { hostServer } = nativeRequire(
		'./test/support/hostedServer.mts',
	) as typeof import('./hostedServer.mts');
	const port = args.includes('--port') ? [] : ['--port', '0'];
	const ownEnv = { LIFELOG_SERVER_KEY: undefined, ...env };
	return await hostServer([folder, '--json', ...port, ...args], ownEnv, inboxTimes);
}
