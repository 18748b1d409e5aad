import assert from 'node:assert/strict';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { NEWEST, OLDEST } from '../install.mts';
import { TARBALL_VARIABLE, useLab } from '../support/lab.mts';
import { runNode } from '../support/nodes.mts';
import { pack } from '../support/package.mts';
import { runProgram } from '../support/processes.mts';
import { temporaryFolder } from '../support/server.mts';
import { activateTrigger, anotherPoll, emitted, whenEmitted } from '../support/trigger.mts';

const root = resolve(import.meta.dirname, '../../..');

test('the manual install of docs/installation.md installs only this package', async () => {
	const document = await readFile(join(root, 'docs/installation.md'), 'utf8');
	const [, options] = /npm install (.*) n8n-nodes-lifelog/.exec(document)!;
	const folder = await temporaryFolder('lifelog-install');
	try {
		const tarball = process.env[TARBALL_VARIABLE] ?? (await pack(folder.path));
		const cwd = join(folder.path, 'nodes');
		await mkdir(cwd);
		await runProgram('npm', ['install', ...options.split(' '), tarball], { cwd });
		const installed = await readdir(join(cwd, 'node_modules'));
		assert.deepEqual(
			installed.filter((name) => !name.startsWith('.')),
			['n8n-nodes-lifelog'],
		);
	} finally {
		await folder.remove();
	}
});

for (const version of [OLDEST, NEWEST]) {
	describe(`n8n ${version}`, () => {
		const lab = useLab({ version });

		test('tests the credential', async () => {
			const { rest, sandbox, credentials } = lab();
			const check = async (change: IDataObject) => {
				const data = { apiKey: sandbox.apiKey, baseUrl: sandbox.url, ...change };
				return await rest.testCredential('lifelogApi', credentials.lifelogApi, data);
			};
			assert.equal((await check({})).status, 'OK');
			assert.match((await check({ apiKey: 'wrong' })).message, /The API key was refused/);
			assert.match((await check({ baseUrl: 'http://example.com' })).message, /https:\/\//);
		});

		test('runs Lifelog', async () => {
			const { json, status } = await runNode(lab(), 'lifelog', { operation: 'getMany', limit: 2 });
			assert.equal(status, 'success');
			assert.equal(json('Node').length, 2);
		});

		test('runs Lifelog Chat', async () => {
			const parameters = { operation: 'getMany', limit: 2 };
			const { json } = await runNode(lab(), 'lifelogChat', parameters);
			assert.equal(json('Node').length, 2);
			assert.ok(json('Node')[0].prompt);
		});

		test('runs Lifelog Audio and stores the file', async () => {
			const { url, apiKey, control } = lab().sandbox;
			const { id } = (await control.lifelogs()).at(-2)!;
			const parameters = { operation: 'download', source: 'lifelog', lifelogId: byId(id) };
			const execution = await runNode(lab(), 'lifelogAudio', parameters);
			const [item] = execution.items('Node');
			const { startMs, endMs } = item.json;
			const stored = await (await lab().rest.binary(item)).arrayBuffer();
			const direct = await fetch(`${url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`, {
				headers: { 'x-api-key': apiKey },
			});
			assert.ok(Buffer.from(stored).equals(Buffer.from(await direct.arrayBuffer())));
		});

		test("runs Lifelog Server, which says that the service can't create lifelogs", async () => {
			const transcript = '[{"text":"Good morning.","start":0,"end":2}]';
			const startTime = '2026-03-01T09:00:00Z';
			const parameters = { operation: 'create', startTime, transcript };
			const { error } = await runNode(lab(), 'lifelogServer', parameters);
			const expected = "This service doesn't accept new lifelogs. lifelog-server does.";
			assert.equal(error?.message, expected);
		});

		test('reports an error with its item', async () => {
			const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
			const [{ id }] = await lab().sandbox.control.lifelogs();
			const input = [{ id }, { id: 'nobody' }];
			const { error } = await runNode(lab(), 'lifelog', parameters, { input });
			assert.equal(error?.message, 'No lifelog with the ID "nobody" was found');
			assert.equal((error as { context?: { itemIndex?: number } }).context?.itemIndex, 1);
		});

		test('continues on an error', async () => {
			const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
			const [{ id }] = await lab().sandbox.control.lifelogs();
			const input = [{ id: 'nobody' }, { id }];
			const onError = 'continueErrorOutput';
			const { json } = await runNode(lab(), 'lifelog', parameters, { input, onError });
			assert.deepEqual([json('Node').length, json('Node', 1).length], [1, 1]);
		});

		test('polls with Lifelog Trigger, also after a restart', async (t) => {
			const { control } = lab().sandbox;
			const workflow = await activateTrigger(lab(), { event: 'lifelogCreatedOrUpdated' }, t);
			const { id } = await control.addLifelog({ title: 'new' });
			const items = async () => await emitted(lab(), workflow);
			await whenEmitted(items, 1);
			await lab().restart('stop', async () => {
				await control.updateLifelog(id, { title: 'changed' });
			});
			await whenEmitted(items, 2);
			await anotherPoll();
			assert.deepEqual(
				(await items()).map(({ changeType, title }) => `${changeType} ${title}`),
				['created new', 'updated changed'],
			);
		});
	});
}
