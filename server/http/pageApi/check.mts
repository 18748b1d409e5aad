import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../archive/layout.mts';
import { asError } from '../../util/errors.mts';
import type { CheckState } from './answers.mts';

/** The command's file, in a checkout and in the package. */
const COMMAND = ['../../lifelog-server.cjs', '../../../../lifelog-server.cjs']
	.map((path) => fileURLToPath(new URL(path, import.meta.url)))
	.find((path) => existsSync(path))!;

const MAX_FINDINGS = 200;

const idle: CheckState = {
	...{ state: 'idle', endedAt: null, days: 0, files: 0, bytes: 0, isComplete: false },
	...{ findings: [], findingsCount: 0, message: null },
};

/** Runs `lifelog-server check` on an archive in a separate process, one at a time. */
export class Check {
	readonly #folder: string;
	#state = idle;
	#child: ChildProcess | undefined;

	constructor(folder: string) {
		this.#folder = folder;
	}

	state(): CheckState {
		return this.#state;
	}

	/** Starts a check. Returns false if one is in progress. */
	start(): boolean {
		if (this.#state.state === 'running') return false;
		this.#state = { ...idle, state: 'running' };
		void this.#run().then(
			(ended) => (this.#state = ended),
			(error: unknown) => (this.#state = failed(asError(error).message)),
		);
		return true;
	}

	close(): void {
		this.#child?.kill();
	}

	async #run(): Promise<CheckState> {
		// The server's variables would change options of the command, and it needs no keys.
		const given = Object.entries(process.env).filter(([name]) => !name.startsWith('LIFELOG_'));
		const child = spawn(process.execPath, [COMMAND, 'check', this.#folder, '--json'], {
			stdio: ['ignore', 'pipe', 'pipe'],
			env: Object.fromEntries(given),
		});
		this.#child = child;
		const failing = new Promise<never>((_, reject) => child.once('error', reject));
		// Requests have priority.
		if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
		const [output, problem] = await Promise.race([
			Promise.all([text(child.stdout), text(child.stderr)]),
			failing,
		]);
		this.#child = undefined;
		const found = parseJson(output) as Found | undefined;
		return found?.findings ? stateOf(found) : failed(problem.trim() || 'The check was interrupted');
	}
}

/** Output of the command (docs/reference/server.md). */
interface Found {
	days: number;
	rightFiles: number;
	rightBytes: number;
	isComplete: boolean;
	findings: { kind: string; day?: string; path?: string; id?: string; message: string }[];
}

const stateOf = ({ days, rightFiles, rightBytes, isComplete, findings }: Found): CheckState => ({
	...{ state: 'done', endedAt: new Date().toISOString(), message: null },
	...{ days, files: rightFiles, bytes: rightBytes, isComplete },
	findings: findings.slice(0, MAX_FINDINGS).map(({ kind, day, path, id, message }) => ({
		...{ kind, message, where: path ?? id ?? day ?? '' },
	})),
	findingsCount: findings.length,
});

const failed = (message: string): CheckState => ({
	...{ ...idle, state: 'failed', endedAt: new Date().toISOString(), message },
});
