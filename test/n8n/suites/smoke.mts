// The nodes in n8n, on the oldest and the newest version: what needs its server, REST interface,
// webhooks and storage. test/nodes has every operation, with every error, on n8n's engine.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import { byId } from '../../support/workflow.mts';
import { NEWEST, OLDEST } from '../install.mts';
import { activateWhile, addFindable, TARBALL_VARIABLE, useLab } from '../support/lab.mts';
import { runNode, webhookWorkflow } from '../support/nodes.mts';
import { pack } from '../support/package.mts';
import { runProgram } from '../support/processes.mts';
import { temporaryFolder } from '../support/server.mts';
import { activateTrigger, anotherPoll, emitted, whenEmitted } from '../support/trigger.mts';

const root = resolve(import.meta.dirname, '../../..');

test('the manual install of docs/installation.md installs only this package', async () => {
	const document = await readFile(join(root, 'docs/installation.md'), 'utf8');
	const [, options] = /npm install --prefix ~\/\.n8n\/nodes (.*) n8n-nodes-lifelog/.exec(document)!;
	const folder = await temporaryFolder('lifelog-install');
	try {
		const tarball = process.env[TARBALL_VARIABLE] ?? (await pack(folder.path));
		const nodes = join(folder.path, 'nodes');
		await mkdir(nodes);
		await runProgram('npm', ['install', '--prefix', nodes, ...options.split(' '), tarball]);
		const installed = await readdir(join(nodes, 'node_modules'));
		assert.deepEqual(
			installed.filter((name) => !name.startsWith('.')),
			['n8n-nodes-lifelog'],
		);
	} finally {
		await folder.remove();
	}
});

