// npm run dev: the nodes in a real n8n, with a service to talk to, loaded again when they change.
import { createWriteStream } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { startSandbox } from '../../server/sandbox/server.mts';
import type { INodeCredentialsDetails } from 'n8n-workflow';
import type { WorkflowJson } from '../support/engine.mts';
import { withCredential } from '../support/workflow.mts';
import { installN8n, NEWEST } from './install.mts';
import { copyPackage } from './support/package.mts';
import { freePortNear } from '../support/ports.mts';
import { startProcess } from './support/processes.mts';
import { OWNER, Rest } from './support/rest.mts';
import { startN8n, temporaryFolder } from './support/server.mts';
import { asError } from '../../server/util/errors.mts';

const root = resolve(import.meta.dirname, '../..');
const EDITOR_PORT = 5678;
const SANDBOX_PORT = 8788;

/** Compiles into the folder that n8n watches, again whenever a source changes. */
async function compileOnChange(packageFolder: string): Promise<void> {
	let hasCompiled = false;
	const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
	await startProcess({
		name: 'tsc --watch',
		command: process.execPath,
		args: [tsc, '--watch', '--preserveWatchOutput', '--outDir', join(packageFolder, 'dist')],
		cwd: root,
		isReady: async () => hasCompiled,
		onLine: (line) => {
			// Its lines: "[time] File change detected …", "file(1,2): error TS…", "… Found 0 errors. …"
			if (/error TS\d+/.test(line)) console.log(line);
			if (/ Found \d+ errors?\./.test(line)) hasCompiled = true;
		},
	});
}

/** Stores every example with the credential of the sandbox, and returns their names. */
async function importExamples(rest: Rest, credential: INodeCredentialsDetails): Promise<string[]> {
	const names: string[] = [];
	const folder = join(root, 'examples');
	for (const file of (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()) {
		const example = JSON.parse(await readFile(join(folder, file), 'utf8')) as WorkflowJson;
		const { name } = await rest.createWorkflow(
			withCredential(example, credential),
			example.name ?? file,
		);
		names.push(name);
	}
	return names;
}

async function dev(): Promise<void> {
	await installN8n(NEWEST);
	const sandbox = await startSandbox({ port: await freePortNear(SANDBOX_PORT) });
	const folder = await temporaryFolder('lifelog-dev');
	const userFolder = await realpath(folder.path);
	const packageFolder = await copyPackage(userFolder);
	console.log(`Starting n8n ${NEWEST} …`);
	await compileOnChange(packageFolder);
	const logFile = join(userFolder, 'n8n.log');
	const log = createWriteStream(logFile);
	const n8n = await startN8n({
		version: NEWEST,
		userFolder,
		port: await freePortNear(EDITOR_PORT),
		editor: true,
		env: { N8N_DEV_RELOAD: 'true' },
		onLine: (line) => {
			log.write(`${line}\n`);
			if (line.startsWith('Hot reload')) {
				console.log(`${new Date().toTimeString().slice(0, 8)}  ${line}`);
			}
		},
	});
	const rest = new Rest(n8n);
	await rest.setUp();
	const { url, controlUrl, apiKey } = sandbox;
	const credential = await rest.createCredential('lifelogApi', { apiKey, baseUrl: url });
	const examples = await importExamples(rest, credential);

	console.log(`
n8n ${NEWEST} runs with the nodes in it. Ctrl+C stops everything and forgets what you made.

  Editor    ${n8n.url}/home/workflows
  Sign in   ${OWNER.email}   ${OWNER.password}
  Examples  ${examples.join('\n            ')}
  Service   ${url}   a sandbox with invented data; its key ${apiKey} is in the credential
  Control   ${controlUrl}   makes the sandbox behave otherwise (see server/sandbox/README.md)
  Log       ${logFile}

A saved source is compiled and loaded at once; the editor then shows the new parameters.
`);
}

dev().catch((error: unknown) => {
	console.error(asError(error).message);
	process.exit(1);
});
