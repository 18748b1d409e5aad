// lifelog-server in the service's place: what Full archive stored is read, polled, asked and deleted
// through the nodes, and held against what they give of the service itself.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { IDataObject, INodeCredentials, INodeExecutionData } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { namesIn } from '../../../lifelog/contents.ts';
import { isLabel } from '../../../lifelog/speakers.ts';
import { editorLists, operationsById } from '../../nodes/faults/parameters.mts';
import { areJoined, heardPackets, playedMsOf } from '../../support/heard.mts';
import { liveFor } from '../../support/inventedLife.mts';
import { spawnLifelogServer, type SpawnedServer } from '../../support/lifelogServer.mts';
import { allReadings, workflowOf, type Reading } from '../../support/readings.mts';
import { audioOf } from '../../support/serviceAudio.mts';
import { byId } from '../../support/workflow.mts';
import { DAY_MS, dayOf, makeFolders } from '../support/archive.mts';
import { chatWith } from '../support/agent.mts';
import { importExample, runExample } from '../support/examples.mts';
import { inspect } from '../support/inspector.mts';
import { startLab, type Lab } from '../support/lab.mts';
import { runNode } from '../support/nodes.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { startScriptedModel, type ModelRequest } from '../support/scripted-model.mts';
import { temporaryFolder } from '../support/server.mts';
import { activateTrigger, anotherPoll, emitted, whenEmitted } from '../support/trigger.mts';

/** Far beyond what it takes: only what hangs is to fail. */
const RUN_TIMEOUT_MS = 600_000;
const DAYS = 3;

let lab: Lab;
let server: SpawnedServer;
let archive: Awaited<ReturnType<typeof temporaryFolder>>;
let fullArchive: SavedWorkflow;
/** What the service had when it was archived first. */
let lifelogs: Lifelog[];
/** The credentials of nodes that read the service, and of those that read its archive. */
let atService: INodeCredentials;
let atArchive: INodeCredentials;

const now = Date.now();
const today = dayOf(now);
const yesterday = dayOf(now - DAY_MS);

const credentialsFor = async ({ url, apiKey }: SpawnedServer, name: string) => ({
	lifelogApi: await lab.rest.createCredential('lifelogApi', { apiKey, baseUrl: url }, name),
});

async function archiveEverything(): Promise<void> {
	const by = "When clicking 'Execute workflow'";
	const { error } = await runExample(lab, fullArchive, by, RUN_TIMEOUT_MS);
	assert.equal(error?.message, undefined);
}

before(async () => {
	archive = await temporaryFolder('lifelog-served');
	const folder = archive.path;
	lab = await startLab({
		sandbox: ['--days', '1'],
		env: { N8N_RESTRICT_FILE_ACCESS_TO: folder },
	});
	atService = lab.credentials;
	const { control } = lab.sandbox;
	lifelogs = await liveFor(DAYS, today, control);
	await makeFolders(folder, dayOf(now - (DAYS + 1) * DAY_MS), dayOf(now + DAY_MS));
	const settings = { folder, waitDays: 0 };
	fullArchive = await importExample(lab, 'full-archive', { settings });
	await archiveEverything();
	server = await spawnLifelogServer(folder, ['--index', join(lab.userFolder, 'index.sqlite')])
		.ready;
	atArchive = await credentialsFor(server, 'Archive account');
});
after(async () => {
	try {
		await server?.close();
	} finally {
		await lab?.close();
		await archive?.remove();
	}
});