/** The settings of n8n, by version: the newest protects its own network, which the service is in. */
const ENV: Record<string, NodeJS.ProcessEnv> = {
	[OLDEST]: {},
	[NEWEST]: { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost' },
};

for (const version of [OLDEST, NEWEST]) {
	describe(`n8n ${version}`, () => {
		const lab = useLab({ version, env: ENV[version] });
		const baseUrl = () => lab().sandbox.url.replace('127.0.0.1', 'localhost');
		/** Tests the stored credential with other data. */
		const check = async (change: IDataObject) => {
			const { rest, sandbox, credentials } = lab();
			const data = { apiKey: sandbox.apiKey, baseUrl: baseUrl(), ...change };
			return await rest.testCredential('lifelogApi', credentials.lifelogApi, data);
		};
		/** What the service sends for a range of audio. */
		const audioOf = async ({ startMs, endMs }: IDataObject) => {
			const { url, apiKey } = lab().sandbox;
			const query = `startMs=${startMs}&endMs=${endMs}`;
			const headers = { 'x-api-key': apiKey };
			const response = await fetch(`${url}/v1/download-audio?${query}`, { headers });
			assert.equal(response.status, 200);
			return Buffer.from(await response.arrayBuffer());
		};

		before(async () => {
			const data = { apiKey: lab().sandbox.apiKey, baseUrl: baseUrl() };
			lab().credentials.lifelogApi = await lab().rest.createCredential('lifelogApi', data, 'Smoke');
		});

		test('tests the credential', async () => {
			assert.equal((await check({})).status, 'OK');
			assert.match((await check({ apiKey: 'wrong' })).message, /The API key was refused/);
			assert.match((await check({ baseUrl: 'http://example.com' })).message, /https:\/\//);
		});

		test('tests the stored credential without its key leaving n8n', async () => {
			const { rest, sandbox, credentials } = lab();
			const path = `/credentials/${credentials.lifelogApi.id}?includeData=true`;
			const shown = await rest.call<{ data: IDataObject }>('GET', path);
			assert.equal(shown.data.baseUrl, baseUrl());
			assert.ok(!JSON.stringify(shown).includes(sandbox.apiKey));
			assert.equal((await check(shown.data)).status, 'OK');
		});

		if (version === NEWEST) {
			test('names the setting if its SSRF protection blocks the address', async () => {
				const { rest, sandbox } = lab();
				const data = { apiKey: sandbox.apiKey, baseUrl: sandbox.url };
				const lifelogApi = await rest.createCredential('lifelogApi', data, 'Blocked');
				const blocked = { ...lab(), credentials: { lifelogApi } };
				await sandbox.control.clearRequests();
				const { error } = await runNode(blocked, 'lifelog', { operation: 'getMany' });
				assert.match(String(error?.message), /^n8n refuses requests to 127\.0\.0\.1:/);
				assert.match(String(error?.description), /N8N_SSRF_ALLOWED_HOSTNAMES/);
				assert.match((await check(data)).message, /^n8n refuses requests to 127\.0\.0\.1:/);
				assert.deepEqual(await sandbox.control.requests(), []);
			});
		}

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

		test('runs Lifelog Audio, stores the file, and hands it out with its name and type', async () => {
			const { id } = (await lab().sandbox.control.lifelogs()).at(-2)!;
			const parameters = { operation: 'download', source: 'lifelog', lifelogId: byId(id) };
			const execution = await runNode(lab(), 'lifelogAudio', parameters);
			const [{ json, binary, ...item }] = execution.items('Node');
			assert.match(String(binary?.data.id), /^filesystem/);
			const stored = await lab().rest.binary({ json, binary, ...item });
			const bytes = Buffer.from(await stored.arrayBuffer());
			assert.ok(bytes.equals(await audioOf(json)));
			assert.equal(json.sha256, createHash('sha256').update(bytes).digest('hex'));
			assert.equal(stored.headers.get('content-type'), 'audio/ogg');
			const name = stored.headers.get('content-disposition') ?? '';
			assert.ok(decodeURIComponent(name).includes(String(json.fileName)), name);
		});

		test('runs Export, and stores a file in each format', async () => {
			const { id } = (await lab().sandbox.control.lifelogs()).at(-1)!;
			const fileFormats = ['appExport', 'json', 'markdown', 'srt', 'text', 'vtt'];
			const parameters = { operation: 'export', exportFrom: 'lifelog', lifelogId: byId(id) };
			const { items } = await runNode(lab(), 'lifelog', { ...parameters, fileFormats });
			assert.deepEqual(
				items('Node').map(({ json }) => json.format),
				fileFormats,
			);
			for (const item of items('Node')) {
				const bytes = Buffer.from(await (await lab().rest.binary(item)).arrayBuffer());
				assert.equal(createHash('sha256').update(bytes).digest('hex'), item.json.sha256);
			}
		});

		test('answers webhooks, also with audio', async (t) => {
			const { rest, n8n, sandbox } = lab();
			const { id, title } = await addFindable(lab());
			const activate = async (...workflow: Parameters<typeof webhookWorkflow>) => {
				const saved = await rest.createWorkflow(webhookWorkflow(...workflow));
				await activateWhile(t, lab(), saved.id);
			};
			const found = { operation: 'search', query: '={{ $json.query.q }}', limit: 5 };
			await activate(lab(), 'search', 'lifelog', found, { responseData: 'allEntries' });
			const query = new URLSearchParams({ q: title });
			const answer = await fetch(`${n8n.url}/webhook/search?${query}`);
			const lifelogs = (await answer.json()) as IDataObject[];
			assert.ok(lifelogs.some((lifelog) => lifelog.id === id));

			const startMs = Date.parse((await sandbox.control.lifelogs()).at(-3)!.startTime);
			const range = { startMs, endMs: startMs + 60_000 };
			const download = {
				...{ operation: 'download', source: 'timeRange' },
				...{ start: '={{ $json.query.startMs }}', end: '={{ $json.query.endMs }}' },
			};
			const binary = { responseData: 'firstEntryBinary', responseBinaryPropertyName: 'data' };
			await activate(lab(), 'audio', 'lifelogAudio', download, binary);
			const asked = `startMs=${range.startMs}&endMs=${range.endMs}`;
			const audio = await fetch(`${n8n.url}/webhook/audio?${asked}`);
			assert.equal(audio.headers.get('content-type'), 'audio/ogg');
			assert.ok(Buffer.from(await audio.arrayBuffer()).equals(await audioOf(range)));
		});

		test('lists lifelogs and chats to choose from, newest first, and searches', async () => {
			const { rest, sandbox, credentials } = lab();
			const list = async (type: string, resource: string, more: IDataObject = {}) =>
				await rest.listSearch({
					path: `parameters.${resource}Id`,
					methodName: resource === 'chat' ? 'searchChats' : 'searchLifelogs',
					nodeTypeAndVersion: { name: `n8n-nodes-lifelog.${type}`, version: 1 },
					currentNodeParameters: { operation: 'get', resource },
					credentials: credentials as unknown as IDataObject,
					...more,
				});
			const { id, title } = await addFindable(lab());
			const lifelogs = await list('lifelog', 'lifelog');
			const newest = (await sandbox.control.lifelogs()).at(-1)!;
			assert.equal(lifelogs.results[0].value, newest.id);
			assert.ok(lifelogs.paginationToken);
			const searched = await list('lifelog', 'lifelog', { filter: title });
			assert.ok(searched.results.some(({ value }) => value === id));
			const chats = await list('lifelogChat', 'chat');
			const own = (await sandbox.control.chats()).filter(({ owner }) => owner === 'self');
			assert.equal(chats.results[0].value, own.at(-1)!.id);
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
