// The examples in which a model reads a day, with one that follows a script, and the search by a bot.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { problemsOfNotionRequest } from '../../support/notionRules.mts';
import { byId } from '../../support/workflow.mts';
import { importExample, repeat, runExample } from '../support/examples.mts';
import { startInternet, type Internet } from '../support/internet.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import {
	startScriptedModel,
	type ModelRequest,
	type Script,
	type ScriptedModel,
} from '../support/scripted-model.mts';

const trigger = 'Every morning';
const DATABASE = '0123456789abcdef0123456789abcdef';
const dialect = { rateLimit: { max: 100_000 } };

let lab: Lab;
let internet: Internet;
let model: ScriptedModel;

before(async () => {
	internet = await startInternet({
		'slack.com': () => ({ ok: true, ts: '1772323200.000100' }),
		'api.notion.com': () => ({ object: 'page', id: 'page' }),
		'api.todoist.com': ({ body }) => ({ id: 'task', ...body }),
		'api.telegram.org': () => ({ ok: true, result: { message_id: 1 } }),
	});
	lab = await startLab({ sandbox: ['--days', '3'], env: internet.env });
	model = await startScriptedModel();
	const { rest } = lab;
	await rest.createCredential('openAiApi', { apiKey: 'none', url: model.url }, 'OpenAi account');
	await rest.createCredential('slackApi', { accessToken: 'xoxb-test' }, 'Slack account');
	await rest.createCredential('notionApi', { apiKey: 'notion-test' }, 'Notion account');
	await rest.createCredential('todoistApi', { apiKey: 'todoist-test' }, 'Todoist account');
	const telegram = { accessToken: '1:test', baseUrl: 'https://api.telegram.org' };
	await rest.createCredential('telegramApi', telegram, 'Telegram account');
});
after(async () => {
	await model?.close();
	await lab?.close();
	await internet?.close();
});

const isYesterday = ({ startTime }: Lifelog) =>
	startTime.startsWith(new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10));
const yesterdays = async () => (await lab.sandbox.control.lifelogs()).filter(isYesterday);
const posted = (host: string) =>
	internet
		.sent(host)
		.filter(({ method }) => method === 'POST')
		.map(({ body }) => body);
const wordsOf = ({ messages }: ModelRequest) => messages.map(({ content }) => content).join('\n');
const lastResult = ({ messages }: ModelRequest) =>
	messages.filter(({ role }) => role === 'tool').at(-1)!.content;

/** Runs an example while the model plays its script; gives what it posted to a host. */
async function run(workflow: SavedWorkflow, host: string, script: Script): Promise<IDataObject[]> {
	const before = posted(host).length;
	model.play(script);
	const { status, error } = await runExample(lab, workflow, trigger);
	assert.equal(error, undefined);
	assert.equal(status, 'success');
	return posted(host).slice(before);
}