describe('every operation, with every value of every parameter', () => {
	let given: Map<string, { service: INodeExecutionData[]; archive: INodeExecutionData[] }>;
	const readings = allReadings({
		lifelogId: `${yesterday}_aé~b`,
		chatId: 'the-chat',
		query: 'about OR plan OR garden OR twins',
		date: yesterday,
		// Over midnight, in the midst of which something was said.
		start: `${yesterday}T23:00:00Z`,
		end: `${today}T00:30:00Z`,
		limit: 7,
		binaryPropertyName: 'file',
		timezone: 'Asia/Kathmandu',
		globalPromptId: 'pR7dailyRecap4xQ9mZ2',
		maxCharacters: 300,
		maxLifelogs: 5,
		maxWait: 60,
		fromOffsetMs: 20_000,
		speakers: 'you',
		chunkMinutes: 50,
		padding: 45,
	});

	before(async () => {
		const { control } = lab.sandbox;
		const talk = lifelogs.find(({ startTime }) => startTime.includes('T17:59:10'))!;
		const chat = (await control.chats()).filter(({ owner }) => owner === 'self').at(-1)!;
		const wanted: Reading[] = JSON.parse(
			JSON.stringify(readings).replaceAll('"the-chat"', JSON.stringify(chat.id)),
		);
		// What an item holds that comes from a list: without contents.
		const input = { ...talk, contents: [] } as unknown as IDataObject;
		const read = async (credentials: INodeCredentials) => {
			const saved = await lab.rest.createWorkflow(workflowOf(wanted, credentials, input));
			const execution = await lab.rest.execution(await lab.rest.run(saved), RUN_TIMEOUT_MS);
			assert.equal(execution.error?.message, undefined);
			return execution;
		};
		let [service, archived] = [await read(atService), await read(atArchive)];
		// What "today" is may have become another day between the two.
		if (dayOf(Date.now()) !== dayOf(now)) {
			[service, archived] = [await read(atService), await read(atArchive)];
		}
		given = new Map(
			readings.map(({ name }) => [
				name,
				{ service: service.items(name), archive: archived.items(name) },
			]),
		);
	});

	/** An item, without what names it in n8n's own storage. */
	const shown = ({ json, binary = {}, pairedItem }: INodeExecutionData) => ({
		json,
		pairedItem,
		files: Object.entries(binary).map(([property, { fileName, mimeType }]) => ({
			...{ property, fileName, mimeType },
		})),
	});
	/** The items of a search by their IDs, as two equally good ones may come in any order. */
	const inOrder = (operation: string, items: INodeExecutionData[]) =>
		operation === 'search'
			? [...items].sort((a, b) => (String(a.json.id) < String(b.json.id) ? -1 : 1))
			: items;

	const operations = [...new Set(readings.map(({ node, operation }) => `${node}.${operation}`))];
	for (const operation of operations.filter((each) => !each.startsWith('lifelogAudio'))) {
		test(`${operation} returns the same items`, () => {
			// An archive does not know which prompt made a chat (docs/reference/server.md).
			const unknown = 'lifelogChat.getMany filters.globalPromptId';
			for (const reading of readings.filter(({ name }) => name.startsWith(`${operation} `))) {
				const { service, archive: archived } = given.get(reading.name)!;
				// In a period there need not be any.
				const isInPeriod = /period=| (start|end|date)\b/.test(reading.name);
				assert.ok(service.length > 0 || isInPeriod, reading.name);
				if (reading.name === unknown) assert.deepEqual(archived, []);
				else {
					assert.deepEqual(
						inOrder(reading.operation, archived).map(shown),
						inOrder(reading.operation, service).map(shown),
						reading.name,
					);
				}
			}
		});
	}

	test('lifelogAudio.download returns the same items, and the same Opus packets', async () => {
		const audio = audioOf(lab.sandbox, lifelogs);
		for (const { name, node } of readings) {
			// Today's audio ends at the moment of the request.
			if (node !== 'lifelogAudio' || name.includes('day=today')) continue;
			const { service, archive: archived } = given.get(name)!;
			assert.ok(service.length > 0, name);
			// The bytes around the packets are others: a range is cut out of the archive's files.
			const ofRange = (item: INodeExecutionData) => {
				const { json, ...rest } = shown(item);
				return { ...rest, json: { ...json, fileSize: undefined, sha256: undefined } };
			};
			assert.deepEqual(archived.map(ofRange), service.map(ofRange), name);
			for (const item of archived.filter(({ binary }) => binary)) {
				const [property] = Object.keys(item.binary!);
				const file = Buffer.from(await (await lab.rest.binary(item, property)).arrayBuffer());
				const { startMs, endMs } = item.json as { startMs: number; endMs: number };
				const lengthMs = audio.recordedMs(startMs, endMs);
				assert.ok(Math.abs(playedMsOf(file) - lengthMs) < 1, `${name}: ${playedMsOf(file)} ms`);
				const parts = await audio.packetsOf(startMs, endMs);
				assert.ok(areJoined(heardPackets(file), parts), name);
			}
		}
	});

	test("the editor's lists are the same", async () => {
		for (const { node, parameter, methodName } of editorLists()) {
			const list = async (credentials: INodeCredentials) =>
				await lab.rest.listSearch({
					path: `parameters.${parameter}`,
					methodName,
					nodeTypeAndVersion: { name: `n8n-nodes-lifelog.${node}`, version: 1 },
					currentNodeParameters: {},
					credentials: credentials as unknown as IDataObject,
				});
			const { results } = await list(atArchive);
			assert.ok(results.length > 0);
			assert.deepEqual(results, (await list(atService)).results);
		}
	});

	test('the credential test succeeds', async () => {
		const data = { apiKey: server.apiKey, baseUrl: server.url };
		const { status } = await lab.rest.testCredential('lifelogApi', atArchive.lifelogApi, data);
		assert.equal(status, 'OK');
	});
});

