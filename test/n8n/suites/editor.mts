// The editor in a real browser. Makes the pictures of docs/images as well.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Browser } from 'playwright-core';
import { writeArchive } from '../../support/archive.mts';
import type { PanelOf } from '../../tools/pictures/sources.mts';
import { spawnLifelogServer } from '../../support/lifelogServer.mts';
import { choicesOf } from '../../support/panel.mts';
import { isMakingPictures, keepPicture, type Taken } from '../../support/pictures.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { startBrowser } from '../support/browser.mts';
import { Editor, type NodePanel, type Theme } from '../support/editor.mts';
import { addFindable, startLab, type Lab } from '../support/lab.mts';
import { testWithoutPicture } from '../support/pictures.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { REFUSED } from '../../support/messages.mts';
import { temporaryFolder } from '../support/server.mts';

const MAX_IMAGE_BYTES = 200_000;
const ASK_YOUR_DAYS = resolve(import.meta.dirname, '../../../examples/ask-your-days.json');

let lab: Lab;
let browser: Browser;
let editor: Editor;
let theme: Theme;
let opened: PanelOf;

before(async () => {
	// The same data at each run, so that the pictures change only when the editor or a node does.
	lab = await startLab({ editor: true, sandbox: ['--days', '3', '--now', '2026-03-04T16:00:00Z'] });
	browser = await startBrowser();
	editor = await Editor.signIn(browser, lab);
});
after(async () => {
	await browser?.close();
	await lab?.close();
});

const NAMES = {
	lifelog: 'Lifelog',
	lifelogChat: 'Lifelog Chat',
	lifelogAudio: 'Lifelog Audio',
	lifelogServer: 'Lifelog Server',
	lifelogTrigger: 'Lifelog Trigger',
	lifelogServerTrigger: 'Lifelog Server Trigger',
};

/** Stores a workflow with the node. */
async function store(
	type: keyof typeof NAMES,
	parameters: IDataObject = {},
	input?: IDataObject[],
): Promise<SavedWorkflow> {
	const { rest, credentials } = lab;
	const name = NAMES[type];
	const { nodes, settings } = workflowWith(type, parameters, { credentials, name });
	const [start, node] = nodes;
	const isTrigger = type.endsWith('Trigger');
	return await rest.createWorkflow({
		nodes: isTrigger ? [node] : [start, node],
		connections: isTrigger ? {} : { Start: { main: [[{ node: name, type: 'main', index: 0 }]] } },
		settings,
		...(input && { pinData: { Start: input.map((json) => ({ json })) } }),
	});
}

/** Stores a workflow with the node and opens the node's panel. */
async function open(...workflow: Parameters<typeof store>): Promise<NodePanel> {
	const { id } = await store(...workflow);
	const [node, parameters = {}] = workflow;
	opened = { node, parameters: parameters as INodeParameters };
	return await editor.openNode(id, NAMES[node]);
}

/** Keeps the picture of that name for the theme. */
function picture(name: string, taken: Taken, panel?: PanelOf): void {
	assert.ok(taken.png.length < MAX_IMAGE_BYTES);
	keepPicture(`docs/images/${name}`, theme, taken, panel);
}

/** Makes the picture of a node's panel, by default of the one that was opened last. */
async function panelPicture(name: string, panel: NodePanel, shown = opened): Promise<void> {
	picture(name, await panel.picture(), shown);
}

const newest = async () => (await lab.sandbox.control.lifelogs()).at(-1)!;

const namesOf = (node: string, parameter: string) =>
	choicesOf(node, parameter).map(({ name }) => name);
const actionsOf = (node: string) => choicesOf(node, 'operation').map(({ action }) => action);

/** What people type who look for the nodes, and what is to be found. */
const SEARCHES: Array<[words: string, found: string[]]> = [
	['lifelog', ['Lifelog', 'Lifelog Chat', 'Lifelog Audio']],
	['limitless', ['Lifelog', 'Lifelog Chat', 'Lifelog Audio']],
	['daily summary', ['Lifelog']],
	['slack summary', ['Lifelog']],
	['diary', ['Lifelog']],
	['notes', ['Lifelog']],
	['limitless pendant', ['Lifelog']],
	['meeting notes', ['Lifelog']],
	['voice memo', ['Lifelog']],
	['limitless ai', ['Lifelog', 'Lifelog Chat', 'Lifelog Audio']],
	['rewind', ['Lifelog', 'Lifelog Chat', 'Lifelog Audio']],
	['recording', ['Lifelog', 'Lifelog Chat', 'Lifelog Audio']],
	['download audio', ['Lifelog Audio']],
	['conversation', ['Lifelog', 'Lifelog Chat']],
];

