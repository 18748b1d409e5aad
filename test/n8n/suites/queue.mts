// Queue mode: a main process, two workers, Redis and PostgreSQL, which share nothing but one key and its
// rate limit. test/nodes/busy-key.soak.mts has an hour at the limit, in simulated time.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import type { WorkflowJson } from '../../support/engine.mts';
import type { LoggedRequest } from '../../support/sandbox.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { startQueueLab, type QueueLab } from '../support/queue.mts';
import { activateWhile } from '../support/lab.mts';
import { startEventServer } from '../support/eventServer.mts';
import type { Execution } from '../support/rest.mts';
import {
	activateTrigger,
	anotherPoll,
	emitted,
	pollTimesEvery,
	whenEmitted,
} from '../support/trigger.mts';

const WORKERS = 2;
const EXECUTIONS = 30;
const REQUESTS = 400;
/** The limit of the service, in a shorter time. */
const RATE_LIMIT = { max: 180, windowMs: 10_000 };
/** When the last request can be answered at the earliest: in which window it falls. */
const MIN_MS = (Math.ceil(REQUESTS / RATE_LIMIT.max) - 1) * RATE_LIMIT.windowMs;
const TIMEOUT_MS = 240_000;
const AUDIO_MS = 60_000;

/** A limit that a workflow reaches for some windows. */
const BUSY_LIMIT = { max: 30, windowMs: 15_000 };
const BUSY_WINDOWS = 6;
/** What is left of the limit is more than a trigger asks for. */
const BUSY_READS = BUSY_WINDOWS * BUSY_LIMIT.max - 20;
/** All windows but the last have to pass. */
const BUSY_MIN_MS = (BUSY_WINDOWS - 1) * BUSY_LIMIT.windowMs;
const NEW_EVERY_MS = 8_000;
/** An event can wait a window for the next poll, and a poll two for its place in the limit. */
const FOUND_MS = 3 * BUSY_LIMIT.windowMs;

let lab: QueueLab;

before(async () => {
	const sandbox = ['--days', '7'];
	lab = await startQueueLab({ workers: WORKERS, concurrency: EXECUTIONS / WORKERS, sandbox });
	await lab.sandbox.control.dialect({ rateLimit: RATE_LIMIT });
});
after(async () => await lab?.close());

/** What one execution is to do: a request for each lifelog to read, one delete, one download. */
interface Task {
	read: string[];
	remove: string;
	audio: { start: number; end: number };
}

/** Tasks of so many requests in all; what is deleted is read by none. */
function planTasks(lifelogs: Lifelog[]): Task[] {
	const removed = lifelogs.slice(0, EXECUTIONS);
	const kept = lifelogs.slice(EXECUTIONS);
	const reads = REQUESTS - 2 * EXECUTIONS;
	return removed.map(({ id: remove }, index) => {
		const from = Math.floor((index * reads) / EXECUTIONS);
		const to = Math.floor(((index + 1) * reads) / EXECUTIONS);
		const read = Array.from(
			{ length: to - from },
			(_, offset) => kept[(from + offset) % kept.length].id,
		);
		const start = Date.parse(kept[index].startTime);
		return { read, remove, audio: { start, end: start + AUDIO_MS } };
	});
}

/** Webhook, one item for each lifelog, Read, Delete and Audio. */
function taskWorkflow(): WorkflowJson {
	const node = (name: string, type: string, parameters: IDataObject): INode => ({
		...workflowWith(type, parameters, { credentials: lab.credentials }).nodes[1],
		id: name,
		name,
	});
	const task = (expression: string) => `={{ $('Webhook').first().json.body.${expression} }}`;
	const read = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
	const remove = { operation: 'delete', lifelogIdToDelete: byId(task('remove')) };
	const range = { start: task('audio.start'), end: task('audio.end') };
	const audio = { operation: 'download', source: 'timeRange', ...range };
	return chainOf('task', [
		node('Read', 'lifelog', read),
		{ ...node('Delete', 'lifelog', remove), executeOnce: true },
		{ ...node('Audio', 'lifelogAudio', audio), executeOnce: true },
	]);
}