describe('a delete', () => {
	const idOf = async (parameter: string) =>
		parameter.startsWith('chatId') ? (await chats()).at(-2)!.id : lifelogs.at(-2)!.id;
	/** The parameter of Get, for that of Delete. */
	const readBy = (parameter: string) => parameter.replace('ToDelete', '');
	const deletes = operationsById().filter(({ operation }) => operation === 'delete');
	const chats = async () =>
		(await lab.sandbox.control.chats()).filter(({ owner }) => owner === 'self');
	const run = async (credentials: INodeCredentials, node: string, parameters: IDataObject) =>
		await runNode({ ...lab, credentials }, node, parameters);

	for (const { node, parameters } of deletes) {
		const [parameter] = parameters.find(({ isLocator }) => isLocator)!.path;
		test(`by ${node} is refused with the server's message`, async () => {
			const id = byId(await idOf(parameter));
			const { error } = await run(atArchive, node, { operation: 'delete', [parameter]: id });
			assert.match(JSON.stringify([error?.message, error?.description]), /--allow-delete/);
			const { json } = await run(atArchive, node, {
				operation: 'get',
				[readBy(parameter)]: id,
			});
			assert.equal(json('Node').length, 1);
		});
	}

	test('works like at the service if the server allows it', async () => {
		const copy = await temporaryFolder('lifelog-copy');
		await cp(archive.path, copy.path, { recursive: true });
		const writable = await spawnLifelogServer(copy.path, ['--allow-delete']).ready;
		const atCopy = await credentialsFor(writable, 'Copy account');
		for (const { node, parameters: own } of deletes) {
			const [parameter] = own.find(({ isLocator }) => isLocator)!.path;
			const id = byId(await idOf(parameter));
			for (const operation of ['delete', 'get', 'delete']) {
				const name = operation === 'delete' ? parameter : readBy(parameter);
				const parameters = { operation, [name]: id };
				const given = await run(atCopy, node, parameters);
				const expected = await run(atService, node, parameters);
				assert.deepEqual(given.json('Node'), expected.json('Node'));
				assert.equal(given.error?.message, expected.error?.message);
			}
		}
		await writable.close();
		await copy.remove();
	});
});