for (const each of ['light', 'dark'] as const) {
	/** A test that makes no picture. It runs with one theme, because a theme changes only looks. */
	function testOnce(name: string, run: () => Promise<void>): void {
		if (each === 'light') testWithoutPicture(name, run);
	}
	/** A test that makes a picture, of each theme when the pictures are made. */
	function testOfPicture(name: string, run: () => Promise<void>): void {
		if (each === 'light' || isMakingPictures) test(name, run);
	}

	describe(`with the ${each} theme`, () => {
		before(async () => {
			theme = each;
			await editor.setTheme(theme);
		});

		describe('Lifelog', () => {
			testOnce('lists the lifelogs of a date and a range that you type', async () => {
				const panel = await open('lifelog', { returnAll: true, output: 'simplified' });
				await panel.choose('period', 'Date');
				await panel.fillDate('date', '2026-03-03');
				await panel.execute();
				const ofDay = await panel.itemCount();
				assert.match(await panel.outputAs('json'), /"startTime":\s+"2026-03-03T/);

				const again = await open('lifelog', { returnAll: true, output: 'simplified' });
				await again.choose('period', 'Range');
				await again.fillDate('start', '2026-03-03 00:00:00');
				await again.fillDate('end', '2026-03-03 23:59:59');
				await again.execute();
				assert.equal(await again.itemCount(), ofDay);
			});

			testOnce(
				'finds a time zone in the list, and names the day and time zone without lifelogs',
				async () => {
					const options = { timezone: 'UTC' };
					const panel = await open('lifelog', { period: 'date', date: '2020-01-01', options });
					await panel.find('timezone', 'Europe/Berlin');
					await panel.execute();
					assert.match(await panel.hint(), /No lifelogs on 2020-01-01 in Europe\/Berlin/);
				},
			);

			testOfPicture(
				'as a tool it searches, leaves the period to the model and has no Return All',
				async () => {
					const { rest, credentials } = lab;
					const { nodes, settings } = workflowWith(
						'lifelogTool',
						{},
						{ credentials, name: 'Lifelog' },
					);
					const { id } = await rest.createWorkflow({
						nodes: [nodes[1]],
						connections: {},
						settings,
					});
					const panel = await editor.openNode(id, 'Lifelog');
					assert.equal(await panel.value('operation'), 'Search Lifelogs');
					assert.equal(await panel.value('limit'), '10');
					const labels = await panel.labels();
					for (const label of ['Query', 'Period', 'Start', 'End', 'Limit'])
						assert.ok(labels.includes(label), label);
					assert.ok(!labels.includes('Return All'));
					assert.equal(await panel.leftToModel(), 3);
					await panelPicture('tool', panel, { node: 'lifelogTool', parameters: {} });
				},
			);

			testOnce(
				'lists lifelogs to pick from, the newest first, and runs with the one picked',
				async () => {
					const { title } = await newest();
					const panel = await open('lifelog', { operation: 'get' });
					const [first] = await panel.list('lifelogId');
					assert.ok(first.startsWith(`${title} · 4 Mar 2026, `));
					assert.match(first, /, \d\d:\d\d \(UTC\)$/);
					assert.equal(await panel.pick('lifelogId', first), first);
					await panel.execute();
					assert.equal(await panel.itemCount(), '1 item');
					assert.ok((await panel.outputAs('json')).includes(title));
				},
			);

			testOnce('searches in the list', async () => {
				const { id, title } = await addFindable(lab);
				try {
					const panel = await open('lifelog', { operation: 'get' });
					const all = await panel.list('lifelogId');
					const found = await panel.search(title);
					assert.ok(found.length < all.length);
					assert.ok(found.some((name) => name.startsWith(title)));
				} finally {
					await lab.sandbox.control.deleteLifelog(id);
				}
			});

			testOfPicture('searches, and shows the results', async () => {
				const panel = await open('lifelog', { operation: 'search', query: 'release', limit: 20 });
				await panel.execute();
				assert.match(await panel.itemCount(), /^\d+ items$/);
				assert.match(await panel.outputAs('schema'), /release/);
				await panelPicture('lifelog', panel);
			});

			testOnce('shows an error with what to do and its item', async () => {
				const { id } = await newest();
				const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
				const panel = await open('lifelog', parameters, [{ id }, { id: 'nobody' }]);
				await panel.execute();
				const { message, description } = await panel.error(/\[item \d+\]/);
				assert.equal(message, 'No lifelog with the ID "nobody" was found [item 1]');
				assert.match(description, /Check the ID/);
			});

			testOnce('shows the error of a past execution', async () => {
				const workflow = await store('lifelog', { operation: 'get', lifelogId: byId('nobody') });
				const execution = await lab.rest.execution(await lab.rest.run(workflow));
				const panel = await editor.openExecutedNode(workflow.id, execution.id, NAMES.lifelog);
				const { message } = await panel.error();
				assert.match(message, /^No lifelog with the ID "nobody" was found/);
			});
		});

		describe('Lifelog Chat', () => {
			testOnce('lists chats to pick from, and runs with the one picked', async () => {
				const panel = await open('lifelogChat', { operation: 'get' });
				const [first] = await panel.list('chatId');
				assert.equal(await panel.pick('chatId', first), first);
				await panel.execute();
				assert.equal(await panel.itemCount(), '1 item');
			});

			testOfPicture('lists chats', async () => {
				const parameters = { operation: 'getMany', filters: { isScheduled: true } };
				const panel = await open('lifelogChat', parameters);
				await panel.execute();
				assert.equal(await panel.itemCount(), '4 items');
				assert.match(await panel.outputAs('schema'), /response/);
				await panelPicture('lifelog-chat', panel);
			});
		});

		describe('Lifelog Audio', () => {
			testOfPicture('downloads the audio of a day, and plays it', async () => {
				// The only one of its day: n8n keeps what a step in the editor gives in memory.
				const times = { startTime: '2026-02-20T10:00:00Z', endTime: '2026-02-20T10:02:00Z' };
				const { id } = await lab.sandbox.control.addLifelog({ title: 'A walk', ...times });
				try {
					const canvas = await editor.newWorkflow();
					await (await canvas.addFirstStep()).pick('Trigger manually');
					const [manual] = await canvas.nodeNames();
					const nodes = await canvas.addAfter(manual);
					await nodes.search('download audio', NAMES.lifelogAudio);
					await nodes.choose(NAMES.lifelogAudio);
					const panel = await nodes.add('Download audio');
					await panel.choose('source', 'Day');
					await panel.choose('day', 'Date');
					// Choosing Date empties it.
					await panel.fillDate('date', '2026-02-20');
					await panel.execute();
					assert.equal(await panel.itemCount(), '1 item');
					assert.match(await panel.outputAs('json'), /2026-02-20T10:00:00/);
					assert.match(await panel.outputAs('binary'), /2026-02-20 10\.00 Audio\.ogg/);
					const parameters = { source: 'day', day: 'date', date: '2026-02-20' };
					await panelPicture('audio-of-a-day', panel, { node: 'lifelogAudio', parameters });
					assert.ok((await panel.playAudio()) > 0);
				} finally {
					await lab.sandbox.control.deleteLifelog(id);
				}
			});

			testOfPicture('downloads the audio of a lifelog picked from the list', async () => {
				const panel = await open('lifelogAudio');
				const [, second] = await panel.list('lifelogId');
				await panel.pick('lifelogId', second);
				await panel.execute();
				assert.equal(await panel.itemCount(), '1 item');
				assert.match(await panel.outputAs('json'), /2026-03-0\d \d\d\.\d\d .*\.ogg/);
				assert.match(await panel.outputAs('binary'), /2026-03-0\d \d\d\.\d\d .*\.ogg/);
				await panelPicture('lifelog-audio', panel);
			});
		});

		describe('Lifelog Trigger', () => {
			testOfPicture('fetches test events', async () => {
				const panel = await open('lifelogTrigger');
				assert.equal(await panel.executeLabel(), 'Fetch Test Event');
				await panel.execute();
				assert.equal(await panel.itemCount(), '3 items');
				assert.match(await panel.outputAs('schema'), /changeType\s+created/);
				await panelPicture('lifelog-trigger', panel);
			});

			testOnce('says if there is no event to fetch', async () => {
				const filters = { globalPromptId: 'nobody' };
				const panel = await open('lifelogTrigger', { event: 'scheduledChatCreated', filters });
				await panel.execute();
				const { message } = await panel.error();
				assert.equal(message, 'There is no answered scheduled chat to show');
			});
		});

		describe('Lifelog Server Trigger', () => {
			testOfPicture('waits for a test event', async () => {
				const panel = await open('lifelogServerTrigger');
				assert.equal(await panel.executeLabel(), 'Execute step');
				await panelPicture('lifelog-server-trigger', panel);
			});
		});

		const nodesPanel = async () => await editor.openNodesPanel((await store('lifelogAudio')).id);

		testOfPicture(
			'the nodes panel has one entry with the actions and the triggers, and adds one',
			async () => {
				const panel = await nodesPanel();
				const found = await panel.search('lifelog', NAMES.lifelog);
				assert.equal(found.filter((name) => name === NAMES.lifelog).length, 1);
				assert.ok(!found.includes(NAMES.lifelogTrigger));
				assert.equal(
					await panel.descriptionOf(NAMES.lifelog),
					'Starts a workflow when a lifelog is new or has changed, or a scheduled prompt was answered',
				);
				const headings = await panel.choose(NAMES.lifelog);
				const [actions, events] = [actionsOf('lifelog'), namesOf('lifelogTrigger', 'event')];
				assert.deepEqual(headings, [`Actions (${actions.length})`, `Triggers (${events.length})`]);
				assert.deepEqual(await panel.shown(), actions);
				picture('panel', await panel.picture());
				await panel.toggle('Actions');
				await panel.toggle('Triggers');
				assert.deepEqual(
					await panel.shown(),
					events.map((name) => `On ${name.toLowerCase()}`),
				);
				await panel.toggle('Actions');
				const node = await panel.add('Get daily summary');
				const labels = ['Operation', 'Day', 'Format', 'Filters', 'Options'];
				assert.deepEqual(await node.settledLabels(labels), labels);
			},
		);

		testOnce('the nodes are found by common search words', async () => {
			const panel = await nodesPanel();
			for (const [words, expected] of SEARCHES) await panel.finds(words, expected);
			const own = (await panel.search('audio', NAMES.lifelogAudio)).filter((name) =>
				name.startsWith('Lifelog'),
			);
			assert.equal(own[0], NAMES.lifelogAudio);
		});

		testOfPicture(
			'the list to pick from names its time zone, which is the option Time Zone if set',
			async () => {
				const { title } = await newest();
				const toRead = await open('lifelog', { operation: 'get' });
				assert.match((await toRead.list('lifelogId'))[0], / \(UTC\)$/);
				const toDelete = await open('lifelog', { operation: 'delete' });
				assert.match((await toDelete.list('lifelogIdToDelete'))[0], / \(UTC\)$/);
				const options = { timezone: 'Asia/Kathmandu' };
				const panel = await open('lifelog', { operation: 'get', options });
				const [first] = await panel.list('lifelogId');
				assert.ok(first.startsWith(title));
				assert.match(first, / · \d Mar 2026, \d\d:\d\d \(Asia\/Kathmandu\)$/);
				await panelPicture('picker', panel);
				const chats = await open('lifelogChat', { operation: 'get', options });
				assert.match((await chats.list('chatId'))[0], / Mar 2026, .* \(Asia\/Kathmandu\)$/);
			},
		);

		testOfPicture('the credential asks for the key and the address', async () => {
			const { labels, taken } = await editor.credential();
			picture('credential', taken);
			assert.deepEqual(labels.slice(0, 2), ['API Key', 'Base URL']);
		});

		testOnce(
			'the test of a credential says what a refused connection means, and what Docker needs',
			async () => {
				const data = { apiKey: 'key', baseUrl: 'http://127.0.0.1:1' };
				const { id, name } = await lab.rest.createCredential('lifelogApi', data, 'Nobody there');
				try {
					const said = await editor.credentialError(name);
					assert.match(said, new RegExp(`${REFUSED}\\. Check that the service runs`));
					assert.match(said, /http:\/\/host\.docker\.internal:1/);
				} finally {
					await lab.rest.deleteCredential(id);
				}
			},
		);

		testOnce(
			'an imported example shows its notes, and marks nodes without a credential',
			async () => {
				const canvas = await editor.importFile(ASK_YOUR_DAYS);
				const notes = (await canvas.notes()).join('\n');
				assert.match(notes, /Set this.*Good to know/s);
				assert.deepEqual(await canvas.nodesWithIssues(['Model']), ['Model']);
			},
		);

		test('lifelogs, chats and audio have their own icons on the canvas, for each theme', async () => {
			const types = Object.keys(NAMES) as Array<keyof typeof NAMES>;
			const { credentials } = lab;
			const nodes = types.map((type, index) => ({
				// A day needs nothing more to be set.
				...workflowWith(type, type === 'lifelogAudio' ? { source: 'day' } : {}, {
					credentials,
					name: NAMES[type],
				}).nodes.at(-1)!,
				id: type,
				position: [index * 200, 0] as [number, number],
			}));
			const { id } = await lab.rest.createWorkflow({ nodes, connections: {}, settings: {} });
			const canvas = await editor.openWorkflow(id);
			assert.equal(await editor.isDark(), theme === 'dark');
			const end = theme === 'dark' ? '.dark.svg' : '.svg';
			const expected = ['lifelog', 'chat', 'audio', 'server', 'lifelog', 'server'].map(
				(name) => `${name}${end}`,
			);
			assert.deepEqual(await canvas.icons(), expected);
			picture('nodes', await canvas.picture());
		});

		testOfPicture('shows the days of an archive, from lifelog-server', async () => {
			const folder = await temporaryFolder('lifelog-archive');
			await writeArchive(folder.path, { lifelogs: await lab.sandbox.control.lifelogs() });
			const server = await spawnLifelogServer(folder.path).ready;
			const { apiKey, url: baseUrl } = server;
			const data = { apiKey, baseUrl };
			const service = lab.credentials.lifelogApi;
			const archive = await lab.rest.createCredential('lifelogApi', data, 'My archive');
			lab.credentials.lifelogApi = archive;
			try {
				const parameters = { operation: 'getDailySummary', day: 'date', date: '2026-03-03' };
				const panel = await open('lifelog', parameters);
				await panel.execute();
				assert.equal(await panel.itemCount(), '1 item');
				assert.match(await panel.outputAs('schema'), /2026-03-03/);
				await panelPicture('lifelog-server', panel);
			} finally {
				lab.credentials.lifelogApi = service;
				await lab.rest.deleteCredential(archive.id);
				await server.close();
				await folder.remove();
			}
		});
	});
}

/** The quick start on the first workflow: its steps, and what can be pasted instead. */
async function firstWorkflow(): Promise<{ steps: string; pasted: string }> {
	const page = resolve(import.meta.dirname, '../../../docs/quick-start.md');
	const [, section] = (await readFile(page, 'utf8')).split('\n## A first workflow\n');
	const [steps, instead] = section.split('\nInstead of steps 1 to 5');
	return { steps, pasted: /```json\n(.+?)```/s.exec(instead)![1] };
}

testWithoutPicture(
	"the README's first workflow can be pasted onto an empty canvas, and runs",
	async () => {
		const { pasted } = await firstWorkflow();
		const canvas = await editor.newWorkflow();
		await canvas.paste(pasted);
		const [manual, name] = await canvas.nodeNames(2);
		assert.deepEqual([manual, name], ['When clicking ‘Execute workflow’', 'Summary of yesterday']);
		const panel = await canvas.open(name);
		assert.equal(await panel.value('operation'), 'Get Daily Summary');
		await panel.execute();
		assert.equal(await panel.itemCount(), '1 item');
		assert.match(await panel.outputAs('schema'), /markdown\s+# Daily summary/);
	},
);

// The last one: what n8n shows after publishing would get in another test's way.
testWithoutPicture(
	"the README's first workflow can be made with its steps, and published",
	async () => {
		const { rest, sandbox } = lab;
		const { steps } = await firstWorkflow();
		// What to click and what to look for.
		const words = [...steps.matchAll(/\*\*(.+?)\*\*/g)].map(([, word]) => word);
		assert.deepEqual(words, [
			...['Trigger manually', '+', 'Lifelog', 'Actions', 'Get daily summary'],
			...['Credential', 'More details', 'Execute step', '⋯ → Settings → Timezone'],
			...['Schedule Trigger', 'Replace', 'Publish'],
		]);
		// A new user has no credential of ours, but may have one for e-mail.
		await rest.deleteCredential(lab.credentials.lifelogApi.id!);
		const smtp = await rest.createCredential(
			'smtp',
			{ host: '127.0.0.1', port: 25 },
			'SMTP account',
		);
		const noon = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`;
		const times = { startTime: noon, endTime: noon };
		const { id: lifelogId, title } = await sandbox.control.addLifelog({ title: 'Lunch', ...times });
		let workflowId: string | undefined;
		try {
			const canvas = await editor.newWorkflow();
			await (await canvas.addFirstStep()).pick('Trigger manually');
			const [manual] = await canvas.nodeNames();

			const panel = await canvas.addAfter(manual);
			await panel.search('Lifelog', 'Lifelog');
			const headings = await panel.choose('Lifelog');
			assert.match(headings[0], /^Actions /);
			const summary = await panel.add('Get daily summary');

			const { apiKey, url: baseUrl } = sandbox;
			const tested = await summary.createCredential({ apiKey, baseUrl });
			assert.match(tested, /success/);
			assert.equal(await summary.executeLabel(), 'Execute step');
			await summary.execute();
			assert.equal(await summary.itemCount(), '1 item');
			const shown = await summary.outputAs('schema');
			assert.match(shown, new RegExp(`markdown\\s+# Daily summary: .*${title}`, 's'));
			await summary.close();

			await canvas.chooseTimezone('Europe/Berlin');

			const next = await canvas.addAfter('Get daily summary');
			await next.search('Send Email', 'Send Email');
			await next.choose('Send Email');
			const mail = await next.add('Send an Email');
			for (const parameter of ['fromEmail', 'toEmail']) {
				await mail.fill(parameter, 'me@example.com');
			}
			await mail.close();

			const triggers = await canvas.replace(manual);
			await triggers.search('Schedule Trigger', 'Schedule Trigger');
			await triggers.pick('Schedule Trigger');
			const schedule = await canvas.open('Schedule Trigger');
			await schedule.choose('triggerAtHour', '4am');
			await schedule.close();

			workflowId = await canvas.publish();
			const { active, nodes, connections, settings } = await rest.workflow(workflowId);
			assert.equal(active, true);
			assert.equal(settings?.timezone, 'Europe/Berlin');
			assert.deepEqual(nodes.map(({ name }) => name).sort(), [
				...['Get daily summary', 'Schedule Trigger', 'Send an Email'],
			]);
			const after = (name: string) => connections[name].main[0]?.map(({ node }) => node);
			assert.deepEqual(after('Schedule Trigger'), ['Get daily summary']);
			assert.deepEqual(after('Get daily summary'), ['Send an Email']);
			const { rule } = nodes.find(({ name }) => name === 'Schedule Trigger')!.parameters;
			assert.deepEqual(rule, { interval: [{ triggerAtHour: 4 }] });
		} finally {
			if (workflowId !== undefined) await rest.deactivate(workflowId);
			await sandbox.control.deleteLifelog(lifelogId);
			await rest.deleteCredential(smtp.id);
			const ours = (await rest.credentials()).find(({ type }) => type === 'lifelogApi');
			const { apiKey, url: baseUrl } = sandbox;
			lab.credentials.lifelogApi = ours
				? { id: ours.id, name: ours.name }
				: await rest.createCredential('lifelogApi', { apiKey, baseUrl });
		}
	},
);
