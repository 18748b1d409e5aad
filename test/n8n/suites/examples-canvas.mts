// Every example on the canvas of the editor. Makes the pictures of examples/images.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Browser } from 'playwright-core';
import { keepPicture } from '../../support/pictures.mts';
import { startBrowser } from '../support/browser.mts';
import { Editor } from '../support/editor.mts';
import { credentialTypeOf, readExample } from '../support/examples.mts';
import { startLab, type Lab } from '../support/lab.mts';
import { testWithoutPicture } from '../support/pictures.mts';

const examples = resolve(import.meta.dirname, '../../../examples');
const files = (await readdir(examples)).filter((file) => file.endsWith('.json'));
const MAX_IMAGE_BYTES = 250_000;
let lab: Lab;
let browser: Browser;
let editor: Editor;

before(async () => {
	lab = await startLab({ editor: true });
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
	test(`${name} says what to set, marks each node without a credential, and uses the only credential of a type`, async () => {
		const canvas = await editor.importFile(join(examples, file));
		const notes = await canvas.notes();
		assert.ok(notes.some((note) => note.includes('Set this')));
		assert.ok(notes.some((note) => note.includes('Good to know')));
		const taken = await canvas.picture();
		assert.ok(taken.png.length < MAX_IMAGE_BYTES);
		keepPicture(`examples/images/${name}`, 'light', taken);
		const expected = await unready(name);
		assert.deepEqual(await canvas.nodesWithIssues(expected), expected);
	});
}

/** What a credential of each kind that the examples below need holds. */
const KINDS: Record<string, IDataObject> = {
	lifelogApi: { apiKey: 'key', baseUrl: 'https://lifelog.example' },
	notionApi: { apiKey: 'notion-test' },
	openAiApi: { apiKey: 'none' },
	todoistApi: { apiKey: 'todoist-test' },
};
/** Between them they have nodes of this package, HTTP requests, a model and a node of another service. */
const WITH_OTHERS = ['daily-summary-to-notion', 'promises-to-tasks'];
/** A parameter of these says which kind of credential they take, so n8n leaves the choice to the user. */
const CHOSEN_BY_USER = ['n8n-nodes-base.httpRequest', 'n8n-nodes-base.todoist'];

/** Imports, saves and opens an example: the credential that n8n chose for each node that needs one. */
async function imported(name: string) {
	const id = await (await editor.importFile(join(examples, `${name}.json`))).save();
	const { nodes } = await lab.rest.workflow(id);
	// Saving draws the canvas anew, and n8n then forgets a mark now and then.
	const canvas = await editor.openWorkflow(id);
	const needing = nodes.filter((node) => !node.disabled && credentialTypeOf(node) !== undefined);
	const chosen = needing.map((node) => [
		node.name,
		node.credentials?.[credentialTypeOf(node)!]?.name,
	]);
	return { canvas, needing, chosen };
}

describe('without any credential', () => {
	before(async () => {
		for (const { id } of await lab.rest.credentials()) await lab.rest.deleteCredential(id);
	});

	for (const name of WITH_OTHERS) {
		testWithoutPicture(`${name} marks each node that needs one`, async () => {
			const { canvas, needing, chosen } = await imported(name);
			const expected = needing.map((node) => node.name).sort();
			assert.deepEqual(await canvas.nodesWithIssues(expected), expected);
			assert.deepEqual(
				chosen,
				needing.map((node) => [node.name, undefined]),
			);
		});
	}
});

for (const [count, newest] of [
	['one credential', 'My first'],
	['two credentials', 'Another'],
]) {
	describe(`with ${count} of each kind`, () => {
		before(async () => {
			for (const [type, data] of Object.entries(KINDS)) {
				await lab.rest.createCredential(type, data, `${newest} ${type}`);
			}
		});

		for (const name of WITH_OTHERS) {
			testWithoutPicture(
				`${name} has the newest one if n8n can choose it, and marks the other nodes`,
				async () => {
					const { canvas, needing, chosen } = await imported(name);
					const isLeft = ({ type }: INode) => CHOSEN_BY_USER.includes(type);
					assert.deepEqual(
						chosen,
						needing.map((node) => [
							node.name,
							isLeft(node) ? undefined : `${newest} ${credentialTypeOf(node)}`,
						]),
					);
					const left = needing
						.filter(isLeft)
						.map((node) => node.name)
						.sort();
					assert.deepEqual(await canvas.nodesWithIssues(left), left);
				},
			);
		}
	});
}
