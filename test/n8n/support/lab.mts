// What a suite needs: a sandbox, and an n8n with the packed package and a credential in it.
import { cp } from 'node:fs/promises';
import { after, before, type TestContext } from 'node:test';
import type { INodeCredentials } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { spawnSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { installN8n, NEWEST } from '../install.mts';
import { installPackage, pack } from './package.mts';
import { Rest } from './rest.mts';
import { startN8n, temporaryFolder, type N8n, type N8nOptions } from './server.mts';

/** Options of `startLab`. */
export interface LabOptions {
	version?: string;
	/** A port that n8n keeps when it is started again; any free one by default. */
	port?: number;
	/** Serves the editor, for a browser. */
	editor?: true;
	/** Environment variables for n8n. */
	env?: NodeJS.ProcessEnv;
	/** Options of the sandbox. */
	sandbox?: string[];
}

/** A running n8n with the package installed from its tarball, and the service it talks to. */
export interface Lab {
	sandbox: TestSandbox;
	n8n: N8n;
	rest: Rest;
	userFolder: string;
	/** The `credentials` of a node that uses the sandbox. */
	credentials: INodeCredentials;
	/** Stops or kills n8n and starts it again on the same data; options as for the first start. */
	restart: (how?: 'stop' | 'kill', whileStopped?: () => Promise<void>) => Promise<void>;
	close: () => Promise<void>;
}

/** The tarball to install: that of `npm run test:n8n`, or a new one. */
export const TARBALL_VARIABLE = 'TEST_TARBALL';

/** The user folders to begin with, as JSON by version: those of `npm run test:n8n`, or new ones. */
export const FOLDERS_VARIABLE = 'TEST_USER_FOLDERS';

/** A user folder of an n8n that was started and set up once, with the package in it. */
export async function prepareUserFolder(version: string): Promise<string> {
	await installN8n(version);
	const { path } = await temporaryFolder('lifelog-prepared');
	await installPackage(path, process.env[TARBALL_VARIABLE] ?? (await pack(path)));
	const n8n = await startN8n({ version, userFolder: path });
	await new Rest(n8n).setUp();
	await n8n.stop();
	return path;
}

/** Starts everything anew. Closes what came up if something does not. */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
	const { version = NEWEST, port, editor, env } = options;
	const folders = JSON.parse(process.env[FOLDERS_VARIABLE] ?? '{}') as Record<string, string>;
	const prepared = folders[version] ?? (await prepareUserFolder(version));
	const closers: Array<() => Promise<void>> = [];
	const close = async () => {
		for (let closer = closers.pop(); closer; closer = closers.pop()) await closer();
	};
	try {
		const folder = await temporaryFolder('lifelog-n8n');
		closers.push(folder.remove);
		await cp(prepared, folder.path, { recursive: true });
		// Three whole days beside today: more than a page of 100, whatever the time of the day.
		const sandbox = await spawnSandbox(options.sandbox ?? ['--days', '4']);
		closers.push(sandbox.close);
		const server: N8nOptions = { version, userFolder: folder.path, port, editor, env };
		const n8n = await startN8n(server);
		closers.push(async () => await lab.n8n.stop());
		const rest = new Rest(n8n);
		const lab: Lab = {
			sandbox,
			n8n,
			rest,
			userFolder: folder.path,
			credentials: {},
			restart: async (how = 'stop', whileStopped) => {
				await lab.n8n[how]();
				await whileStopped?.();
				lab.n8n = await startN8n(server);
				lab.rest = new Rest(lab.n8n);
				await lab.rest.login();
			},
			close,
		};
		// The database of the folder has the owner, any other none.
		await (env?.DB_TYPE ? rest.setUp() : rest.login());
		const { apiKey, url: baseUrl } = sandbox;
		lab.credentials.lifelogApi = await rest.createCredential('lifelogApi', { apiKey, baseUrl });
		return lab;
	} catch (error) {
		await close();
		throw error;
	}
}

/** Adds a lifelog that a search for its title finds, whatever the made-up data of the day say. */
export async function addFindable({ sandbox }: Lab): Promise<Lifelog> {
	return await sandbox.control.addLifelog({ title: 'An evening at the lighthouse' });
}

/** Activates a workflow until a test ends, whatever becomes of that, so that it disturbs no other. */
export async function activateWhile(test: TestContext, lab: Lab, id: string): Promise<void> {
	// With the client of then: it is another one after a restart.
	test.after(async () => await lab.rest.deactivate(id));
	await lab.rest.activate(id);
}

/**
 * Gives the tests of a file, or of a `describe`, a lab of their own.
 *
 * @returns The lab, while tests run.
 */
export function useLab(options?: LabOptions): () => Lab {
	let lab: Lab | undefined;
	before(async () => {
		lab = await startLab(options);
	});
	after(async () => await lab?.close());
	return () => lab!;
}
