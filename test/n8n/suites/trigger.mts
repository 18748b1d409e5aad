import assert from 'node:assert/strict';
import { before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { useLab } from '../support/lab.mts';
import {
	activateTrigger,
	anotherPoll,
	emitted,
	pollTimesEvery,
	whenEmitted,
	whenFailed,
} from '../support/trigger.mts';

const ALL_EVENTS = {
	lifelogCreatedOrUpdated: ['created', 'updated'],
	lifelogCreated: ['created'],
	lifelogUpdated: ['updated'],
	scheduledChatCreated: ['answered'],
};
/** The two ways in which n8n polls, and which changes each event of the trigger reports. */
const engines = [
	{
		name: 'in memory, n8n’s default',
		env: {},
		everyS: 5,
		events: ALL_EVENTS,
		mayRepeat: false,
	},
	{
		name: 'with durable cursors, kept in the database',
		env: {
			N8N_SCHEDULER_ENABLED: 'true',
			N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
			N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
		},
		// Each schedule is kept by itself, and what fell due while n8n was down it runs side by side. With
		// more of them, a slow machine is busy with that for minutes.
		everyS: 15,
		events: {
			lifelogCreatedOrUpdated: ALL_EVENTS.lifelogCreatedOrUpdated,
			scheduledChatCreated: ALL_EVENTS.scheduledChatCreated,
		},
		mayRepeat: true,
	},
];

/** Each item once, by the key that is there for it. */
const onceEach = (items: IDataObject[]) => [
	...new Map(items.map((item) => [item.eventKey, item])).values(),
];
/** `created <title>` and the like, in any order. */
const changes = (items: IDataObject[]) =>
	items
		.map(({ changeType = 'answered', title, summary }) => `${changeType} ${title ?? summary}`)
		.sort();

for (const { name, env, everyS, events: reported, mayRepeat } of engines) {
	describe(`polling ${name}`, () => {
		const lab = useLab({ env });
		const control = () => lab().sandbox.control;
		const events = Object.entries(reported);
		const workflows: Record<string, string> = {};

		const emittedBy = async (event: string) => {
			const items = await emitted(lab(), workflows[event]);
			return mayRepeat ? onceEach(items) : items;
		};
		const whenEmittedBy = async (event: string, count: number) =>
			await whenEmitted(async () => await emittedBy(event), count);
		const changeLifelog = async (fromEnd: number, title: string) => {
			const { id } = (await control().lifelogs()).at(-fromEnd)!;
			return await control().updateLifelog(id, { title });
		};
		const addScheduledChat = async (summary: string) =>
			await control().addChat({ globalPromptId: 'daily', summary });

		before(async () => {
			// Four triggers every few seconds are more than the service would allow.
			await control().dialect({ rateLimit: { max: 10_000 } });
			for (const [event] of events) {
				const parameters = { event, pollTimes: pollTimesEvery(everyS) };
				workflows[event] = await activateTrigger(lab(), parameters);
			}
			// With durable cursors the poll at the activation does not count, but the one after it.
			await control().clearRequests();
			const answered = async () =>
				(await control().requests()).filter(({ status }) => status === 200).length;
			while ((await answered()) < 4 * events.length) await sleep(200);
			await anotherPoll(everyS);
		});
		beforeEach(async () => await control().faults([]));

		test("old lifelogs and chats aren't emitted", async () => {
			for (const [event] of events) assert.deepEqual(await emittedBy(event), []);
		});

		test('a new lifelog is emitted', async () => {
			const { id, title } = await control().addLifelog({ title: 'new 1' });
			const [item] = await whenEmittedBy('lifelogCreatedOrUpdated', 1);
			assert.equal(item.id, id);
			assert.equal(item.title, title);
			assert.equal(item.changeType, 'created');
			assert.match(String(item.eventKey), new RegExp(`^${id}:\\d{4}-.*Z$`));
			assert.ok('excerpt' in item && !('markdown' in item));
			if ('lifelogCreated' in reported) await whenEmittedBy('lifelogCreated', 1);
		});

		test('a changed lifelog is emitted', async () => {
			const { id } = await changeLifelog(5, 'changed 1');
			const items = await whenEmittedBy('lifelogCreatedOrUpdated', 2);
			assert.equal(items[1].id, id);
			assert.equal(items[1].changeType, 'updated');
			if ('lifelogUpdated' in reported) await whenEmittedBy('lifelogUpdated', 1);
		});

		test("an answer to a scheduled prompt is emitted, and an ordinary chat isn't", async () => {
			await control().addChat({ summary: 'ordinary' });
			const { id } = await addScheduledChat('scheduled 1');
			const [item] = await whenEmittedBy('scheduledChatCreated', 1);
			assert.equal(item.id, id);
			assert.equal(item.eventKey, id);
			assert.ok(item.response);
		});

		// The suite smoke stops it.
		test('a kill and a restart of n8n lose nothing and repeat nothing', async () => {
			const expected: Record<string, string[]> = {};
			for (const [event, kinds] of events) {
				const added = kinds.map((kind) => `${kind} by restart`);
				expected[event] = [...changes(await emittedBy(event)), ...added].sort();
			}
			await lab().restart('kill', async () => {
				await control().addLifelog({ title: 'by restart' });
				await changeLifelog(7, 'by restart');
				await addScheduledChat('by restart');
			});
			for (const [event] of events) await whenEmittedBy(event, expected[event].length);
			await anotherPoll(everyS);
			for (const [event] of events) {
				assert.deepEqual(changes(await emittedBy(event)), expected[event], event);
			}
		});

		test('a failed poll is a failed execution, and loses nothing', async () => {
			const id = workflows.lifelogCreatedOrUpdated;
			const before = await emittedBy('lifelogCreatedOrUpdated');
			const body = { error: 'out of order' };
			await control().faults([{ path: '/v1/', status: 500, body, times: 10_000 }]);
			const failed = await whenFailed(lab(), id, /^The service failed \(500\): lifelogs on /);
			assert.match(String(failed.error?.description), /out of order/);
			await control().addLifelog({ title: 'new in the dark' });
			await control().faults([]);
			const items = await whenEmittedBy('lifelogCreatedOrUpdated', before.length + 1);
			assert.deepEqual(changes(items.slice(before.length)), ['created new in the dark']);
		});

		test("a deactivated workflow doesn't poll", async () => {
			for (const id of Object.values(workflows)) await lab().rest.deactivate(id);
			await anotherPoll(everyS);
			await control().clearRequests();
			await anotherPoll(everyS);
			assert.deepEqual(await control().requests(), []);
		});

		test('activation with a refused key fails and says so', async () => {
			const data = { apiKey: 'wrong', baseUrl: lab().sandbox.url };
			const lifelogApi = await lab().rest.createCredential('lifelogApi', data, 'Another key');
			const other = { ...lab(), credentials: { lifelogApi } };
			const activation = activateTrigger(other, { event: 'lifelogCreated' });
			await assert.rejects(activation, /The API key was refused/);
		});
	});
}