/** Starts nodes, one after the other, by a webhook: an item for each ID in the field `read` it is sent. */
function chainOf(path: string, steps: INode[]): WorkflowJson {
	const builtIn = (name: string, type: string, parameters: IDataObject): INode => ({
		...{ id: name, name, type: `n8n-nodes-base.${type}`, typeVersion: 1, position: [0, 0] },
		parameters: parameters as INode['parameters'],
	});
	const webhook = { path, httpMethod: 'POST', responseMode: 'onReceived' };
	const split = { fieldToSplitOut: 'body.read', options: { destinationFieldName: 'id' } };
	const nodes = [
		{ ...builtIn('Webhook', 'webhook', webhook), typeVersion: 2, webhookId: path },
		builtIn('Split', 'splitOut', split),
		...steps,
	];
	const connections = Object.fromEntries(
		nodes
			.slice(1)
			.map(({ name }, index) => [
				nodes[index].name,
				{ main: [[{ node: name, type: 'main' as const, index: 0 }]] },
			]),
	);
	return { nodes, connections, settings: { executionOrder: 'v1' } };
}

/** Sends a webhook what it is to do. */
async function send(path: string, body: object): Promise<void> {
	const response = await fetch(`${lab.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
	assert.equal(response.status, 200);
}

/** Waits until all executions of the workflow have ended. */
async function whenAllEnded(workflowId: string): Promise<Execution[]> {
	const deadline = Date.now() + TIMEOUT_MS;
	for (;;) {
		const executions = await lab.rest.executions(workflowId);
		const ended = executions.filter(({ status }) => status === 'success' || status === 'error');
		if (ended.length === EXECUTIONS) break;
		if (Date.now() > deadline) {
			throw new Error(`${ended.length} of ${EXECUTIONS} executions have ended in time`);
		}
		await sleep(500);
	}
	const executions = await lab.rest.executions(workflowId);
	return await Promise.all(executions.map(async ({ id }) => await lab.rest.execution(id)));
}

/** How often each request was answered with success: `GET /v1/lifelogs/<id>`. */
function successes(requests: LoggedRequest[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const { method, path, status } of requests) {
		if (status !== 200) continue;
		const request = `${method} ${path}`;
		counts.set(request, (counts.get(request) ?? 0) + 1);
	}
	return counts;
}

/** What {@link successes} must be. */
function expectedSuccesses(tasks: Task[]): Map<string, number> {
	return successes(
		tasks
			.flatMap(({ read, remove }) => [
				...read.map((id) => ['GET', `/v1/lifelogs/${id}`]),
				['DELETE', `/v1/lifelogs/${remove}`],
				['GET', '/v1/download-audio'],
			])
			.map(([method, path]) => ({ method, path, status: 200 }) as LoggedRequest),
	);
}

const sorted = (counts: Map<string, number>) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));

test('30 executions at once share one rate limit on two workers', async (context) => {
	const { rest, sandbox } = lab;
	const tasks = planTasks(await sandbox.control.lifelogs());
	const { id } = await rest.createWorkflow(taskWorkflow());
	await activateWhile(context, lab, id);
	await sandbox.control.clearRequests();
	// Two workers that are slow don't reach the limit.
	const body = { error: 'slow', retryAfter: '1' };
	await sandbox.control.faults([{ skip: 20, status: 429, body }]);

	const began = Date.now();
	await Promise.all(tasks.map(async (task) => await send('task', task)));
	const executions = await whenAllEnded(id);
	const requests = await sandbox.control.requests();
	report(context, requests, began);

	assert.deepEqual(
		executions.filter(({ status }) => status !== 'success').map(({ error }) => error?.message),
		[],
	);
	assert.deepEqual(sorted(successes(requests)), sorted(expectedSuccesses(tasks)));
	assert.deepEqual([...new Set(requests.map(({ status }) => status))].sort(), [200, 429]);
	checkOutputs(executions, tasks);
	await checkRemoved(tasks);
	await checkAudio(executions[0]);
	const ids = executions.map((execution) => execution.id);
	const shares = lab.executions.map((started) => ids.filter((each) => started.has(each)).length);
	assert.equal(
		shares.reduce((sum, share) => sum + share),
		EXECUTIONS,
	);
	assert.ok(Math.min(...shares) >= EXECUTIONS / WORKERS / 3, `shares: ${shares.join(', ')}`);
});

test('the trigger runs workflows on the workers, once for each change', async (t) => {
	const { control } = lab.sandbox;
	await control.dialect({ rateLimit: { max: 10_000 } });
	const workflow = await activateTrigger(lab, { event: 'lifelogCreatedOrUpdated' }, t);
	const { id } = await control.addLifelog({ title: 'new' });
	const items = async () => await emitted(lab, workflow);
	await whenEmitted(items, 1);
	await control.updateLifelog(id, { title: 'changed' });
	await whenEmitted(items, 2);
	await anotherPoll();
	assert.deepEqual(
		(await items()).map(({ changeType, title }) => `${changeType} ${title}`),
		['created new', 'updated changed'],
	);
	const ran = lab.executions.flatMap((started) => [...started]);
	for (const execution of await lab.rest.executions(workflow)) {
		assert.ok(ran.includes(execution.id));
	}
});

test('while a workflow reads as fast as the rate limit allows, no poll fails, and each event is found while it reads', async (context) => {
	const { rest, credentials } = lab;
	const { control } = lab.sandbox;
	const pollTimes = pollTimesEvery(BUSY_LIMIT.windowMs / 1000);
	await control.dialect({ rateLimit: { max: 10_000 } });
	const trigger = await activateTrigger(lab, { event: 'lifelogCreated', pollTimes }, context);
	const { nodes } = workflowWith(
		'lifelog',
		{ operation: 'get', lifelogId: byId('={{ $json.id }}') },
		{ credentials },
	);
	const { id } = await rest.createWorkflow(chainOf('busy', [nodes[1]]));
	await activateWhile(context, lab, id);
	const lifelog = (await control.lifelogs()).at(-1)!.id;
	await control.dialect({ rateLimit: BUSY_LIMIT });
	await control.clearRequests();

	const began = Date.now();
	await send('busy', { read: Array.from({ length: BUSY_READS }, () => lifelog) });
	const added = new Map<string, number>();
	for (;;) {
		const [execution] = await rest.executions(id);
		if (['success', 'error'].includes(execution?.status)) break;
		const sinceMs = Date.now() - began;
		if (sinceMs >= added.size * NEW_EVERY_MS && sinceMs < BUSY_MIN_MS - FOUND_MS) {
			added.set((await control.addLifelog()).id, Date.now());
		}
		assert.ok(sinceMs < TIMEOUT_MS, 'The reading has not ended');
		await sleep(1000);
	}
	const reading = await rest.execution((await rest.executions(id))[0].id);
	assert.equal(reading.status, 'success');
	assert.equal(reading.items('Node').length, BUSY_READS);
	const requests = await control.requests();
	const successes = requests.filter(({ status }) => status === 200);
	const read = successes.filter(({ path }) => path === `/v1/lifelogs/${lifelog}`);
	const polls = successes.filter(({ path }) => path === '/v1/lifelogs').map(({ at }) => at);

	const items = await whenEmitted(async () => await emitted(lab, trigger), added.size);
	assert.deepEqual(items.map((item) => item.id).sort(), [...added.keys()].sort());
	const executions = await rest.executions(trigger);
	assert.deepEqual([...new Set(executions.map((execution) => execution.status))], ['success']);
	const ended = read.at(-1)!.at;
	const delays = [...added.values()].map((at) => polls.find((poll) => poll > at)! - at);
	const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`;
	context.diagnostic(
		`${BUSY_READS} requests in ${seconds(ended - read[0].at)}, at the least ${seconds(BUSY_MIN_MS)}; ${added.size} events, found after ${delays.map(seconds).join(', ')}`,
	);
	assert.ok(added.size >= 3);
	const missed = [...added].filter(([, at]) => !polls.some((poll) => poll > at && poll < ended));
	assert.deepEqual(missed, [], 'found by no poll before the reading had ended');
});

