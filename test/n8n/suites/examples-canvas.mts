// Every example on the canvas of the editor. Makes the pictures in examples/images.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/browser.mts';
import { Editor } from '../support/editor.mts';
import { credentialTypeOf, readExample } from '../support/examples.mts';
import { startLab, type Lab } from '../support/lab.mts';

const examples = resolve(import.meta.dirname, '../../../examples');
const files = (await readdir(examples)).filter((file) => file.endsWith('.json'));
const LARGEST_IMAGE = 250_000;
let lab: Lab;
let browser: Browser;
let editor: Editor;

before(async () => {
	lab = await startLab();
	browser = await startBrowser();
	editor = await Editor.signIn(browser, lab);
});
after(async () => {
	await browser?.close();
	await lab?.close();
});

/** The nodes of other services. For those of this package n8n chooses the only credential there is. */
async function unready(name: string): Promise<string[]> {
	const { nodes } = await readExample(name);
	return nodes
		.filter((node) => !node.disabled && !['lifelogApi', undefined].includes(credentialTypeOf(node)))
		.map((node) => node.name)
		.sort();
}

for (const file of files) {
	const name = file.replace('.json', '');
	test(`${name} is imported, says what to set, and marks each node that lacks its credential; of one credential n8n takes the only one`, async () => {
		const canvas = await editor.importFile(join(examples, file));
		const notes = await canvas.notes();
		assert.ok(notes.some((note) => note.includes('Set this')));
		assert.ok(notes.some((note) => note.includes('Good to know')));
		const path = join(examples, 'images', `${name}.png`);
		await canvas.picture(path);
		assert.ok((await stat(path)).size < LARGEST_IMAGE);
		assert.deepEqual((await canvas.nodesWithIssues()).sort(), await unready(name));
	});
}