describe('the trigger', () => {
	/** What each event reports here, without those that report a part of what another does. */
	const counts = { lifelogCreatedOrUpdated: 4, scheduledChatCreated: 1 };

	test('reports lifelogs that Full archive adds to the folder, like those of the service', async () => {
		const { control } = lab.sandbox;
		const triggers: Array<{ event: keyof typeof counts; service: string; archive: string }> = [];
		for (const event of Object.keys(counts) as Array<keyof typeof counts>) {
			const activate = async (credentials: INodeCredentials) => {
				const options = { includeContents: true, lookbackDays: 3 };
				const parameters = { event, output: 'raw', options };
				return await activateTrigger({ ...lab, credentials }, parameters);
			};
			const service = await activate(atService);
			triggers.push({ event, service, archive: await activate(atArchive) });
		}
		await anotherPoll();
		for (const each of triggers) {
			for (const id of [each.service, each.archive]) assert.deepEqual(await emitted(lab, id), []);
		}

		// Two that are new, one of them late; one with another title, one with a star; an answer.
		await control.addLifelog({ title: 'Just now' });
		await control.addLifelog({ title: 'Late', startTime: `${yesterday}T13:00:00Z` });
		const [renamed, starred] = (await control.lifelogs()).filter(({ startTime }) =>
			startTime.startsWith(yesterday),
		);
		await control.updateLifelog(renamed.id, { title: 'Another title' });
		const { updatedAt, isStarred } = starred;
		await control.updateLifelog(starred.id, { isStarred: !isStarred, updatedAt });
		await control.addChat({ globalPromptId: 'recap', summary: 'A recap' });
		await archiveEverything();

		const readOnce = async (id: string) => await emitted(lab, id);
		for (const { event, service, archive: archived } of triggers) {
			for (const id of [service, archived]) {
				await whenEmitted(async () => await readOnce(id), counts[event], RUN_TIMEOUT_MS);
			}
		}
		await anotherPoll();
		const byKey = (items: IDataObject[]) =>
			[...items].sort((a, b) => (String(a.eventKey) < String(b.eventKey) ? -1 : 1));
		for (const { event, service, archive: archived } of triggers) {
			const items = byKey(await readOnce(archived));
			assert.equal(items.length, counts[event], event);
			assert.deepEqual(items, byKey(await readOnce(service)), event);
			for (const id of [service, archived]) await lab.rest.deactivate(id);
		}
	});
});

test('an agent uses it over MCP, with the key in the header', async () => {
	const model = await startScriptedModel();
	const { rest, sandbox } = lab;
	const lifelog = await longestOf(sandbox);
	const lastResult = ({ messages }: ModelRequest) =>
		messages.filter(({ role }) => role === 'tool').at(-1)!.content;
	await rest.createCredential('openAiApi', { apiKey: 'none', url: model.url }, 'OpenAi account');
	await rest.createCredential('mcpOAuth2Api', {}, 'MCP OAuth2 account');
	/** The example's agent at one of the two, and what it is told. */
	async function asked({ url, apiKey }: SpawnedServer, name: string) {
		const header = { name: 'X-API-Key', value: apiKey };
		const httpHeaderAuth = await rest.createCredential('httpHeaderAuth', header, name);
		const at = { endpointUrl: `${url}/mcp`, authentication: 'headerAuth' };
		const workflow = await importExample(lab, 'ask-your-days-mcp', {
			parameters: { 'Lifelog MCP server': at },
			credentials: { 'Lifelog MCP server': { httpHeaderAuth } },
		});
		const told: string[] = [];
		const tool = ({ tools }: ModelRequest, name: string) =>
			tools.find((each) => each.name.includes(name))!.name;
		model.play([
			(request) => ({
				tool: tool(request, 'search_lifelogs'),
				args: { query: `"${lifelog.title}"` },
			}),
			(request) => {
				told.push(lastResult(request));
				return { tool: tool(request, 'get_lifelog'), args: { id: lifelog.id } };
			},
			(request) => {
				told.push(lastResult(request));
				return 'That is what was said.';
			},
		]);
		const { error } = await chatWith(lab, workflow, 'What was said?');
		assert.equal(error?.message, undefined);
		return { told, tools: model.requests()[0].tools.map((each) => each.name) };
	}
	const service = await asked({ ...sandbox, log: [] }, 'MCP of the service');
	const archived = await asked(server, 'MCP of the archive');
	await model.close();
	assert.ok(service.told[0].includes(lifelog.id));
	assert.ok(service.told[1].includes(lifelog.contents[1].content));
	assert.deepEqual(archived.told, service.told);
	for (const more of ['list_lifelogs', 'get_transcript', 'list_chats', 'get_chat']) {
		assert.ok(
			archived.tools.some((name) => name.endsWith(more)),
			more,
		);
	}
});

