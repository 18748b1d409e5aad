// The trigger and a real lifelog-server, which signs with the library of Standard Webhooks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IDataObject, INode } from 'n8n-workflow';
import { startLabAt } from '../../support/lab.mts';
import { startLifelogServer } from '../../support/lifelogServer.mts';
import { freePorts } from '../../support/ports.mts';
import { until } from '../../support/soon.mts';
import { use } from '../../support/useNode.mts';
import { WebhookHost } from '../../support/webhookHost.mts';
import { workflowWith } from '../../support/workflow.mts';
import { REFUSED } from '../../support/messages.mts';

const folder = mkdtempSync(join(tmpdir(), 'lifelog-trigger-'));
const lab = use(async () => {
	const args = ['--allow-changes', '--allow-delete', '--webhook-pauses', '1'];
	return await startLabAt(await startLifelogServer(folder, args));
});
let host: WebhookHost;

beforeAll(async () => {
	host = await WebhookHost.start(lab.engine);
});
afterAll(async () => {
	await host.close();
	rmSync(folder, { recursive: true });
});

async function ask<T extends IDataObject>(method: string, path: string, body?: object): Promise<T> {
	const { url, apiKey } = lab.service;
	const response = await fetch(`${url}/v1/${path}`, {
		method,
		headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
		...(body && { body: JSON.stringify(body) }),
	});
	return ((await response.json()) as { data: T }).data;
}

const webhooks = async () =>
	(await ask<{ webhooks: Array<IDataObject & { types: string[] }> }>('GET', 'webhooks')).webhooks;

function trigger(parameters: IDataObject): INode {
	return workflowWith('lifelogServerTrigger', parameters, { webhookId: 'real' }).nodes[1];
}

const events = ['lifelog.created', 'lifelog.updated', 'lifelog.deleted'];

test('from the registration to its end', async () => {
	const node = trigger({ events });
	const path = await host.activate(node);
	const [webhook] = await webhooks();
	expect([webhook.url, [...webhook.types].sort(), webhook.status]).toEqual([
		`${host.url}${path}`,
		[...events].sort(),
		'active',
	]);
	await host.activate(node);
	expect(await webhooks()).toHaveLength(1);

	const transcript = [{ text: 'Did you water the tomatoes?', start: 0, end: 2 }];
	const startTime = '2026-03-01T08:04:12.000Z';
	const { lifelog } = await ask<{ lifelog: { id: string } }>('POST', 'lifelogs', {
		...{ startTime, transcript, title: 'Tomatoes' },
	});
	await until(() => host.started.length === 1);
	await ask('PATCH', `lifelogs/${lifelog.id}`, { title: 'The tomatoes' });
	await until(() => host.started.length === 2);
	await ask('DELETE', `lifelogs/${lifelog.id}`);
	await until(() => host.started.length === 3);
	expect(host.started.map(({ id, title, event }) => ({ id, title, event }))).toEqual([
		{ id: lifelog.id, title: 'Tomatoes', event: 'lifelog.created' },
		{ id: lifelog.id, title: 'The tomatoes', event: 'lifelog.updated' },
		{ id: lifelog.id, title: undefined, event: 'lifelog.deleted' },
	]);
	expect(host.failures).toEqual([]);

	await host.deactivate(node);
	expect(await webhooks()).toEqual([]);
}, 60_000);

test("n8n's own address in capitals stays registered, with the secret that is known", async () => {
	const { url } = host;
	host.url = url.replace('http://127.0.0.1', 'HTTP://Localhost');
	const node = trigger({ events });
	await host.activate(node);
	const { saved } = host;
	await host.activate(node);
	expect(host.saved).toEqual(saved);
	await host.deactivate(node);
	host.url = url;
});

test('at an address that the server cannot reach, nothing stays registered', async () => {
	const [port] = await freePorts(1);
	const address = `http://127.0.0.1:${port}`;
	await expect(host.activate(trigger({ options: { address } }))).rejects.toThrow(
		`lifelog-server can't reach n8n at ${address}: ${REFUSED}`,
	);
	expect(await webhooks()).toEqual([]);
});

test('a secret that is lost is made again', async () => {
	const node = trigger({ events });
	await host.activate(node);
	const { saved } = host;
	host.saved = {};
	await host.activate(node);
	expect(host.saved).not.toEqual(saved);
	expect(await webhooks()).toHaveLength(1);
	await host.deactivate(node);
});
