// The examples that a Lifelog Trigger starts: a chat goes to Slack, a starred lifelog to Todoist or Notion.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { byId } from '../../support/workflow.mts';
import { importExample, repeat } from '../support/examples.mts';
import { startInternet, type Internet } from '../support/internet.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { anotherPoll, pollTimes, whenEmitted, whenFailed } from '../support/trigger.mts';

const DATABASE = '0123456789abcdef0123456789abcdef';

let lab: Lab;
let internet: Internet;

const slackAccepts = () => ({ ok: true, channel: 'C0LIFELOG', ts: '1772323200.000100' });

before(async () => {
	internet = await startInternet({
		'slack.com': slackAccepts,
		'api.todoist.com': ({ body }) => ({ id: 'task', ...body }),
		'api.notion.com': ({ method }) =>
			method === 'GET'
				? { object: 'database', properties: { Name: { id: 'title', type: 'title', title: {} } } }
				: { object: 'page', id: 'page', url: 'https://www.notion.so/page', properties: {} },
	});
	lab = await startLab({ sandbox: ['--days', '3'], env: internet.env });
	const { rest, sandbox } = lab;
	await rest.createCredential('slackApi', { accessToken: 'xoxb-test' }, 'Slack account');
	await rest.createCredential('todoistApi', { apiKey: 'todoist-test' }, 'Todoist account');
	await rest.createCredential('notionApi', { apiKey: 'notion-test' }, 'Notion account');
	await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
after(async () => {
	await lab?.close();
	await internet?.close();
});

/** The bodies of what was posted to a host, in order. */
const posted = (host: string) =>
	internet
		.sent(host)
		.filter(({ method }) => method === 'POST')
		.map(({ body }) => body);
/** Waits until so much was posted to a host in all, and returns it. */
const whenPosted = async (host: string, count: number) =>
	await whenEmitted(async () => posted(host), count);

describe('a scheduled chat goes to Slack', () => {
	const trigger = 'Scheduled chat';
	let workflow: SavedWorkflow;
	const messages = () => posted('slack.com') as Array<IDataObject & { blocks: IDataObject[] }>;
	const markdown = () => messages().map(({ blocks: [{ text }] }) => String(text));
	const items = async () => {
		const all: IDataObject[] = [];
		for (const { id } of await lab.rest.executions(workflow.id)) {
			all.push(...(await lab.rest.execution(id)).json(trigger));
		}
		return all;
	};
	const addAnswer = async (summary: string | null, response: string) => {
		const createdAt = new Date().toISOString();
		const message = (role: 'user' | 'assistant', text: string) => ({
			...{ id: role, text, createdAt },
			user: { role, name: null },
		});
		return await lab.sandbox.control.addChat({
			globalPromptId: 'daily',
			summary,
			messages: [message('user', 'What happened?'), message('assistant', response)],
		});
	};

	before(async () => {
		const parameters = { [trigger]: { pollTimes } };
		workflow = await importExample(lab, 'scheduled-chat-to-slack', { parameters });
		await lab.rest.activate(workflow.id);
	});
	after(async () => await lab.rest.deactivate(workflow.id));

	test("when it appears, and an ordinary chat doesn't", async () => {
		await lab.sandbox.control.addChat({ summary: 'Ordinary' });
		await addAnswer('Recap', '## Morning\n\n- **Ferns** for <the> garden & more');
		await whenPosted('slack.com', 1);
		await anotherPoll();
		const [{ path, headers }] = internet.sent('slack.com');
		assert.equal(path, '/api/chat.postMessage');
		assert.equal(headers.authorization, 'Bearer xoxb-test');
		assert.deepEqual(messages(), [
			{
				channel: '#lifelog',
				text: 'Recap',
				// The node sends its own option along; Slack does not mind.
				includeLinkToWorkflow: false,
				blocks: [
					{
						type: 'markdown',
						text: '# Recap\n\n## Morning\n\n- **Ferns** for &lt;the> garden &amp; more',
					},
				],
			},
		]);
	});

	test('without mentions and images in its text', async () => {
		const before = messages().length;
		await addAnswer('*Hi* <!channel>', '<!here> & <@U1> ![a](https://example.com/b)');
		const [{ text }] = (await whenPosted('slack.com', before + 1)).slice(before);
		assert.equal(text, '∗Hi∗ &lt;!channel&gt;');
		assert.equal(
			markdown().at(-1),
			'# ∗Hi∗ &lt;!channel&gt;\n\n&lt;!here> &amp; &lt;@U1> [a](https://example.com/b)',
		);
	});

	test('in several messages, in order, if one would be too long for Slack', async () => {
		const before = messages().length;
		const line = 'Ein Satz mit Ümläuten, שלום und 👩‍👩‍👧‍👦 darin.';
		const response = [
			...Array.from({ length: 400 }, (_, index) => `${index}. ${line}`),
			'👍'.repeat(9000),
		].join('\n');
		await addAnswer(null, response);
		await whenPosted('slack.com', before + 15);
		await anotherPoll();
		const texts = markdown().slice(before);
		for (const { blocks } of messages().slice(before)) {
			// A markdown block takes 12,000 characters; all blocks of a message some 12,000 bytes.
			assert.ok(Buffer.byteLength(JSON.stringify(blocks)) <= 12_000);
		}
		assert.equal(texts.join(''), `# What happened?\n\n${response}`);
		assert.ok(texts.every((text) => !/\p{Surrogate}/u.test(text)));
		assert.ok(texts[0].endsWith('\n'));
	});

	test('only once, also if an execution is repeated', async () => {
		const before = messages().length;
		const { status, json } = await repeat(lab, workflow, trigger, await items());
		assert.equal(status, 'success');
		assert.deepEqual(json('Only once'), []);
		assert.equal(messages().length, before);
	});

	test('with each message once if Slack refused one and the execution is retried', async () => {
		const before = messages().length;
		let answered = 0;
		const refusal = { ok: false, error: 'channel_not_found' };
		internet.answer('slack.com', () => (++answered === 2 ? refusal : slackAccepts()));
		const response = ['a', 'b', 'c'].map((letter) => `${letter.repeat(2100)}\n`).join('');
		await addAnswer('Refused', response);
		const failed = await whenFailed(lab, workflow.id, /channel_not_found/);
		await lab.rest.call('POST', `/executions/${failed.id}/retry`, { loadWorkflow: false });
		await whenPosted('slack.com', before + 4);
		await anotherPoll();
		const begins = markdown()
			.slice(before)
			.map((text) => text.replace('# Refused\n\n', '')[0]);
		assert.deepEqual(begins, ['a', 'b', 'b', 'c'], 'b was refused and sent again, a was not');
	});
});

describe('a starred lifelog', () => {
	const trigger = 'Starred lifelog';
	const newest = async (fromEnd: number) => (await lab.sandbox.control.lifelogs()).at(-fromEnd)!;
	const change = async (id: string, to: Partial<Lifelog>) =>
		await lab.sandbox.control.updateLifelog(id, to);

	/** Waits for a task or note, then edits the lifelog, and stars it anew: there must be no other. */
	async function starAndEdit(host: string, id: string): Promise<IDataObject> {
		const before = posted(host).length;
		await change(id, { isStarred: true });
		const [body] = (await whenPosted(host, before + 1)).slice(before);
		for (const edit of [{ title: 'Edited' }, { isStarred: false }, { isStarred: true }]) {
			await change(id, edit);
			await anotherPoll();
		}
		assert.equal(posted(host).length, before + 1);
		return body;
	}

	describe('becomes a task', () => {
		let workflow: SavedWorkflow;
		before(async () => {
			workflow = await importExample(lab, 'starred-to-task', {
				parameters: { [trigger]: { pollTimes }, Task: { project: byId('2203306141') } },
			});
			await lab.rest.activate(workflow.id);
		});
		after(async () => await lab.rest.deactivate(workflow.id));

		test('only once, whatever changes later', async () => {
			const { id, title, startTime, markdown } = await newest(2);
			const { content, description, project_id } = await starAndEdit('api.todoist.com', id);
			assert.equal(content, title);
			assert.equal(project_id, '2203306141');
			const lines = String(description).split('\n');
			assert.match(lines[0], new RegExp(`, ${startTime.slice(11, 16)}$`));
			const headings = markdown!.split('\n').filter((line) => line.startsWith('## '));
			assert.ok(headings.length > 0);
			assert.deepEqual(
				lines.slice(1),
				headings.map((heading) => heading.replace('## ', '- ')),
			);
		});

		test('with a title that Todoist accepts, however long it is', async () => {
			const before = posted('api.todoist.com').length;
			const title = '🦔'.repeat(3000);
			const { id } = await lab.sandbox.control.addLifelog({ title, isStarred: true });
			const [{ content }] = (await whenPosted('api.todoist.com', before + 1)).slice(before);
			assert.ok([...String(content)].length <= 500 && title.startsWith(String(content)));
			await lab.sandbox.control.deleteLifelog(id);
		});

		test('with a title that is shown unchanged', async () => {
			const before = posted('api.todoist.com').length;
			const title = '* Call [the bank](https://example.com) **now**\nsnake_case';
			const { id } = await lab.sandbox.control.addLifelog({ title, isStarred: true });
			const [{ content }] = (await whenPosted('api.todoist.com', before + 1)).slice(before);
			assert.equal(content, '∗ Call ［the bank］(https://example.com) ∗∗now∗∗ snake_case');
			await lab.sandbox.control.deleteLifelog(id);
		});

		test('only once, also if an execution is repeated', async () => {
			const before = posted('api.todoist.com').length;
			const { id } = await newest(2);
			const { status, json } = await repeat(lab, workflow, trigger, [
				(await newest(2)) as unknown as IDataObject,
			]);
			assert.equal(status, 'success');
			assert.deepEqual(json('Only once'), [], id);
			assert.equal(posted('api.todoist.com').length, before);
		});
	});

	describe('becomes a note', () => {
		let workflow: SavedWorkflow;
		before(async () => {
			workflow = await importExample(lab, 'starred-to-task', {
				parameters: { [trigger]: { pollTimes }, Note: { databaseId: byId(DATABASE) } },
				enabled: { Task: false, Note: true },
			});
			await lab.rest.activate(workflow.id);
		});
		after(async () => await lab.rest.deactivate(workflow.id));

		test('only once, whatever changes later', async () => {
			const { id, title } = await newest(3);
			const tasks = posted('api.todoist.com').length;
			const page = (await starAndEdit('api.notion.com', id)) as {
				parent: IDataObject;
				properties: { Name: { title: Array<{ text: { content: string } }> } };
				children: Array<{
					type: string;
					paragraph: { text: Array<{ text: { content: string } }> };
				}>;
			};
			assert.deepEqual(page.parent, { database_id: DATABASE });
			assert.equal(page.properties.Name.title[0].text.content, title);
			assert.deepEqual(
				page.children.map(({ type }) => type),
				['paragraph'],
			);
			const [{ paragraph }] = page.children;
			const { content } = paragraph.text[0].text;
			assert.ok(content.length > 20 && content.length <= 2000);
			assert.equal(posted('api.todoist.com').length, tasks);
		});
	});
});