describe('the MCP Inspector on the command line', () => {
	test('lists its tools, and calls each with all of its arguments', async () => {
		const isNamed = (name: string) => !isLabel(name);
		const lifelog = await longestOf(lab.sandbox, ({ contents }) => namesIn(contents).some(isNamed));
		const own = (await lab.sandbox.control.chats()).filter(({ owner }) => owner === 'self');
		const chat = own[0];
		// The service may have renamed a speaker since it was archived, which no list shows.
		const served = await fetch(`${server.url}/v1/lifelogs/${lifelog.id}`, {
			headers: { 'x-api-key': server.apiKey },
		});
		const { data } = (await served.json()) as { data: { lifelog: Lifelog } };
		const speaker = namesIn(data.lifelog.contents).find(isNamed)!;
		const { tools } = await inspect<{ tools: McpTool[] }>(server, ['--method', 'tools/list']);
		const told: Record<string, { id?: string; text: string }> = {
			search_lifelogs: { text: JSON.stringify(lifelog.id) },
			list_lifelogs: { text: JSON.stringify(lifelog.id) },
			get_lifelog: { id: lifelog.id, text: lifelog.markdown! },
			get_transcript: { id: lifelog.id, text: lifelog.contents.at(-1)!.content },
			list_chats: { text: JSON.stringify(own.at(-1)!.id) },
			get_chat: { id: chat.id, text: chat.messages[0].text! },
			list_people: { text: JSON.stringify(speaker) },
		};
		assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(told).sort());
		for (const { name, inputSchema } of tools) {
			const values: Record<string, unknown> = {
				...{ query: JSON.stringify(lifelog.title), limit: 5, timezone: 'UTC' },
				...{ date: lifelog.startTime.slice(0, 10), id: told[name].id, offset: 0 },
				...{ from: lifelog.startTime.slice(0, 10), to: lifelog.startTime.slice(0, 10) },
				...{ isStarred: lifelog.isStarred, speaker, search: speaker, sort: 'lifelogs' },
			};
			const args = Object.keys(inputSchema.properties).map((key) => `${key}=${values[key]}`);
			const call = ['--method', 'tools/call', '--tool-name', name, '--tool-arg', ...args];
			const { content, isError } = await inspect<McpAnswer>(server, call);
			assert.equal(isError ?? false, false, name);
			assert.ok(content[0].text.includes(told[name].text), name);
		}
	});

	test('is refused with another key', async () => {
		const method = ['--method', 'tools/list'];
		await assert.rejects(inspect({ ...server, apiKey: 'guess' }, method), /auth_required|401/);
	});
});

interface McpTool {
	name: string;
	inputSchema: { properties: Record<string, unknown> };
}

interface McpAnswer {
	content: Array<{ text: string }>;
	isError?: boolean;
}

async function longestOf(
	{ control }: Lab['sandbox'],
	isWanted: (lifelog: Lifelog) => boolean = () => true,
): Promise<Lifelog> {
	const all = (await control.lifelogs()).filter(isWanted);
	return all.toSorted((a, b) => b.contents.length - a.contents.length)[0];
}

test('each of its answers follows the contract, and its log has no problems', () => {
	assert.deepEqual(server.log, []);
});