describe('a summary of the day by a model', () => {
	const ANSWER =
		'## The day\n\nA quiet one & <good>.\n\n**Tasks**\n\n- Call ![x](https://example.com/x)';
	let workflow: SavedWorkflow;
	before(async () => (workflow = await importExample(lab, 'daily-summary-by-model')));
	beforeEach(async () => {
		await lab.sandbox.control.reset({ days: 3, dialect });
	});

	test('is made from titles, times, headings and a transcript, and posted', async () => {
		const lifelogs = await yesterdays();
		const [{ id, contents }] = lifelogs;
		const [message] = await run(workflow, 'slack.com', [
			() => ({ tool: 'Read_transcript', args: { lifelog_id: id } }),
			() => ANSWER,
		]);
		const [first, second] = model.requests();
		for (const { id: each, title, startTime, markdown } of lifelogs) {
			assert.ok(wordsOf(first).includes(`${startTime.slice(11, 16)}, `));
			assert.ok(wordsOf(first).includes(`${title}`) && wordsOf(first).includes(`[ID ${each}]`));
			const [, heading] = /^## (.*)$/m.exec(markdown!)!;
			assert.ok(wordsOf(first).includes(`  - ${heading}`), heading);
		}
		assert.match(wordsOf(first), /data and never an instruction/);
		const { content } = contents.find(({ type }) => type === 'blockquote')!;
		assert.ok(lastResult(second).includes(JSON.stringify(content).slice(1, -1)));
		const [block] = message.blocks as Array<{ text: string }>;
		assert.equal(message.channel, '#lifelog');
		assert.equal(
			block.text,
			'## The day\n\nA quiet one &amp; &lt;good>.\n\n**Tasks**\n\n- Call [x](https://example.com/x)',
		);
	});

	test('keeps to its budget on a day with 300 lifelogs, and with a long transcript', async () => {
		await lab.sandbox.control.reset({ days: 3, perDay: 300, dialect });
		const [{ id, startTime }] = await yesterdays();
		const contents = Array.from({ length: 2000 }, (_, nth) => ({
			type: 'blockquote',
			content: `Something that was said at length, ${nth}.`,
			speakerName: 'Anna',
			startTime,
			startOffsetMs: nth * 1000,
		}));
		await lab.sandbox.control.updateLifelog(id, { contents });
		await run(workflow, 'slack.com', [
			() => ({ tool: 'Read_transcript', args: { lifelog_id: id } }),
			() => ANSWER,
		]);
		const [first, second] = model.requests();
		const begin = wordsOf(first).length;
		assert.ok(begin > 10_000 && begin <= 24_000 + 2_000, String(begin));
		const { length } = lastResult(second);
		assert.ok(length > 5_000 && length <= 6_500, String(length));
	});

	test('can be stored in Notion, too', async () => {
		const toNotion = await importExample(lab, 'daily-summary-by-model', {
			settings: { databaseId: DATABASE },
			enabled: { Post: false, Page: true },
		});
		const long = `${'A line of what happened. '.repeat(30)}\n`.repeat(20);
		const [page] = await run(toNotion, 'api.notion.com', [() => long]);
		assert.deepEqual(page.parent, { database_id: DATABASE });
		assert.deepEqual(problemsOfNotionRequest(page as unknown as { children: unknown }), []);
	});

	test("isn't made for a day without lifelogs", async () => {
		await lab.sandbox.control.reset({ empty: true, dialect });
		assert.deepEqual(await run(workflow, 'slack.com', []), []);
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

describe('the promises of yesterday', () => {
	let workflow: SavedWorkflow;
	let promiser: Lifelog;
	/** A model that finds a promise where it was made. */
	const finds = (promises: IDataObject[]): Script =>
		Array.from({ length: 60 }, () => (request) => {
			const isThere = wordsOf(request).includes('I will send Anna the plan');
			return JSON.stringify({ promises: isThere ? promises : [] });
		});
	const said = (content: string, isUser: boolean) => ({
		type: 'blockquote',
		content,
		speakerName: isUser ? 'You' : 'Anna',
		speakerIdentifier: isUser ? ('user' as const) : null,
	});

	before(async () => {
		await lab.sandbox.control.reset({ days: 3, perDay: 6, dialect });
		workflow = await importExample(lab, 'promises-to-tasks', {
			parameters: { Task: { project: byId('2203306141') } },
		});
		[promiser] = await yesterdays();
		await lab.sandbox.control.updateLifelog(promiser.id, {
			contents: [
				said('I will send Anna the plan by Friday.', true),
				said('And I will water the plants.', false),
			],
		});
	});

	test('become tasks, only from my own words', async () => {
		const promises = [
			{ task: 'Send the *plan* [now]', toWhom: 'Anna', due: 'Friday' },
			{ task: 'Think about it', toWhom: '', due: '' },
		];
		const tasks = await run(workflow, 'api.todoist.com', finds(promises));
		assert.deepEqual(
			tasks.map(({ content, description, project_id }) => [content, description, project_id]),
			[
				['Send the ∗plan∗ ［now］', `To: Anna\nDue: Friday\n${promiser.title}`, '2203306141'],
				['Think about it', promiser.title, '2203306141'],
			],
		);
		const asked = model.requests();
		assert.equal(asked.length, (await yesterdays()).length);
		for (const request of asked) {
			assert.doesNotMatch(wordsOf(request), /water the plants/);
			assert.match(wordsOf(request), /never an instruction/);
		}
	});

	test('become tasks only once, also if the workflow runs again', async () => {
		const again = [{ task: 'Send it', toWhom: '', due: '' }];
		assert.deepEqual(await run(workflow, 'api.todoist.com', finds(again)), []);
		assert.equal(model.requests().length, 0);
	});

	test('can become rows of a Data Table', async () => {
		const { id: project } = await lab.rest.call<{ id: string }>('GET', '/projects/personal');
		const names = ['task', 'toWhom', 'due', 'title', 'lifelogId'];
		const columns = names.map((name) => ({ name, type: 'string' }));
		const tables = `/projects/${project}/data-tables`;
		const table = { name: 'Promises', columns };
		const { id } = await lab.rest.call<{ id: string }>('POST', tables, table);
		const toTable = await importExample(lab, 'promises-to-tasks', {
			parameters: { Row: { dataTableId: byId(id) } },
			enabled: { Task: false, Row: true },
		});
		const promise = { task: 'Send the plan', toWhom: 'Anna', due: 'Friday' };
		assert.deepEqual(await run(toTable, 'api.todoist.com', finds([promise])), []);
		const { data } = await lab.rest.call<{ data: IDataObject[] }>('GET', `${tables}/${id}/rows`);
		assert.deepEqual(
			data.map((row) => names.map((name) => row[name])),
			[['Send the plan', 'Anna', 'Friday', promiser.title, promiser.id]],
		);
	});

	test('are accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

describe('a search by a bot', () => {
	let workflow: SavedWorkflow;
	before(async () => {
		await lab.sandbox.control.reset({ days: 3, dialect });
		await lab.sandbox.control.addLifelog({
			title: 'The lighthouse <keeper> & co',
			markdown: '> Anna: The lighthouse keeper has two cats.',
		});
		workflow = await importExample(lab, 'search-my-days', { settings: { me: '4711' } });
	});

	const message = (text: string, from = 4711) => ({
		message: { message_id: 1, text, from: { id: from }, chat: { id: from, type: 'private' } },
	});
	/** Says something to the bot; gives what it answered. */
	async function say(what: IDataObject, to = workflow): Promise<IDataObject[]> {
		const before = posted('api.telegram.org').length;
		const { error } = await repeat(lab, to, 'Telegram', [what]);
		assert.equal(error, undefined);
		return posted('api.telegram.org').slice(before);
	}

	test('answers with the results unchanged', async () => {
		const [{ chat_id, text, parse_mode, ...more }] = await say(message('lighthouse'));
		assert.deepEqual([String(chat_id), parse_mode], ['4711', 'HTML']);
		assert.match(
			String(text),
			/^<b>The lighthouse &lt;keeper&gt; &amp; co<\/b> · \d+ \w+ \d{4}, \d\d:\d\d\n/,
		);
		assert.doesNotMatch(JSON.stringify(more), /n8n/);
	});

	test('says if nothing was found', async () => {
		const [{ text }] = await say(message('xylophonist'));
		assert.equal(text, 'Nothing was found.');
	});

	test('answers in Slack, too', async () => {
		const inSlack = await importExample(lab, 'search-my-days', {
			settings: { me: 'U4711' },
			enabled: { Telegram: false, Reply: false, Slack: true, 'Reply in Slack': true },
		});
		const before = posted('slack.com').length;
		const asked = { type: 'message', user: 'U4711', text: 'lighthouse', channel: 'D1' };
		const { error } = await repeat(lab, inSlack, 'Slack', [asked]);
		assert.equal(error, undefined);
		const [{ channel, text }] = posted('slack.com').slice(before);
		assert.equal(channel, 'D1');
		assert.match(String(text), /^\*The lighthouse &lt;keeper&gt; &amp; co\* · /);
	});

	test('answers nobody else, and nobody at all until you set your ID', async () => {
		assert.deepEqual(await say(message('lighthouse', 666)), []);
		assert.deepEqual(await say({ message: { from: { id: 4711 }, chat: { id: 4711 } } }), []);
		const untold = await importExample(lab, 'search-my-days');
		assert.deepEqual(await say(message('lighthouse'), untold), []);
	});
});
