// The Lifelog node as a tool of n8n's AI Agent, with a model that follows a script, and n8n's MCP Client.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { workflowWith } from '../../support/workflow.mts';
import { agentWorkflow, allByModel, type Tool, type TOOLS } from '../support/agent.mts';
import { addFindable, startLab, type Lab } from '../support/lab.mts';
import type { Execution } from '../support/rest.mts';
import {
	startScriptedModel,
	type ModelRequest,
	type Script,
	type ScriptedModel,
} from '../support/scripted-model.mts';

let lab: Lab;
let model: ScriptedModel;
let openAi: { id: string; name: string };
let lifelog: Lifelog;

before(async () => {
	lab = await startLab();
	model = await startScriptedModel();
	openAi = await lab.rest.createCredential(
		'openAiApi',
		{ apiKey: 'none', url: model.url },
		'Model',
	);
});
beforeEach(async () => {
	lifelog = await addFindable(lab);
});
after(async () => {
	await model?.close();
	await lab?.close();
});

/** Asks the agent a question while the model plays its script. */
async function ask(tools: Array<keyof typeof TOOLS | Tool>, script: Script): Promise<Execution> {
	model.play(script);
	return await lab.rest.execute(agentWorkflow(lab, openAi, tools, 'What was said?'));
}

/** What the tool that was called last told the model. */
const lastResult = ({ messages }: ModelRequest) =>
	messages.filter(({ role }) => role === 'tool').at(-1)!.content;
const exists = async () =>
	(await lab.sandbox.control.lifelogs()).some(({ id }) => id === lifelog.id);

describe('an agent that can search and read', () => {
	test('gets tool descriptions, and no tool to delete', async () => {
		const { error } = await ask(['search', 'get'], [() => 'Nothing.']);
		assert.equal(error, undefined);
		const [{ tools }] = model.requests();
		assert.deepEqual(
			tools
				.map(({ name, description, parameters }) => [
					name,
					description,
					Object.keys(parameters.properties),
				])
				.sort(),
			[
				['Get_lifelog', 'Get lifelog in Lifelog', ['lifelog_id']],
				// A new tool leaves the period to the model.
				['Search_lifelogs', 'Search lifelogs in Lifelog', ['query', 'Start', 'End']],
			],
		);
	});

	test('searches and reads a lifelog', async () => {
		const { status, json } = await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Search_lifelogs', args: { query: lifelog.title } }),
				(request) => {
					const found: Lifelog[] = JSON.parse(lastResult(request));
					const { id } = found.find((each) => each.id === lifelog.id)!;
					return { tool: 'Get_lifelog', args: { lifelog_id: id } };
				},
				(request) => `It says: ${lastResult(request)}`,
			],
		);
		assert.equal(status, 'success');
		const [{ output }] = json('Agent');
		for (const { content } of lifelog.contents.slice(0, 5)) {
			assert.ok(String(output).includes(JSON.stringify(content).slice(1, -1)), content);
		}
	});

	test('chooses the day and the format of a summary', async () => {
		const args = { day: 'today', format: 'slack' };
		const { status } = await ask(
			['summary'],
			[() => ({ tool: 'Get_daily_summary', args }), () => 'Done.'],
		);
		assert.equal(status, 'success');
		const [summary] = JSON.parse(lastResult(model.requests()[1]));
		assert.equal(summary.date, new Date().toISOString().slice(0, 10));
		assert.ok(summary.messages.length > 0);
	});

	test('exports a lifelog, and gets the path of the file', async () => {
		const args = { lifelog_id: lifelog.id };
		const { status } = await ask(
			['export'],
			[() => ({ tool: 'Export_lifelogs', args }), () => 'Done.'],
		);
		assert.equal(status, 'success');
		const [{ tools }] = model.requests();
		// No period: it is of one lifelog.
		assert.deepEqual(Object.keys(tools[0].parameters.properties), ['lifelog_id']);
		const told = lastResult(model.requests()[1]);
		assert.match(told, new RegExp(`lifelogs/[\\d/]+/[\\w-]+_${lifelog.id}\\.srt`));
	});

	test('gets an error for an unknown lifelog', async () => {
		const { json } = await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Get_lifelog', args: { lifelog_id: 'nobody' } }),
				(request) => lastResult(request),
			],
		);
		assert.match(
			String(json('Agent')[0]?.output),
			/No lifelog with the ID \\?"nobody\\?" was found/,
		);
	});

	test("can't delete with a tool that isn't connected", async () => {
		await ask(
			['search', 'get'],
			[
				() => ({ tool: 'Delete_lifelog', args: { lifelog_id: lifelog.id } }),
				() => 'It did not work.',
			],
		);
		assert.ok(await exists());
	});

	test("can't turn another tool into a delete", async () => {
		const args = { lifelog_id: lifelog.id, operation: 'delete' };
		await ask(['search', 'get'], [() => ({ tool: 'Get_lifelog', args }), () => 'Done.']);
		assert.ok(await exists());
		assert.match(lastResult(model.requests()[1]), new RegExp(lifelog.id));
	});
});