test('events of a lifelog-server start a workflow on the workers, each once', async (context) => {
	const LIFELOGS = 20;
	const server = await startEventServer();
	context.after(async () => await server.close());
	const data = { apiKey: server.apiKey, baseUrl: server.url };
	const lifelogApi = await lab.rest.createCredential('lifelogApi', data, 'Own server');
	const [, node] = workflowWith(
		'lifelogServerTrigger',
		{},
		{ credentials: { lifelogApi }, webhookId: 'queue-events' },
	).nodes;
	const { id } = await lab.rest.createWorkflow({ nodes: [node], connections: {} });
	await activateWhile(context, lab, id);
	const began = lab.executions.map(({ size }) => size);
	const titles = Array.from({ length: LIFELOGS }, (_, nth) => `event ${nth}`);
	await Promise.all(titles.map(async (title) => await server.create(title)));
	const read = async () => await emitted(lab, id);
	await whenEmitted(read, LIFELOGS);
	// What was sent twice would have come by then: it is sent again after a second.
	await sleep(5_000);
	const came = (await read()).map(({ title }) => title);
	assert.deepEqual(came.toSorted(), titles.toSorted());
	const ran = lab.executions.map(({ size }, worker) => size - began[worker]);
	assert.equal(ran[0] + ran[1], LIFELOGS);
});

