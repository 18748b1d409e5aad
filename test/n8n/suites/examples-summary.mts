// The examples that send the summary of a day: to Slack, and to a Notion database.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { problemsOfNotionRequest } from '../../support/notionRules.mts';
import { problemsOfSlackMessage } from '../../support/slackRules.mts';
import { importExample, runExample } from '../support/examples.mts';
import { startInternet, type Internet, type SentRequest } from '../support/internet.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { SavedWorkflow } from '../support/rest.mts';

const trigger = 'Every morning';
const DATABASE = '0123456789abcdef0123456789abcdef';
const PAGE = '11111111-2222-3333-4444-555555555555';

let lab: Lab;
let internet: Internet;
let underWay = 0;
let mostAtOnce = 0;

/** An answer that takes a moment, so that requests sent side by side are seen to be. */
async function slowly(answer: IDataObject): Promise<IDataObject> {
	mostAtOnce = Math.max(mostAtOnce, ++underWay);
	await sleep(50);
	underWay--;
	return answer;
}

before(async () => {
	internet = await startInternet({
		'slack.com': async () => await slowly({ ok: true, ts: '1772323200.000100' }),
		'api.notion.com': async () => await slowly({ object: 'page', id: PAGE }),
	});
	lab = await startLab({ sandbox: ['--days', '3'], env: internet.env });
	const { rest, sandbox } = lab;
	await rest.createCredential('slackApi', { accessToken: 'xoxb-test' }, 'Slack account');
	await rest.createCredential('notionApi', { apiKey: 'notion-test' }, 'Notion account');
	await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
});
after(async () => {
	await lab?.close();
	await internet?.close();
});

/** Yesterday's date, in the zone of n8n, which is UTC here. */
const yesterday = () => new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10);

/** Yesterday's lifelogs by start. */
async function yesterdays(): Promise<Lifelog[]> {
	const all = await lab.sandbox.control.lifelogs();
	return all.filter(({ startTime }) => startTime.startsWith(yesterday()));
}

/** Makes yesterday a day of so many lifelogs. */
async function yesterdayHas(perDay: number): Promise<void> {
	const { control } = lab.sandbox;
	const dialect = { rateLimit: { max: 10_000 } };
	await control.reset({ now: `${yesterday()}T21:30:00Z`, days: 1, perDay, dialect });
	await control.clock(null);
	assert.equal((await yesterdays()).length, perDay);
}

/** Runs an example; gives what it sent to a host. */
async function run(workflow: SavedWorkflow, host: string): Promise<SentRequest[]> {
	const before = internet.sent(host).length;
	mostAtOnce = 0;
	const { status, error } = await runExample(lab, workflow, trigger);
	assert.equal(error, undefined);
	assert.equal(status, 'success');
	assert.equal(mostAtOnce, 1, 'What is sent side by side may arrive in any order');
	return internet.sent(host).slice(before);
}

/** As many lifelogs as the examples list. */
const LISTED = 25;

/** Checks that the titles are in the text in the order of the day. */
function assertInOrder(text: string, lifelogs: Lifelog[]): void {
	let position = 0;
	for (const { title } of lifelogs) {
		const found = text.indexOf(title, position);
		assert.ok(found >= 0, title);
		position = found + title.length;
	}
}

/** All text within a value, in order. */
function textsIn(value: unknown): string {
	if (typeof value === 'string') return `${value}\n`;
	if (typeof value !== 'object' || value === null) return '';
	return Object.values(value).map(textsIn).join('');
}

/** What a user changes for a list of all lifelogs. */
const listingAll = {
	parameters: { 'Summary of yesterday': { options: { detail: 'titles', maxLifelogs: 0 } } },
};