describe('an agent that can delete', () => {
	test('gets a tool description that says that a delete is permanent', async () => {
		await ask(['delete', 'deleteChat'], [() => 'Nothing.']);
		const [{ tools }] = model.requests();
		assert.deepEqual(tools.map(({ name, description }) => [name, description]).sort(), [
			['Delete_chat', 'Delete chat permanently in Lifelog Chat'],
			['Delete_lifelog', 'Delete lifelog permanently in Lifelog'],
		]);
	});

	test('deletes', async () => {
		const { status } = await ask(
			['delete'],
			[
				() => ({ tool: 'Delete_lifelog', args: { lifelog_id: lifelog.id } }),
				(request) => lastResult(request),
			],
		);
		assert.equal(status, 'success');
		assert.equal(await exists(), false);
	});
});

describe('a model that sets every parameter', () => {
	const ZONE = { options_timezone: 'Europe/Berlin' };
	const MORE = { options_maxWait: 60, ...ZONE };
	const LISTING = {
		output: 'simplified',
		fields: '',
		limit: 3,
		period: 'range',
		date: '',
		start: '',
		end: '',
		filters_isStarred: false,
		options_direction: 'asc',
		filters_globalPromptId: '',
		options_includeContents: false,
		options_includeHeadings: true,
		options_includeMarkdown: true,
		filters_isScheduled: false,
		options_maxCharacters: 0,
		...MORE,
	};
	/**
	 * The operations, what the model gives, and what it must be told by those that are called; some
	 * cannot go together. What is left to the model by default is among them, by its name, if a choice
	 * by the model may show it. test/nodes/model-values.test.mts calls each of them.
	 */
	const CALLS: Array<{
		type?: string;
		operation: string;
		args: IDataObject | (() => IDataObject);
		tells?: RegExp;
		except?: string[];
	}> = [
		{
			operation: 'getMany',
			args: { ...LISTING, start: 'yesterday', end: 'yesterday' },
		},
		{
			operation: 'search',
			args: () => ({ ...LISTING, query: lifelog.title }),
		},
		{
			operation: 'get',
			args: () => ({
				lifelogId: lifelog.id,
				output: 'selectedFields',
				fields: 'title, speakers',
				options_includeContents: true,
				options_includeHeadings: true,
				options_includeMarkdown: true,
				options_maxCharacters: 500,
				...ZONE,
			}),
		},
		{
			operation: 'getTranscript',
			args: () => ({
				lifelogId: long,
				outputAs: 'text',
				options_fromOffsetMs: 0,
				options_maxCharacters: 200,
				options_speakers: '',
				...ZONE,
			}),
			tells: /"nextOffsetMs":\d/,
		},
		{
			operation: 'getDailySummary',
			args: {
				day: 'date',
				date: 'Yesterday',
				format: 'markdown',
				filters_isStarred: false,
				options_detail: 'titles',
				options_language: 'en',
				options_maxLifelogs: 5,
				...MORE,
			},
		},
		{
			operation: 'export',
			args: () => ({
				exportFrom: 'lifelog',
				lifelogId: lifelog.id,
				fileFormats: 'text, srt',
				binaryPropertyName: 'data',
				options_fileNames: 'readable',
				Date: '',
				Start: '',
				End: '',
				...MORE,
			}),
			except: ['period', 'date', 'start', 'end', 'limit', 'filters'],
		},
		{
			operation: 'export',
			args: {
				exportFrom: 'service',
				Lifelog: '',
				limit: 1,
				fileFormats: 'json',
				binaryPropertyName: 'data',
				period: 'range',
				date: '',
				start: 'yesterday',
				end: 'today',
				filters_globalPromptId: '',
				filters_isScheduled: false,
				filters_isStarred: false,
				options_fileNames: 'readable',
				...MORE,
			},
			except: ['lifelogId'],
		},
		{
			operation: 'delete',
			args: () => ({ lifelogIdToDelete: lifelog.id }),
		},
		{
			type: 'lifelogChat',
			operation: 'getMany',
			args: {
				limit: 2,
				output: 'selectedFields',
				fields: 'prompt',
				filters_globalPromptId: '',
				filters_isScheduled: true,
				options_direction: 'desc',
				...MORE,
			},
			tells: /"prompt":/,
		},
		{
			type: 'lifelogChat',
			operation: 'get',
			args: () => ({ chatId: chat, output: 'simplified', fields: '', ...ZONE }),
		},
		{
			type: 'lifelogChat',
			operation: 'delete',
			args: () => ({ chatIdToDelete: chat }),
		},
		{
			type: 'lifelogAudio',
			operation: 'download',
			args: () => ({
				source: 'lifelog',
				lifelogId: lifelog.id,
				Date: '',
				binaryPropertyName: 'data',
				options_audioSource: '',
				options_chunkMinutes: 60,
				options_fileNames: 'readable',
				options_ifNoAudio: 'report',
				options_ifPartFails: 'report',
				options_padding: 0,
				...MORE,
			}),
			except: ['day', 'date', 'start', 'end'],
		},
		{
			type: 'lifelogAudio',
			operation: 'download',
			args: () => ({
				source: 'timeRange',
				start: lifelog.startTime,
				end: lifelog.endTime,
				Date: '',
				Lifelog: '',
				binaryPropertyName: 'data',
				options_audioSource: '',
				options_chunkMinutes: 60,
				options_fileNames: 'readable',
				options_ifNoAudio: 'report',
				options_ifPartFails: 'report',
				...MORE,
			}),
			tells: /"missingRanges":/,
			except: ['lifelogId', 'day', 'date', 'options_padding'],
		},
	];
	let chat: string;
	let long: string;
	beforeEach(async () => {
		const chats = await lab.sandbox.control.chats();
		chat = chats.find(({ owner }) => owner === 'self')!.id;
		[{ id: long }] = await lab.sandbox.control.lifelogs();
	});

	const given = ({ args }: (typeof CALLS)[number]) => (typeof args === 'function' ? args() : args);
	const toolOf = (
		name: string,
		{ type = 'lifelog', operation, except }: (typeof CALLS)[number],
	) => ({
		name,
		type: `${type}Tool`,
		parameters: allByModel(type, operation, except),
	});

	test('is told of each', async () => {
		const tools = CALLS.map((call, nth) => toolOf(`tool_${nth}`, call));
		const { status } = await ask(tools, [() => 'Done.']);
		assert.equal(status, 'success');
		const [request] = model.requests();
		const told = request.tools.map(({ name, parameters }) => [
			name,
			Object.keys(parameters.properties).sort(),
		]);
		assert.deepEqual(
			Object.fromEntries(told),
			Object.fromEntries(
				CALLS.map((call, nth) => [`tool_${nth}`, Object.keys(given(call)).sort()]),
			),
		);
	});

	for (const call of CALLS.filter(({ tells }) => tells)) {
		test(`${call.type ?? 'lifelog'}: ${call.operation}`, async () => {
			const script = [() => ({ tool: 'The_tool', args: given(call) }), () => 'Done.'];
			const { status } = await ask([toolOf('The tool', call)], script);
			assert.equal(status, 'success');
			assert.match(lastResult(model.requests()[1]), call.tells!);
		});
	}

	test('gets short output from its tools by default', async () => {
		const query = "={{ $fromAI('query', 'What to look for', 'string') }}";
		const search = {
			name: 'The tool',
			type: 'lifelogTool',
			parameters: { operation: 'search', query },
		};
		const args = { query: 'dinner OR plans OR work OR call OR meeting' };
		await ask([search], [() => ({ tool: 'The_tool', args }), () => 'Done.']);
		const found = JSON.parse(lastResult(model.requests()[1])) as IDataObject[];
		assert.equal(found.length, 10);
		for (const each of found) assert.ok('excerpt' in each && !('markdown' in each));
	});

	for (const [what, values, answer] of [
		['a date that is none', { start: 'last Monday' }, /'Start' is not a date.*today, yesterday/],
		['a limit that is none', { limit: 'all' }, /'Limit' must be .*Enter a number such as 20/],
	] as const) {
		test(`gets advice about ${what}`, async () => {
			const parameters = allByModel('lifelog', 'getMany');
			// As a text, which a model may fill in as it likes.
			parameters.limit = "={{ $fromAI('limit', 'How many', 'string') }}";
			const args = { ...LISTING, limit: '3', ...values };
			await ask(
				[{ name: 'The tool', type: 'lifelogTool', parameters }],
				[() => ({ tool: 'The_tool', args }), () => 'Done.'],
			);
			assert.match(lastResult(model.requests()[1]), answer);
		});
	}

	test('gets advice on how to find an ID if it sent a title', async () => {
		const args = { lifelog_id: 'An evening at the lighthouse' };
		await ask(['get'], [() => ({ tool: 'Get_lifelog', args }), () => 'Done.']);
		assert.match(
			lastResult(model.requests()[1]),
			/is not the ID of a lifelog\. A title isn't an ID\. .*use the field id that a list or a search returns/,
		);
	});
});

