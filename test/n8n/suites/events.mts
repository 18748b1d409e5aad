// Lifelog Server Trigger in n8n: lifelog-server calls it, whatever becomes of either of them meanwhile.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { freePorts } from '../../support/ports.mts';
import { until } from '../../support/soon.mts';
import { NEWEST, OLDEST } from '../install.mts';
import { startEventServer, type EventServer } from '../support/eventServer.mts';
import { importExample } from '../support/examples.mts';
import { startInternet, type Internet } from '../support/internet.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { SavedWorkflow } from '../support/rest.mts';
import { emitted, whenEmitted, whenFailed } from '../support/trigger.mts';
import { workflowWith } from '../../support/workflow.mts';
import { REFUSED } from '../../support/messages.mts';

const EVENTS = ['lifelog.created', 'lifelog.deleted'];
/** By which what the server sends again would have come: its first pauses are of seconds. */
const QUIET_MS = 5_000;

for (const version of [OLDEST, NEWEST]) {
	describe(`n8n ${version}`, () => {
		let lab: Lab;
		let server: EventServer;
		let workflow: SavedWorkflow;
		/** The examples run on the newest n8n. */
		const hasExamples = version === NEWEST;
		let internet: Internet | undefined;

		before(async () => {
			const slack = () => ({ ok: true, channel: 'C0LIFELOG', ts: '1772323200.000100' });
			if (hasExamples) internet = await startInternet({ 'slack.com': slack });
			server = await startEventServer();
			// Its address stays the same when it is started again.
			const [port] = await freePorts(1);
			const env = internet?.env;
			lab = await startLab({ version, port, env, sandbox: ['--days', '1'] });
			const data = { apiKey: server.apiKey, baseUrl: server.url };
			const lifelogApi = await lab.rest.createCredential('lifelogApi', data, 'Own server');
			lab.credentials = { lifelogApi };
			workflow = await lab.rest.createWorkflow(triggered());
			await lab.rest.activate(workflow.id);
		});
		after(async () => {
			try {
				await lab?.close();
			} finally {
				await server?.close();
				await internet?.close();
			}
		});

		/** A workflow of the trigger, as the editor makes one. */
		function triggered(
			parameters: IDataObject = {},
			webhookId: string = randomUUID(),
		): WorkflowJson {
			const { credentials } = lab;
			const node = workflowWith(
				'lifelogServerTrigger',
				{ events: EVENTS, ...parameters },
				{ credentials, webhookId },
			);
			return { nodes: [node.nodes[1]], connections: {}, settings: {} };
		}

		const urls = async () => (await server.webhooks()).map(({ url }) => url);
		const titles = async (id = workflow.id) =>
			(await emitted(lab, id)).map(({ title, id: ofLifelog, event }) =>
				event === 'lifelog.deleted' ? `${ofLifelog} deleted` : title,
			);
		const whenTitled = async (title: string, id = workflow.id) =>
			await whenEmitted(async () => {
				const items = await emitted(lab, id);
				return items.filter((item) => item.title === title);
			}, 1);

		test('is registered with its own address, which the server reached', async () => {
			const [webhook] = await server.webhooks();
			assert.match(webhook.url, new RegExp(`^${lab.n8n.url}/webhook/[\\w-]+/webhook$`));
			assert.deepEqual([webhook.types.toSorted(), webhook.status], [EVENTS, 'active']);
			assert.deepEqual(await titles(), []);
		});

		test('starts its workflow when a lifelog is created, and when one is deleted', async () => {
			const began = Date.now();
			const id = await server.create('one');
			const [item] = await whenTitled('one');
			assert.deepEqual([item.id, item.event], [id, 'lifelog.created']);
			const [{ lastDelivery }] = await server.webhooks();
			assert.equal(lastDelivery?.status, 200);
			assert.ok(Date.parse(lastDelivery.at) - began < 20_000);
			await server.remove(id);
			await whenEmitted(async () => await emitted(lab, workflow.id), 2);
			assert.deepEqual((await emitted(lab, workflow.id))[1], { id, event: 'lifelog.deleted' });
		});

		test('a request that is not signed starts nothing', async () => {
			const [{ url }] = await server.webhooks();
			const count = (await lab.rest.executions(workflow.id)).length;
			const body = JSON.stringify({ type: 'lifelog.deleted', data: { id: 'x' } });
			const type = { 'content-type': 'application/json' };
			const now = String(Math.floor(Date.now() / 1000));
			const forged = {
				'webhook-id': 'a',
				'webhook-timestamp': now,
				'webhook-signature': 'v1,AA==',
			};
			for (const headers of [type, { ...type, ...forged }]) {
				const response = await fetch(url, { method: 'POST', headers, body });
				assert.equal(response.status, 401);
				assert.match(await response.text(), /It is not signed|Its signature is wrong/);
			}
			assert.equal((await lab.rest.executions(workflow.id)).length, count);
		});

		test('the editor waits for one event, beside the workflow that is active', async () => {
			const { waitingForWebhook } = await lab.rest.call<{ waitingForWebhook?: boolean }>(
				'POST',
				`/workflows/${workflow.id}/run`,
				{ triggerToStartFrom: { name: 'Node' }, workflowData: workflow },
			);
			assert.equal(waitingForWebhook, true);
			assert.equal((await urls()).filter((url) => url.includes('/webhook-test/')).length, 1);
			const id = await server.create('tested');
			await whenEmitted(
				async () => (await emitted(lab, workflow.id)).filter((item) => item.id === id),
				2,
			);
			const modes = (await lab.rest.executions(workflow.id)).map(({ mode }) => mode);
			assert.deepEqual(
				modes.filter((mode) => mode === 'manual'),
				['manual'],
			);
			await until(async () => (await urls()).every((url) => !url.includes('/webhook-test/')));
		});

		test('a copy has a registration of its own', async () => {
			const copy = await lab.rest.createWorkflow(triggered());
			await lab.rest.activate(copy.id);
			await server.create('for both');
			await whenTitled('for both');
			await whenTitled('for both', copy.id);
			await lab.rest.deactivate(copy.id);
			assert.equal((await urls()).length, 1);
			await server.create('for the first');
			await whenTitled('for the first');
			assert.deepEqual(await titles(copy.id), ['for both']);
		});

		// n8n 2.0 hands the address over to the copy.
		if (version === NEWEST) {
			test('a copy with the same address is refused, and leaves the first as it is', async () => {
				const [{ webhookId }] = workflow.nodes;
				const copy = await lab.rest.createWorkflow(triggered({}, webhookId));
				await assert.rejects(lab.rest.activate(copy.id), /conflict|taken|already|path/i);
				assert.equal((await urls()).length, 1);
				await server.create('still for the first');
				await whenTitled('still for the first');
			});
		}

		test('an address that the server cannot reach is said, and not kept', async () => {
			const [port] = await freePorts(1);
			const address = `http://127.0.0.1:${port}`;
			const wrong = await lab.rest.createWorkflow(triggered({ options: { address } }));
			await assert.rejects(lab.rest.activate(wrong.id), ({ message }: Error) => {
				const problem = `lifelog-server can't reach n8n at ${address}: ${REFUSED}. Set the option 'n8n's Address' to one that it can reach`;
				assert.ok(message.includes(problem), message);
				return true;
			});
			assert.equal((await urls()).length, 1);
		});

		test('what happens while n8n is killed and away comes when it is back, once', async () => {
			await lab.restart('kill', async () => {
				await server.create('while n8n was away');
				await sleep(QUIET_MS);
			});
			await whenTitled('while n8n was away');
			await sleep(QUIET_MS);
			const came = (await titles()).filter((title) => title === 'while n8n was away');
			assert.equal(came.length, 1);
			assert.equal((await urls()).length, 1);
		});

		test('n8n starts while the server is away, and what happens then comes', async () => {
			await server.restart(async () => await lab.restart('stop'));
			await server.create('after both');
			await whenTitled('after both');
			await until(async () => (await urls()).length === 1);
		});

		test('the server is killed, and sends what it had not sent', async () => {
			const created = server.create('before the kill');
			await created;
			await server.restart();
			await whenTitled('before the kill');
			await server.create('after the kill');
			await whenTitled('after the kill');
		});

		test('what it may not read is a failed execution, and comes again', async () => {
			const data = { apiKey: 'wrong', baseUrl: server.url };
			const { id } = lab.credentials.lifelogApi as { id: string };
			const change = async (with_: IDataObject) =>
				await lab.rest.call('PATCH', `/credentials/${id}`, {
					...{ name: 'Own server', type: 'lifelogApi', data: with_ },
				});
			await change(data);
			await server.create('with another key');
			const failed = await whenFailed(lab, workflow.id, /^The API key was refused/);
			assert.match(String(failed.error?.description), /Nothing is lost/);
			await change({ ...data, apiKey: server.apiKey });
			await whenTitled('with another key');
		});

		if (hasExamples) {
			test('the examples post to Slack what has happened', async () => {
				const { rest } = lab;
				await rest.createCredential('slackApi', { accessToken: 'xoxb-test' }, 'Slack account');
				const examples = ['as-soon-as-ready', 'recording-failed'];
				const ids: string[] = [];
				for (const name of examples) ids.push((await importExample(lab, name)).id);
				for (const id of ids) await rest.activate(id);
				await server.create('Ferns & *tomatoes*');
				await server.uploadBroken('memo.m4a');
				const texts = () => internet!.sent('slack.com').map(({ body }) => String(body.text));
				await until(() => texts().length >= ids.length, 200);
				const [summary, failure] = texts().toSorted();
				assert.equal(summary, 'Ferns &amp; ∗tomatoes∗');
				assert.match(failure, /^The recording memo\.m4a failed: \S/);
				for (const id of ids) await rest.deactivate(id);
			});
		}

		test('ends its registration when it is deactivated', async () => {
			await lab.rest.deactivate(workflow.id);
			assert.deepEqual(await urls(), []);
		});
	});
}
