// An n8n server: its environment, starting it, stopping it.
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOlder, n8nFolder, NEWEST } from '../install.mts';
import { cleanupOnExit } from './cleanup.mts';
import { freePorts } from '../../support/ports.mts';
import { startProcess, type RunningProcess } from './processes.mts';

/** Options of `startN8n`. */
export interface N8nOptions {
	version: string;
	/** Holds its database, its settings and the installed packages. */
	userFolder: string;
	/** Any free one by default. */
	port?: number;
	/** Serves the editor, which takes half of the CPU time of a start. */
	editor?: true;
	/** Further environment variables; they win. */
	env?: NodeJS.ProcessEnv;
	/** Called with each line it prints. */
	onLine?: (line: string) => void;
}

/** A running n8n server. */
export interface N8n extends RunningProcess {
	version: string;
	/** Base address, without a trailing slash. */
	url: string;
}

/** A new, empty folder under the system's temporary one, removed when the process ends or before. */
export async function temporaryFolder(
	prefix: string,
): Promise<{ path: string; remove: () => Promise<void> }> {
	const path = await mkdtemp(join(tmpdir(), `${prefix}-`));
	const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 200 };
	const remove = cleanupOnExit({
		orderly: async () => await rm(path, options),
		immediate: () => rmSync(path, options),
	});
	return { path, remove };
}

/** The program and arguments that run n8n's command line: `n8nCommand(version, ['start'])`. */
export function n8nCommand(version: string, args: string[]): { command: string; args: string[] } {
	const n8n = join(n8nFolder(version), 'node_modules', 'n8n', 'bin', 'n8n');
	return { command: process.execPath, args: [n8n, ...args] };
}

/** The environment every n8n process here has: local, quiet, asking nothing of the network. */
export function n8nEnvironment(userFolder: string, version = NEWEST): NodeJS.ProcessEnv {
	return {
		PATH: process.env.PATH,
		HOME: userFolder,
		N8N_USER_FOLDER: userFolder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_HOST: '127.0.0.1',
		N8N_PROTOCOL: 'http',
		N8N_SECURE_COOKIE: 'false',
		N8N_ENCRYPTION_KEY: 'for-tests-only',
		GENERIC_TIMEZONE: 'UTC',
		// It is started dozens of times: what was compiled once is kept, and memory to clean up less often
		// is there.
		NODE_COMPILE_CACHE: join(n8nFolder(version), 'node_modules', '.compiled'),
		NODE_OPTIONS: '--max-semi-space-size=64',
		// Of its own database; the default of 5 s is short for a loaded machine.
		DB_PING_TIMEOUT_MS: '60000',
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		// The module reads a list from the network; what 2.0 does not have it refuses to disable.
		...(!isOlder(version, '2.41.0') && { N8N_DISABLED_MODULES: 'mcp-registry' }),
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	};
}

/**
 * Starts an n8n server on 127.0.0.1 and resolves when it answers.
 *
 * @throws Error with its last lines when it does not come up.
 */
export async function startN8n(options: N8nOptions): Promise<N8n> {
	try {
		return await startOnce(options);
	} catch (error) {
		// Another start can have taken a port since it was free.
		if (!/port \d+ is already in use/.test((error as Error).message)) throw error;
		return await startOnce(options);
	}
}

async function startOnce(options: N8nOptions): Promise<N8n> {
	const { version, userFolder, editor, env, onLine } = options;
	const [free, brokerPort] = await freePorts(2);
	const port = options.port ?? free;
	const url = `http://127.0.0.1:${port}`;
	const server = await startProcess({
		name: `n8n ${version}`,
		...n8nCommand(version, ['start']),
		// As `n8n` typed in a terminal, and as the Docker image, which both begin in the home folder.
		cwd: userFolder,
		env: {
			...n8nEnvironment(userFolder, version),
			N8N_PORT: String(port),
			N8N_RUNNERS_BROKER_PORT: String(brokerPort),
			N8N_DISABLE_UI: String(!editor),
			...env,
		},
		isReady: async () => await answersLogin(url),
		onLine,
	});
	return { ...server, version, url };
}

/** While n8n starts, it answers every address with a page. Once ready, it refuses this one with JSON. */
async function answersLogin(url: string): Promise<boolean> {
	const response = await fetch(`${url}/rest/login`, { headers: { connection: 'close' } });
	return response.status === 401 && typeof (await response.json()) === 'object';
}