describe('n8n’s MCP Client', () => {
	/** Runs a workflow of the node that calls a tool of the service. */
	async function callTool(tool: string, input: IDataObject, apiKey?: string): Promise<Execution> {
		const { rest, sandbox } = lab;
		const data = { name: 'X-API-Key', value: apiKey ?? sandbox.apiKey };
		const httpHeaderAuth = await rest.createCredential('httpHeaderAuth', data, 'Lifelog MCP');
		const workflow = workflowWith('lifelog', {});
		const [start, node] = workflow.nodes;
		const client: INode = {
			...node,
			type: '@n8n/n8n-nodes-langchain.mcpClient',
			typeVersion: 1.1,
			parameters: {
				endpointUrl: `${sandbox.url}/mcp`,
				serverTransport: 'httpStreamable',
				authentication: 'headerAuth',
				tool: { __rl: true, mode: 'id', value: tool },
				inputMode: 'json',
				jsonInput: JSON.stringify(input),
			},
			credentials: { httpHeaderAuth },
		};
		return await rest.execute({ ...workflow, nodes: [start, client] });
	}

	/** What a tool answered: text, or what its JSON says. */
	const answer = ({ json }: Execution) => {
		const [{ content }] = json('Node') as Array<{ content: Array<{ text: unknown }> }>;
		return content[0].text;
	};

	test('searches and reads lifelogs', async () => {
		const execution = await callTool('search_lifelogs', { query: lifelog.title });
		assert.equal(execution.error, undefined);
		const { lifelogs } = answer(execution) as { lifelogs: Lifelog[] };
		const found = lifelogs.find(({ id }) => id === lifelog.id)!;
		assert.equal(found.title, lifelog.title);
		const text = String(answer(await callTool('get_lifelog', { id: found.id })));
		assert.ok(text.startsWith(`# ${lifelog.title}`));
	});

	test('is refused with a wrong key', async () => {
		const { status, error } = await callTool('search_lifelogs', { query: 'x' }, 'wrong');
		assert.equal(status, 'error');
		assert.match(String(error?.message), /Authentication failed/);
	});
});
