// Many runs of the commands of lifelog-server, without a process for each.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { checkArchive, type Summary } from '../../server/check/check.mts';
import type { Finding } from '../../server/check/findings.mts';
import type { TestSandbox } from './sandbox.mts';

/** A command, and the environment that is its own. */
export interface SentCommand {
	name: string;
	args: string[];
	env: Record<string, string>;
}

/** How a command ended, and what it wrote; `output` is all of it. */
export interface Ended {
	status: number;
	stdout: string;
	stderr: string;
	output: string;
}

/** A process that carries out commands one after the other. */
export class CommandHost {
	readonly #child: ChildProcess;
	#last: Promise<unknown> = Promise.resolve();

	/** @param execArgv What Node.js is started with. */
	constructor(execArgv: string[] = []) {
		const env = { ...process.env, LIFELOG_API_KEY: undefined, LIFELOG_BASE_URL: undefined };
		const host = join(process.cwd(), 'test', 'support', 'commandHost.mts');
		this.#child = fork(host, { env, execArgv });
	}

	async run(name: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
		const run = async () => {
			const ended = once(this.#child, 'message');
			this.#child.send({ name, args, env } satisfies SentCommand);
			return (await ended)[0] as Ended;
		};
		const ended = this.#last.then(run);
		this.#last = ended.catch(() => {});
		return await ended;
	}

	async close(): Promise<void> {
		const exited = once(this.#child, 'exit');
		this.#child.disconnect();
		await exited;
	}
}

/** Archives a sandbox, and imports, one after the other. */
export class Commands {
	readonly #host = new CommandHost();
	readonly #sandbox: TestSandbox;

	constructor(sandbox: TestSandbox) {
		this.#sandbox = sandbox;
	}

	/** Archives everything that the sandbox has. */
	async archive(folder: string, ...args: string[]): Promise<Ended> {
		const { url, apiKey } = this.#sandbox;
		const fast = ['--url', url, '--rate-limit', '1000000', '--quiet'];
		const env = { LIFELOG_API_KEY: apiKey };
		return await this.#host.run('archive', [folder, ...fast, ...args], env);
	}

	async import(from: string, to: string): Promise<Ended> {
		return await this.#host.run('import', [from, to]);
	}

	async close(): Promise<void> {
		await this.#host.close();
	}
}

/** Checks a folder, with a sandbox against the service too. */
export async function checkHere(
	folder: string,
	sandbox?: TestSandbox,
): Promise<Summary & { findings: Finding[] }> {
	const findings: Finding[] = [];
	const access = sandbox && { baseUrl: sandbox.url, apiKey: sandbox.apiKey };
	const until = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
	const progress = { days: () => {}, read: () => {}, wait: () => {} };
	const options = { folder, until, ...(access && { access }) };
	const summary = await checkArchive(options, (finding) => findings.push(finding), progress);
	return { ...summary, findings };
}
