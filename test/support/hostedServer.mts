// lifelog-server in this process, with the command line that a process of its own would get. What it
// takes of a process, it finds here: its environment, stdin, stdout, stderr, signals and its exit.
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { InboxTimes } from '../../server/recordings/inbox.mts';
import { serveCommand } from '../../server/cli/serve.mts';
import { fail } from '../../server/util/commandLine.mts';
import { throwIfAgainstContract } from './againstContract.mts';
import { withoutTime } from './log.mts';
import { holdToContract } from './holdToContract.mts';
import { asError } from '../../server/util/errors.mts';

/** What one server has of a process. */
interface Hosted {
	log: string[];
	/** Told the line of JSON of a server that is ready. */
	told: (line: string) => void;
	/** Set once it hears signals. */
	stop?: () => void;
	exited: () => void;
}

const hosted = new AsyncLocalStorage<Hosted>();
let running = 0;
let restore = () => {};
/** The console that finds its server; each test file has a console of its own. */
let installedIn: Console | undefined;

holdToContract(() => hosted.getStore() !== undefined);

/** From now on each server finds its own part of the process. */
function install(): void {
	installedIn = console;
	const { once, exit } = process;
	const { log, error } = console;
	const write = process.stderr.write;
	const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
	const noStdin = Object.assign(new EventEmitter(), { resume() {} });
	process.once = function (event: string, listener: () => void) {
		const server = hosted.getStore();
		if (!server) return once.call(process, event, listener);
		server.stop = listener;
		return process;
	} as typeof once;
	process.exit = ((code) => {
		const server = hosted.getStore();
		if (!server) return exit(code);
		server.exited();
	}) as typeof exit;
	process.stderr.write = function (this: typeof process.stderr, ...args: [string]) {
		const server = hosted.getStore();
		if (!server) return write.apply(this, args);
		server.log.push(...String(args[0]).trimEnd().split('\n').map(withoutTime));
		return true;
	} as typeof write;
	console.log = (...args) => {
		const server = hosted.getStore();
		if (server) server.told(String(args[0]));
		else log(...args);
	};
	console.error = (...args) => {
		const server = hosted.getStore();
		if (server) server.log.push(...String(args[0]).split('\n'));
		else error(...args);
	};
	Object.defineProperty(process, 'stdin', {
		configurable: true,
		get: () => (hosted.getStore() ? noStdin : stdin.get!()),
	});
	restore = () => {
		Object.assign(process, { once, exit });
		Object.assign(console, { log, error });
		process.stderr.write = write;
		Object.defineProperty(process, 'stdin', stdin);
	};
}

/** Does something with other variables of the environment. */
function withEnvironment<T>(env: Record<string, string | undefined>, work: () => T): T {
	const before = { ...process.env };
	const set = (values: Record<string, string | undefined>) => {
		for (const [name, value] of Object.entries(values)) {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		}
	};
	set(env);
	try {
		return work();
	} finally {
		set(Object.fromEntries(Object.keys(env).map((name) => [name, before[name]])));
	}
}

/**
 * Carries out `lifelog-server serve`.
 *
 * @returns The server once it is ready. Rejects with what it wrote if it doesn't start.
 */
export async function hostServer(
	args: string[],
	env: Record<string, string | undefined>,
	inboxTimes?: InboxTimes,
): Promise<{ url: string; apiKey: string; log: string[]; close: () => Promise<void> }> {
	// A failed test can leave its server running, also while other files are tested.
	if (running++ === 0 || installedIn !== console) install();
	const server: Hosted = { log: [], told: () => {}, exited: () => {} };
	const ended = new Promise<void>((resolve) => (server.exited = resolve)).then(() => {
		if (--running === 0) restore();
	});
	const told = new Promise<string>((resolve, reject) => {
		server.told = resolve;
		hosted.run(server, () => {
			withEnvironment(env, () => serveCommand(args, inboxTimes)).catch((error: unknown) => {
				fail(asError(error));
				process.exitCode = undefined;
				server.exited();
				reject(new Error(server.log.join('\n')));
			});
		});
	});
	return {
		...(JSON.parse(await told) as { url: string; apiKey: string }),
		log: server.log,
		async close() {
			hosted.run(server, () => server.stop!());
			await ended;
			throwIfAgainstContract(server.log);
		},
	};
}
