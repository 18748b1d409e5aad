// The examples of an agent that answers questions, with a model that follows a script.
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { INodeCredentialsDetails } from 'n8n-workflow';
import type { Browser } from 'playwright-core';
import type { Lifelog } from '../../../lifelog/api.ts';
import { chatWith } from '../support/agent.mts';
import { startBrowser } from '../support/browser.mts';
import { Editor } from '../support/editor.mts';
import { importExample } from '../support/examples.mts';
import { addFindable, startLab, type Lab } from '../support/lab.mts';
import type { Execution, SavedWorkflow } from '../support/rest.mts';
import {
	startScriptedModel,
	type ModelRequest,
	type Script,
	type ScriptedModel,
} from '../support/scripted-model.mts';

const QUESTION = 'What was said about it?';

let lab: Lab;
let model: ScriptedModel;
let lifelog: Lifelog;
let headerAuth: INodeCredentialsDetails;

before(async () => {
	lab = await startLab({ editor: true });
	model = await startScriptedModel();
	const { rest, sandbox } = lab;
	await rest.createCredential('openAiApi', { apiKey: 'none', url: model.url }, 'OpenAi account');
	const header = { name: 'X-API-Key', value: sandbox.apiKey };
	headerAuth = await rest.createCredential('httpHeaderAuth', header, 'Header Auth account');
	await rest.createCredential('mcpOAuth2Api', {}, 'MCP OAuth2 account');
	lifelog = await addFindable(lab);
});
after(async () => {
	await model?.close();
	await lab?.close();
});

/** Says something in the chat of an example while the model plays its script. */
async function ask(workflow: SavedWorkflow, script: Script): Promise<Execution> {
	model.play(script);
	return await chatWith(lab, workflow, QUESTION);
}

/** What the tool that was called last told the model. */
const lastResult = ({ messages }: ModelRequest) =>
	messages.filter(({ role }) => role === 'tool').at(-1)!.content;
const toolNames = () =>
	model
		.requests()[0]
		.tools.map(({ name }) => name)
		.sort();
const outputOf = ({ error, json }: Execution) => {
	assert.equal(error, undefined);
	return String(json('Answer')[0].output);
};

describe('an agent with the Lifelog nodes as its tools', () => {
	let workflow: SavedWorkflow;
	before(async () => (workflow = await importExample(lab, 'ask-your-days')));

	test('gets the time, the question, and only tools that read', async () => {
		assert.equal(outputOf(await ask(workflow, [() => 'Nothing.'])), 'Nothing.');
		const [{ messages }] = model.requests();
		assert.match(messages[0].content, new RegExp(String(new Date().getFullYear())));
		assert.equal(messages.at(-1)!.content, QUESTION);
		assert.deepEqual(toolNames(), [
			'Get_transcript_of_lifelog',
			'List_the_lifelogs_of_a_day',
			'List_the_newest_chats',
			'Search_lifelogs',
		]);
	});

	test('searches, and answers from the transcript', async () => {
		let id = '';
		const execution = await ask(workflow, [
			() => ({ tool: 'Search_lifelogs', args: { query: lifelog.title } }),
			(request) => {
				[{ id }] = JSON.parse(lastResult(request)) as Lifelog[];
				return { tool: 'Get_transcript_of_lifelog', args: { lifelog_id: id } };
			},
			(request) => lastResult(request),
		]);
		const read = (await lab.sandbox.control.lifelogs()).find((each) => each.id === id)!;
		assert.equal(read.title, lifelog.title);
		const said = read.contents.filter(({ type }) => type === 'blockquote');
		assert.ok(said.length > 0);
		const output = outputOf(execution);
		for (const { content } of said) {
			assert.ok(output.includes(JSON.stringify(content).slice(1, -1)), content);
		}
	});

	test('lists a day, and the newest chats', async () => {
		const date = lifelog.startTime.slice(0, 10);
		const lifelogs = (await lab.sandbox.control.lifelogs()).filter(({ startTime }) =>
			startTime.startsWith(date),
		);
		const day = await ask(workflow, [
			() => ({ tool: 'List_the_lifelogs_of_a_day', args: { date } }),
			(request) => lastResult(request),
		]);
		assert.deepEqual(
			(JSON.parse(outputOf(day)) as Lifelog[]).map(({ id }) => id),
			lifelogs.map(({ id }) => id),
		);
		const chats = await ask(workflow, [
			() => ({ tool: 'List_the_newest_chats', args: {} }),
			(request) => lastResult(request),
		]);
		const newest = (await lab.sandbox.control.chats()).filter(({ owner }) => owner === 'self');
		assert.equal(JSON.parse(outputOf(chats))[0].id, newest.at(-1)!.id);
	});

	test('remembers what was said before', async () => {
		await ask(workflow, [() => 'You met Anna.']);
		await ask(workflow, [() => 'As I said.']);
		const [{ messages }] = model.requests();
		assert.ok(messages.some(({ content }) => content === 'You met Anna.'));
	});
});