/** Prints the figures. */
function report(context: TestContext, requests: LoggedRequest[], began: number): void {
	const last = Math.max(...requests.map(({ at }) => at));
	const refused = requests.filter(({ status }) => status === 429).length;
	const seconds = (ms: number) => (ms / 1000).toFixed(1);
	const limit = `${RATE_LIMIT.max} per ${RATE_LIMIT.windowMs / 1000} s`;
	context.diagnostic(
		`executions per worker: ${lab.executions.map(({ size }) => size).join(' and ')}`,
	);
	context.diagnostic(
		`requests: ${requests.length - refused} answered, ${refused} refused with 429 (limit: ${limit})`,
	);
	context.diagnostic(
		`last request after ${seconds(last - began)} s, at the earliest ${seconds(MIN_MS)} s`,
	);
}

/** Every execution gave what its own task asked for, once. */
function checkOutputs(executions: Execution[], tasks: Task[]): void {
	const outputs = executions.map(({ json }) => ({
		read: json('Read').map((lifelog) => lifelog.id),
		remove: json('Delete').map((deleted) => deleted.id),
		audio: json('Audio').map(({ startMs, endMs }) => ({ start: startMs, end: endMs })),
	}));
	const expected = tasks.map(({ read, remove, audio }) => ({
		read,
		remove: [remove],
		audio: [audio],
	}));
	const byDeleted = (a: { remove: unknown[] }, b: { remove: unknown[] }) =>
		String(a.remove[0]) < String(b.remove[0]) ? -1 : 1;
	assert.deepEqual(outputs.sort(byDeleted), expected.sort(byDeleted));
}

/** What was to be deleted is gone, and nothing else. */
async function checkRemoved(tasks: Task[]): Promise<void> {
	const left = new Set((await lab.sandbox.control.lifelogs()).map(({ id }) => id));
	for (const { read, remove } of tasks) {
		assert.ok(!left.has(remove));
		for (const id of read) assert.ok(left.has(id));
	}
}

/** The main process hands out what a worker stored. */
async function checkAudio({ items }: Execution): Promise<void> {
	const { url, apiKey, control } = lab.sandbox;
	await control.dialect({ rateLimit: { max: 10_000 } });
	const [item] = items('Audio');
	assert.match(String(item.binary!.data.id), /^database:/);
	const stored = await (await lab.rest.binary(item)).arrayBuffer();
	const { startMs, endMs } = item.json;
	const direct = await fetch(`${url}/v1/download-audio?startMs=${startMs}&endMs=${endMs}`, {
		headers: { 'x-api-key': apiKey },
	});
	assert.ok(Buffer.from(stored).equals(Buffer.from(await direct.arrayBuffer())));
}
