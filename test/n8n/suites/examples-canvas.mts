// Every example on the canvas of the editor. Makes the pictures in examples/images.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/browser.mts';
import { Editor } from '../support/editor.mts';
import { readExample } from '../support/examples.mts';
import { startLab, type Lab } from '../support/lab.mts';

const examples = resolve(import.meta.dirname, '../../../examples');
const files = (await readdir(examples)).filter((file) => file.endsWith('.json'));
const LARGEST_IMAGE = 250_000;
/** Where a user has to choose before the editor is content. */
const TO_CHOOSE: Record<string, string[]> = {
	'promises-to-tasks': ['Task'],
	'starred-to-task': ['Task'],
};

let lab: Lab;
let browser: Browser;
let editor: Editor;

before(async () => {
	lab = await startLab();
	for (const [type, name, data] of [
		['slackApi', 'Slack account', { accessToken: 'none' }],
		['notionApi', 'Notion account', { apiKey: 'none' }],
		['todoistApi', 'Todoist account', { apiKey: 'none' }],
		['dropboxOAuth2Api', 'Dropbox account', {}],
		['s3', 'S3 account', { endpoint: 'http://127.0.0.1', accessKeyId: 'none' }],
		['telegramApi', 'Telegram account', { accessToken: 'none' }],
		['openAiApi', 'OpenAi account', { apiKey: 'none' }],
		['mcpOAuth2Api', 'MCP OAuth2 account', {}],
		['lifelogApi', 'Lifelog account 2', { apiKey: 'none', baseUrl: 'https://example.com' }],
	] as const) {
		await lab.rest.createCredential(type, data, name);
		// So that the right one is found by its name, and not as the only one there is.
		await lab.rest.createCredential(type, data, 'Another account');
	}
	browser = await startBrowser();
	editor = await Editor.signIn(browser, lab);
});
after(async () => {
	await browser?.close();
	await lab?.close();
});

for (const file of files) {
	const name = file.replace('.json', '');
	test(`${name} is imported, says what to set, and is ready but for that`, async () => {
		const example = await readExample(name);
		const canvas = await editor.importFile(join(examples, file));
		const notes = await canvas.notes();
		// The editor shows straight quotation marks as curly ones.
		assert.ok(notes.some((note) => note.replaceAll('’', "'").includes(example.name)));
		const path = join(examples, 'images', `${name}.png`);
		await canvas.picture(path);
		assert.ok((await stat(path)).size < LARGEST_IMAGE);
		assert.deepEqual(await canvas.nodesWithIssues(), TO_CHOOSE[name] ?? []);
		const { nodes } = await lab.rest.workflow(await canvas.save());
		for (const node of nodes.filter(({ disabled }) => !disabled)) {
			for (const { id } of Object.values(node.credentials ?? {})) assert.ok(id, node.name);
		}
	});
}