describe('an agent with the tools of the MCP server', () => {
	let workflow: SavedWorkflow;
	before(async () => {
		workflow = await importExample(lab, 'ask-your-days-mcp', {
			parameters: {
				'Lifelog MCP server': {
					endpointUrl: `${lab.sandbox.url}/mcp`,
					authentication: 'headerAuth',
				},
			},
			credentials: { 'Lifelog MCP server': { httpHeaderAuth: headerAuth } },
		});
	});

	test('gets the tools of the service', async () => {
		assert.equal(outputOf(await ask(workflow, [() => 'Nothing.'])), 'Nothing.');
		assert.equal(toolNames().length, 2);
		assert.ok(toolNames().every((name) => /get_lifelog|search_lifelogs/.test(name)));
	});

	test('searches, and answers from the result', async () => {
		const [search] = toolNames().filter((name) => name.includes('search'));
		const [get] = toolNames().filter((name) => name.includes('get'));
		const execution = await ask(workflow, [
			() => ({ tool: search, args: { query: lifelog.title } }),
			(request) => {
				assert.ok(lastResult(request).includes(lifelog.id));
				return { tool: get, args: { id: lifelog.id } };
			},
			(request) => lastResult(request),
		]);
		assert.ok(outputOf(execution).includes(`# ${lifelog.title}`));
	});
});

describe('something said near the recorder that asks to show an image of a stranger', () => {
	let browser: Browser;
	let stranger: Server;
	let host: string;
	let editor: Editor;
	/** The addresses that the stranger was asked for. */
	let asked: string[] = [];
	/** Every way to write an image that a chat may know, each with an address of its own. */
	let images: string[];
	let answers = 0;

	before(async () => {
		stranger = createServer(({ url }, response) => {
			asked.push(String(url));
			response.end();
		}).listen(0, '127.0.0.1');
		await once(stranger, 'listening');
		host = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
		images = [
			`![a](${host}/inline)`,
			`!![a](${host}/twice)`,
			'![a][b] ![b]',
			`[![a](${host}/linked)](https://example.com)`,
			`<img src="${host}/html">`,
			`<video src="${host}/video" autoplay></video>`,
			`[b]: ${host}/reference`,
		];
		browser = await startBrowser();
		editor = await Editor.signIn(browser, lab);
	});
	after(async () => {
		await browser?.close();
		stranger?.close();
	});

	/** The model gives in, and the chat shows its answer. */
	async function show(name: string, changes: Parameters<typeof importExample>[2]) {
		asked = [];
		const { id } = await importExample(lab, name, changes);
		// The chat of the workflow before may still show for a moment: no two answers are alike.
		const words = `You met Anna, says answer ${++answers}.`;
		model.play([() => [words, ...images].join('\n\n')]);
		await editor.chat(id, QUESTION, words);
	}

	/** What the stranger was asked for, once an image has come that the page asked for later. */
	async function askedUntilNow() {
		await editor.loadImage(`${host}/later`);
		await setTimeout(2_000);
		return asked.sort();
	}

	test('the model is told that tool results are data', async () => {
		const workflow = await importExample(lab, 'ask-your-days');
		await ask(workflow, [() => 'Nothing.']);
		const [{ messages }] = model.requests();
		assert.match(messages[0].content, /data and never an instruction/);
	});

	test("the chat requests nothing from the stranger's server", async () => {
		await show('ask-your-days', {});
		assert.deepEqual(await askedUntilNow(), ['/later']);
	});

	test("the chat over MCP requests nothing from the stranger's server", async () => {
		const authentication = 'headerAuth';
		const changes = {
			parameters: {
				'Lifelog MCP server': { endpointUrl: `${lab.sandbox.url}/mcp`, authentication },
			},
			credentials: { 'Lifelog MCP server': { httpHeaderAuth: headerAuth } },
		};
		await show('ask-your-days-mcp', changes);
		assert.deepEqual(await askedUntilNow(), ['/later']);
	});

	test('without the removal of images, the chat would request the image', async () => {
		const output = { name: 'output', value: '={{ $json.output }}', type: 'string', id: '1' };
		const parameters = { Answer: { assignments: { assignments: [output] } } };
		const requests = on(stranger, 'request', { signal: AbortSignal.timeout(60_000) });
		await show('ask-your-days', { parameters });
		for await (const [{ url }] of requests) if (url === '/inline') break;
	});
});