describe('to Slack', () => {
	let workflow: SavedWorkflow;
	before(async () => (workflow = await importExample(lab, 'daily-summary-to-slack')));

	/** What people read: Slack shows `&amp;` as `&`. */
	const read = (messages: IDataObject[]) =>
		messages
			.map(({ blocks }) => textsIn(blocks))
			.join('')
			.replaceAll('&amp;', '&');

	/** Runs it and checks what was posted against Slack's rules. */
	async function post(): Promise<IDataObject[]> {
		const requests = await run(workflow, 'slack.com');
		for (const { path, headers, body } of requests) {
			assert.equal(path, '/api/chat.postMessage');
			assert.equal(headers.authorization, 'Bearer xoxb-test');
			assert.equal(body.channel, '#lifelog');
			const { text, blocks } = body;
			assert.deepEqual(problemsOfSlackMessage({ text, blocks }), []);
		}
		return requests.map(({ body }) => body);
	}

	test('the first 25 lifelogs of a day, in order, and how many more there are', async () => {
		await yesterdayHas(40);
		const text = read(await post());
		const lifelogs = await yesterdays();
		assertInOrder(text, lifelogs.slice(0, LISTED));
		assert.ok(text.includes('and 15 more'));
		assert.ok(!text.includes(lifelogs[LISTED].title));
	});

	test('a day with 300 lifelogs in several messages, in order, if all are listed', async () => {
		await yesterdayHas(300);
		workflow = await importExample(lab, 'daily-summary-to-slack', listingAll);
		const messages = await post();
		assert.ok(messages.length > 1);
		const headers = messages.map(({ blocks }) => textsIn((blocks as IDataObject[])[0].text));
		for (const [index, header] of headers.entries()) {
			assert.match(header, new RegExp(`\\(${index + 1} of ${messages.length}\\)`));
		}
		assertInOrder(read(messages), await yesterdays());
	});

	test('a day without lifelogs in a message that says so', async () => {
		await lab.sandbox.control.reset({ empty: true });
		assert.equal((await post()).length, 1);
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});

describe('to a Notion database', () => {
	let workflow: SavedWorkflow;
	const settings = { databaseId: DATABASE };
	before(
		async () => (workflow = await importExample(lab, 'daily-summary-to-notion', { settings })),
	);

	/** Runs it and checks what was sent against Notion's rules; gives all blocks, in order. */
	async function create(): Promise<{ blocks: IDataObject[]; requests: number }> {
		const [page, ...appended] = await run(workflow, 'api.notion.com');
		assert.equal(`${page.method} ${page.path}`, 'POST /v1/pages');
		assert.deepEqual(page.body.parent, { database_id: DATABASE });
		for (const { method, path } of appended) {
			assert.equal(`${method} ${path}`, `PATCH /v1/blocks/${PAGE}/children`);
		}
		for (const { headers, body } of [page, ...appended]) {
			assert.equal(headers.authorization, 'Bearer notion-test');
			// From this version on, a block's text is its `rich_text`. The credential names a version.
			assert.ok(String(headers['notion-version']) >= '2022-02-22');
			assert.deepEqual(problemsOfNotionRequest(body as { children: unknown }), []);
		}
		const blocks = [page, ...appended].flatMap(({ body }) => body.children as IDataObject[]);
		return { blocks, requests: 1 + appended.length };
	}

	test('the first 25 lifelogs of a day as a page, and how many more there are', async () => {
		await yesterdayHas(40);
		const text = textsIn((await create()).blocks);
		assertInOrder(text, (await yesterdays()).slice(0, LISTED));
		assert.ok(text.includes('and 15 more'));
	});

	test('a day with 300 lifelogs as a page with appended blocks, in order, if all are listed', async () => {
		await yesterdayHas(300);
		const changes = { settings, ...listingAll };
		workflow = await importExample(lab, 'daily-summary-to-notion', changes);
		const { blocks, requests } = await create();
		assert.ok(requests > 2);
		assertInOrder(textsIn(blocks), await yesterdays());
	});

	test('a day without lifelogs as a page that says so', async () => {
		await lab.sandbox.control.reset({ empty: true });
		const { blocks, requests } = await create();
		assert.equal(requests, 1);
		assert.ok(blocks.length > 0);
	});

	test('is accepted by n8n as an active workflow', async () => {
		await lab.rest.activate(workflow.id);
		await lab.rest.deactivate(workflow.id);
	});
});
