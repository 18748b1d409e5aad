import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NEWEST } from '../install.mts';
import { startProcess, type RunningProcess } from '../support/processes.mts';
import { Rest, type SavedWorkflow } from '../support/rest.mts';

const root = join(import.meta.dirname, '../../..');
const printed: string[] = [];
let dev: RunningProcess;
let rest: Rest;

/** What it says behind a word at the beginning of a line. */
const told = (word: string) =>
	printed
		.find((line) => line.trim().startsWith(`${word} `))
		?.trim()
		.slice(word.length)
		.trim();

before(async () => {
	dev = await startProcess({
		name: 'npm run dev',
		command: process.execPath,
		args: [join(import.meta.dirname, '..', 'dev.mts')],
		cwd: root,
		isReady: async () => told('Log') !== undefined,
		onLine: (line) => printed.push(line),
	});
	rest = new Rest({ url: new URL(told('Editor')!).origin, version: NEWEST });
});

after(async () => await dev?.stop());

test('you can sign in with the login that it prints', async () => {
	const [email, password] = told('Sign in')!.split(/\s+/);
	await rest.login({ email, password });
});

test('the examples are imported, and run with its credential', async () => {
	const files = await readdir(join(root, 'examples'));
	const workflows = await rest.call<SavedWorkflow[]>('GET', '/workflows');
	assert.equal(workflows.length, files.filter((file) => file.endsWith('.json')).length);
	const { id } = workflows.find(({ name }) => name === "Yesterday's lifelogs")!;
	const workflow = await rest.workflow(id);
	const trigger = workflow.nodes.find(({ type }) => type.endsWith('.manualTrigger'))!;
	const { status } = await rest.execution(await rest.run(workflow, trigger.name));
	assert.equal(status, 'success');
});

test('it stops everything it started', async () => {
	const addresses = [
		told('Editor')!,
		told('Service')!.split(' ')[0],
		told('Control')!.split(' ')[0],
	];
	for (const address of addresses) assert.ok(await fetch(address, { redirect: 'manual' }));
	await dev.stop();
	for (const address of addresses) await assert.rejects(fetch(address));
	await assert.rejects(readdir(join(told('Log')!, '..')), { code: 'ENOENT' });
});
