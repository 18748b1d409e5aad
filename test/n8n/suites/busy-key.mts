// Ten minutes in which a workflow reads as fast as the documented rate limit allows, beside a trigger
// that polls each minute with the same key: in one process, and in queue mode, where the two share
// nothing but the key. test/nodes/busy-key.soak.mts has the hour, in simulated time.
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { byId, workflowWith } from '../../support/workflow.mts';
import { activateWhile, startLab, type Lab } from '../support/lab.mts';
import { startQueueLab } from '../support/queue.mts';
import { triggerWorkflow } from '../support/trigger.mts';

const MINUTE_MS = 60_000;
const LIMIT = 180;
const MINUTES = 10;
/** What is left of the limit is more than a trigger asks for. */
const READS = MINUTES * LIMIT - 60;
/** All minutes but the last have to pass. */
const MIN_MS = (MINUTES - 1) * MINUTE_MS;
const NEW_EVERY_MS = 1.5 * MINUTE_MS;
const LATEST_MS = 2 * MINUTE_MS;
/** What n8n may take to start an execution of what a poll has found. */
const START_MS = 10_000;

const labs: Array<{ mode: string; start: () => Promise<Lab>; lab?: Lab }> = [
	{ mode: 'one process', start: async () => await startLab() },
	{ mode: 'queue mode', start: async () => await startQueueLab({ workers: 1, concurrency: 5 }) },
];

before(async () => {
	for (const each of labs) each.lab = await each.start();
});
after(async () => {
	for (const { lab } of labs) await lab?.close();
});

/** Reads a lifelog once for each entry of what a webhook is sent. */
function readingWorkflow({ credentials }: Lab): WorkflowJson {
	const builtIn = (name: string, type: string, parameters: INode['parameters']): INode => ({
		...{ id: name, name, type: `n8n-nodes-base.${type}`, typeVersion: 1, position: [0, 0] },
		parameters,
	});
	const webhook = { path: 'busy', httpMethod: 'POST', responseMode: 'onReceived' };
	const [, read] = workflowWith(
		'lifelog',
		{ operation: 'get', lifelogId: byId('={{ $json.id }}') },
		{ credentials },
	).nodes;
	return {
		nodes: [
			{ ...builtIn('Webhook', 'webhook', webhook), typeVersion: 2, webhookId: 'busy' },
			builtIn('Split', 'splitOut', {
				fieldToSplitOut: 'body.ids',
				options: { destinationFieldName: 'id' },
			}),
			read,
		],
		connections: {
			Webhook: { main: [[{ node: 'Split', type: 'main', index: 0 }]] },
			Split: { main: [[{ node: 'Node', type: 'main', index: 0 }]] },
		},
		settings: { executionOrder: 'v1' },
	};
}

/** Activates a Lifelog Trigger that polls once a minute. */
async function activateMinutely(lab: Lab, context: TestContext): Promise<string> {
	const workflow = triggerWorkflow(lab, { event: 'lifelogCreated' });
	workflow.nodes[0].parameters.pollTimes = { item: [{ mode: 'everyMinute' }] };
	const { id } = await lab.rest.createWorkflow(workflow);
	await activateWhile(context, lab, id);
	return id;
}

/** Starts the reading; gives when it began and whether it has ended. */
async function startReading(lab: Lab, context: TestContext) {
	const { rest, n8n, sandbox } = lab;
	const [{ id: lifelog }] = await sandbox.control.lifelogs();
	const { id } = await rest.createWorkflow(readingWorkflow(lab));
	await activateWhile(context, lab, id);
	const began = Date.now();
	const response = await fetch(`${n8n.url}/webhook/busy`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ ids: Array.from({ length: READS }, () => lifelog) }),
	});
	assert.equal(response.status, 200);
	const isOver = async () => {
		const [execution] = await rest.executions(id);
		return execution !== undefined && ['success', 'error'].includes(execution.status);
	};
	const execution = async () => await rest.execution((await rest.executions(id))[0].id);
	return { began, isOver, execution };
}

/** When the trigger has started an execution for each of its events, by ID, in epoch ms. */
async function startsOf({ rest }: Lab, workflowId: string): Promise<Map<string, number>> {
	const starts = new Map<string, number>();
	for (const { id } of await rest.executions(workflowId)) {
		const { error, json, runData } = await rest.execution(id);
		assert.equal(error?.message, undefined);
		for (const item of json('Node')) {
			assert.ok(!starts.has(item.id as string), `${item.id} came twice`);
			starts.set(item.id as string, runData.Node[0].startTime);
		}
	}
	return starts;
}

describe('while a workflow reads as fast as the rate limit allows', { concurrency: true }, () => {
	for (const each of labs) {
		test(`no poll fails, and each event arrives within two minutes: ${each.mode}`, async (context) => {
			const lab = each.lab!;
			const { control } = lab.sandbox;
			await control.dialect({ rateLimit: { max: LIMIT, windowMs: MINUTE_MS } });
			const trigger = await activateMinutely(lab, context);
			await control.clearRequests();

			const reading = await startReading(lab, context);
			const added = new Map<string, number>();
			while (!(await reading.isOver())) {
				const sinceMs = Date.now() - reading.began;
				if (sinceMs >= added.size * NEW_EVERY_MS && sinceMs < MIN_MS - LATEST_MS) {
					const { id } = await control.addLifelog();
					added.set(id, Date.now());
				}
				assert.ok(sinceMs < 2 * MIN_MS, 'The reading has not ended');
				await sleep(1000);
			}
			const { status, items } = await reading.execution();
			assert.equal(status, 'success');
			assert.equal(items('Node').length, READS);
			const requests = await control.requests();
			const read = requests.filter(
				({ path, status }) => status === 200 && path.startsWith('/v1/lifelogs/'),
			);
			const tookMs = read[READS - 1].at - read[0].at;

			const starts = await startsOf(lab, trigger);
			assert.deepEqual([...starts.keys()].sort(), [...added.keys()].sort());
			const delays = [...added].map(([id, at]) => starts.get(id)! - at);
			const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`;
			context.diagnostic(
				`${READS} requests in ${seconds(tookMs)}, at the least ${seconds(MIN_MS)}; ${added.size} events, the latest after ${seconds(Math.max(...delays))}`,
			);
			assert.ok(added.size >= 4);
			assert.ok(Math.max(...delays) <= LATEST_MS + START_MS);
			// A machine that takes longer for a request than the limit asks for isn't the trigger's.
			const gaps = read.slice(1).map(({ at }, nth) => at - read[nth].at);
			const medianMs = gaps.sort((a, b) => a - b)[gaps.length >> 1];
			const dueMs = Math.max(MIN_MS, READS * medianMs);
			assert.ok(tookMs <= 1.1 * dueMs, `the reading took ${seconds(tookMs)}`);
		});
	}
});
