// The trigger on n8n's engine: what it registers with the server, and what it makes of a delivery.
import type { IDataObject, INode } from 'n8n-workflow';
import { EventService } from '../../support/eventService.mts';
import { engineAt, startLabAt } from '../../support/lab.mts';
import { startSandbox } from '../../support/sandbox.mts';
import { serve } from '../../support/serve.mts';
import { use } from '../../support/useNode.mts';
import { WebhookHost } from '../../support/webhookHost.mts';
import { workflowWith } from '../../support/workflow.mts';
import { asksForWait, REFUSED } from '../../support/messages.mts';

const warnings: string[] = [];
const lab = use(async () => {
	const onWarning = (message: string) => void warnings.push(message);
	return await startLabAt(await EventService.start(), { onWarning });
});
let host: WebhookHost;

beforeEach(async () => {
	lab.service.reset();
	warnings.length = 0;
	host = await WebhookHost.start(lab.engine);
	lab.service.lifelogs.set('a1', lifelog);
});

afterEach(async () => await host.close());

const lifelog: IDataObject & { id: string } = {
	id: 'a1',
	title: 'Planning the garden',
	startTime: '2026-03-01T08:00:00.000Z',
	endTime: '2026-03-01T08:24:10.000Z',
	updatedAt: '2026-03-01T09:00:00.000Z',
	isStarred: false,
	markdown: '# Planning the garden',
	contents: [],
};

/** The trigger's node, as the editor makes one. */
function trigger(parameters: IDataObject = {}, more: Partial<INode> = {}): INode {
	const [, node] = workflowWith('lifelogServerTrigger', parameters, {
		webhookId: '4c1b2c9e-70ab-4d0e-9a1e-5f1f3a6a7b01',
		...more,
	}).nodes;
	return node;
}

const created = { type: 'lifelog.created', data: { id: 'a1' } };
/** Requests to register and to end it, without those of deliveries. */
const registrations = () => lab.service.requests.filter((line) => line.includes('webhooks'));
const thrown = async (promise: Promise<unknown>) =>
	await promise.then(
		() => undefined,
		(error: unknown) => {
			const { message, description } = error as Error & { description?: string };
			return `${message} | ${description}`;
		},
	);

describe('a workflow that is active', () => {
	test('is registered at its address for the events that are chosen', async () => {
		const path = await host.activate(trigger({ events: ['recording.failed', 'lifelog.created'] }));
		const { secret, id, ...webhook } = lab.service.only();
		expect(webhook).toEqual({
			url: `${host.url}${path}`,
			types: ['lifelog.created', 'recording.failed'],
			description: 'n8n: Node',
			status: 'active',
		});
		expect(path).toBe('/webhook/4c1b2c9e-70ab-4d0e-9a1e-5f1f3a6a7b01/webhook');
		expect(host.saved).toEqual({ 'node:Node': { webhook: { id, secret, url: webhook.url } } });
		expect(host.started).toEqual([]);
	});

	test("answers the server's first test before its secret is saved, so that it counts as reached", async () => {
		await host.activate(trigger());
		expect(lab.service.reached).toEqual([{ status: 401 }]);
		expect(warnings).toEqual([]);
		expect(await lab.service.deliver({ type: 'webhook.test', data: {} })).toBe(200);
		expect(host.started).toEqual([]);
	});

	test('stays registered when n8n starts again', async () => {
		await host.activate(trigger());
		const { secret } = lab.service.only();
		await host.activate(trigger());
		expect(registrations()).toEqual(['POST /v1/webhooks', 'GET /v1/webhooks']);
		expect(lab.service.only().secret).toBe(secret);
	});

	test.each<[string, (node: INode) => INode | void]>([
		['its events changed', () => trigger({ events: ['lifelog.deleted'] })],
		['it was removed on the page', () => lab.service.webhooks.clear()],
		['it was paused', () => void (lab.service.only().status = 'paused')],
		['its address changed', () => trigger({}, { webhookId: 'another' })],
	])('is registered again if %s', async (_what, change) => {
		await host.activate(trigger());
		await host.activate(change(trigger()) ?? trigger());
		const [webhook] = [...lab.service.webhooks.values()].slice(-1);
		expect(webhook.status).toBe('active');
		expect(await lab.service.deliver({ ...created, type: webhook.types[0] }, webhook)).toBe(200);
		expect(host.started).toHaveLength(1);
	});

	test('is registered for one event more, or one less, once that is chosen', async () => {
		const one = ['lifelog.created'];
		const two = ['lifelog.created', 'lifelog.deleted'];
		for (const events of [one, two, one]) {
			await host.activate(trigger({ events }));
			expect(lab.service.only().types).toEqual(events);
		}
	});

	test('ends its registration when it is deactivated', async () => {
		const node = trigger();
		await host.activate(node);
		await host.deactivate(node);
		expect(lab.service.webhooks.size).toBe(0);
		expect(host.saved).toEqual({ 'node:Node': {} });
	});

	test('ends well if the registration is gone', async () => {
		const node = trigger();
		await host.activate(node);
		lab.service.webhooks.clear();
		await host.deactivate(node);
		expect(host.saved).toEqual({ 'node:Node': {} });
	});

	test('keeps what it knows if the server is away while it ends', async () => {
		const node = trigger();
		await host.activate(node);
		const { saved } = host;
		lab.service.fault = () => ({ status: 503, body: {} });
		expect(await thrown(host.deactivate(node))).toMatch(/^The service failed \(503\): webhook/);
		expect(host.saved).toEqual(saved);
	});

	test('stays registered if n8n starts while the server is away, which is back as n8n clears up', async () => {
		const node = trigger();
		await host.activate(node);
		const { saved } = host;
		lab.service.fault = (method) => (method === 'GET' ? { status: 503, body: {} } : undefined);
		expect(await thrown(host.activate(node))).toMatch(/^The service failed \(503\): webhooks/);
		expect(host.saved).toEqual(saved);
		lab.service.fault = () => undefined;
		expect(await lab.service.deliver(created)).toBe(200);
		await host.activate(node);
		expect(registrations().filter((line) => !line.startsWith('GET'))).toEqual([
			'POST /v1/webhooks',
		]);
		await host.deactivate(node);
		expect(lab.service.webhooks.size).toBe(0);
	});

	test('stays registered if the server fails while n8n registers it again', async () => {
		const node = trigger();
		await host.activate(node);
		const { saved } = host;
		lab.service.only().status = 'paused';
		lab.service.fault = (method) => (method === 'POST' ? { status: 503, body: {} } : undefined);
		expect(await thrown(host.activate(node))).toMatch(/^The service failed \(503\): webhook/);
		expect([lab.service.webhooks.size, host.saved]).toEqual([1, saved]);
		lab.service.fault = () => undefined;
		await host.activate(node);
		expect(lab.service.only().status).toBe('active');
		await host.deactivate(node);
		expect(lab.service.webhooks.size).toBe(0);
	});

	test('has the secret of the server again after an answer with a new one was lost', async () => {
		const node = trigger();
		await host.activate(node);
		const webhook = lab.service.only();
		webhook.status = 'paused';
		lab.service.fault = (method) => {
			if (method !== 'POST') return undefined;
			Object.assign(webhook, { status: 'active', secret: `${webhook.secret.slice(0, -4)}AAA=` });
			return { status: 503, body: {} };
		};
		expect(await thrown(host.activate(node))).toMatch(/^The service failed \(503\): webhook/);
		lab.service.fault = () => undefined;
		await host.activate(node);
		expect(await lab.service.deliver(created)).toBe(200);
	});

	test('that was copied with the data of another leaves the other registered', async () => {
		await host.activate(trigger());
		const { id } = lab.service.only();
		const copy = trigger({}, { webhookId: 'copy' });
		await host.activate(copy);
		expect([...lab.service.webhooks.keys()]).toEqual([id, expect.any(String)]);
		await host.deactivate(copy);
		expect([...lab.service.webhooks.keys()]).toEqual([id]);
	});

	test('that was copied and never registered leaves the other registered when it ends', async () => {
		await host.activate(trigger());
		await host.deactivate(trigger({}, { webhookId: 'copy' }));
		expect(lab.service.webhooks.size).toBe(1);
	});
});

describe('the address', () => {
	test.each([
		['http://n8n:5678', 'http://n8n:5678/webhook/'],
		['http://n8n:5678/', 'http://n8n:5678/webhook/'],
		['https://n8n.example.com/behind/', 'https://n8n.example.com/behind/webhook/'],
	])("is n8n's Address, if that is set: %s", async (address, start) => {
		lab.service.fault = (method) => (method === 'POST' ? registeredAnyway : undefined);
		await host.activate(trigger({ options: { address } }));
		const { webhook } = host.saved['node:Node'] as { webhook: IDataObject };
		expect(webhook.url).toBe(`${start}4c1b2c9e-70ab-4d0e-9a1e-5f1f3a6a7b01/webhook`);
	});

	const registeredAnyway = {
		status: 201,
		body: { data: { webhook: { id: 'w', secret: 'whsec_AAAA' }, reached: { status: 401 } } },
	};

	test('has no path of a proxy that n8n does not know', async () => {
		lab.service.fault = (method) => (method === 'POST' ? registeredAnyway : undefined);
		Object.assign(host, { url: 'https://example.com/n8n' });
		await host.activate(trigger({ options: { address: 'http://n8n:5678' } }));
		const node = trigger({ options: { address: 'http://n8n:5678' } }, { webhookId: undefined });
		await host.activate({ ...node, name: 'New lifelogs' });
		const urls = Object.values(host.saved).map(
			(saved) => (saved as { webhook: IDataObject }).webhook.url,
		);
		expect(urls).toEqual([
			'http://n8n:5678/webhook/4c1b2c9e-70ab-4d0e-9a1e-5f1f3a6a7b01/webhook',
			'http://n8n:5678/webhook/workflow/new%20lifelogs/webhook',
		]);
	});

	test.each([
		['n8n:5678', "'n8n's Address' is not a web address"],
		[
			'https://me:secret@n8n.example.com',
			"'n8n's Address' must be a plain address, without a user name, a query or a fragment",
		],
	])('is refused before anything is sent: %s', async (address, message) => {
		expect(await thrown(host.activate(trigger({ options: { address } })))).toContain(message);
		expect(lab.service.requests).toEqual([]);
	});

	test('that the server cannot reach is not kept', async () => {
		const { url, close } = await serve(() => undefined);
		await close();
		const node = trigger({ options: { address: url } });
		expect(await thrown(host.activate(node))).toBe(
			`lifelog-server can't reach n8n at ${url}: ${REFUSED}. Set the option 'n8n's Address' to one that it can reach, such as http://n8n:5678 | In Docker, this is the name of n8n's container. If others need that address too, set WEBHOOK_URL of n8n.`,
		);
		expect(lab.service.webhooks.size).toBe(0);
		expect(host.saved).toEqual({ 'node:Node': {} });
	});
});

describe('a registration that fails says what to do', () => {
	test.each([
		[403, 'The API key may only read', 'make a key for n8n'],
		[404, "This service doesn't have webhooks", "'Base URL'"],
		[405, "This service doesn't have webhooks", "'Base URL'"],
		[400, 'The service refused a parameter: not this address', 'Check the parameters'],
		[500, 'The service failed (500)', 'Try again later'],
	])('%d', async (status, message, advice) => {
		lab.service.fault = () => ({ status, body: { error: 'not this address' } });
		const error = await thrown(host.activate(trigger()));
		expect(error).toContain(message);
		expect(error).toContain(advice);
		expect(error).not.toContain('Nothing is lost');
	});

	test('at a service without webhooks', async () => {
		const sandbox = await startSandbox({ days: 1 });
		const engine = await engineAt({ url: sandbox.url });
		const other = await WebhookHost.start(engine);
		expect(await thrown(other.activate(trigger()))).toContain("doesn't have webhooks");
		await Promise.all([other.close(), engine.close(), sandbox.close()]);
	});

	test.each<[string, IDataObject]>([
		['nothing', {}],
		['no secret', { data: { webhook: { id: 'w' } } }],
		['no ID', { data: { webhook: { secret: 'whsec_AAAA' } } }],
	])('an answer with %s', async (_what, body) => {
		lab.service.fault = (method) => (method === 'POST' ? { status: 201, body } : undefined);
		const error = await thrown(host.activate(trigger()));
		expect(error).toContain('it has no ID and secret (data.webhook)');
		expect(error).not.toContain('whsec_');
	});

	test('with an output that cannot be used', async () => {
		const node = trigger({ options: { timezone: 'Mars/Olympus' } });
		expect(await thrown(host.activate(node))).toContain('There is no time zone "Mars/Olympus"');
		expect(lab.service.requests).toEqual([]);
	});

	test('without an event', async () => {
		expect(await thrown(host.activate(trigger({ events: [] })))).toBe(
			"'Trigger On' is empty | Choose at least one event.",
		);
		expect(lab.service.requests).toEqual([]);
	});
});

describe('a delivery', () => {
	const all = [
		'lifelog.created',
		'lifelog.deleted',
		'lifelog.updated',
		'recording.completed',
		'recording.failed',
	];
	const recording = { id: 'rec-1', status: 'failed', fileName: 'memo.m4a', error: 'No words' };

	test.each([
		['lifelog.created', 'a1', { ...simplified(), event: 'lifelog.created' }],
		['lifelog.updated', 'a1', { ...simplified(), event: 'lifelog.updated' }],
		['lifelog.deleted', 'gone', { id: 'gone', event: 'lifelog.deleted' }],
		['recording.completed', 'rec-1', { ...recording, event: 'recording.completed' }],
		['recording.failed', 'rec-1', { ...recording, event: 'recording.failed' }],
	])('of %s starts the workflow with what it is about', async (type, id, json) => {
		lab.service.recordings.set('rec-1', recording);
		await host.activate(trigger({ events: all }));
		expect(await lab.service.deliver({ type, data: { id } })).toBe(200);
		expect(host.started).toEqual([json]);
	});

	function simplified(): IDataObject {
		const { id, title, startTime, endTime, isStarred } = lifelog;
		return { id, title, startTime, endTime, isStarred, headings: [], excerpt: '' };
	}

	test('has the output that is chosen', async () => {
		const fields = ['title', 'durationMs'];
		await host.activate(trigger({ output: 'selectedFields', fields }));
		await lab.service.deliver(created);
		const durationMs = 1_450_000;
		const { id, title } = lifelog;
		expect(host.started).toEqual([{ id, title, durationMs, event: 'lifelog.created' }]);
	});

	test('asks for the parts and the time zone that are chosen', async () => {
		const queries: string[] = [];
		const options = { includeMarkdown: false, includeContents: true, timezone: 'Asia/Tokyo' };
		await host.activate(trigger({ output: 'raw', options }));
		lab.service.onQuery = (query) => void queries.push(query);
		await lab.service.deliver(created);
		expect(queries).toEqual([
			'?timezone=Asia%2FTokyo&includeMarkdown=false&includeHeadings=true&includeContents=true',
		]);
	});

	test.each([
		['a forged body', { forged: '{"type":"lifelog.deleted","data":{"id":"a1"}}' }],
		['another secret', { secret: 'whsec_AAAA' }],
		['a clock that is 6 minutes late', { lateS: 360 }],
		['a clock that is 6 minutes ahead', { lateS: -360 }],
	])('with %s is refused without a request, a workflow or a failure', async (_what, wrong) => {
		await host.activate(trigger({ events: all }));
		lab.service.requests.length = 0;
		warnings.length = 0;
		expect(await lab.service.deliver({ ...created, ...wrong })).toBe(401);
		expect([host.started, host.failures, lab.service.requests]).toEqual([[], [], []]);
		expect(warnings).toEqual([expect.stringMatching(/^A delivery to "Node" was refused: Its /)]);
	});

	test('that comes again starts nothing, as long as it is one of the last 100', async () => {
		lab.service.lifelogs.set('a1', lifelog);
		await host.activate(trigger());
		const send = async (id: string) => await lab.service.deliver({ ...created, id });
		for (let nth = 0; nth <= 100; nth++) expect(await send(`msg-${nth}`)).toBe(200);
		expect(host.started).toHaveLength(101);
		for (const id of ['msg-1', 'msg-100']) expect(await send(id)).toBe(200);
		expect(host.started).toHaveLength(101);
		await send('msg-0');
		expect(host.started).toHaveLength(102);
	});

	test('that could not be read is a failed execution, and comes again', async () => {
		await host.activate(trigger());
		const again = { ...created, id: 'msg-again' };
		lab.service.fault = (method) => (method === 'GET' ? { status: 500, body: {} } : undefined);
		expect(await lab.service.deliver(again)).toBe(500);
		const [{ message, description }] = host.failures as Array<Error & { description: string }>;
		expect(message).toBe('The service failed (500): lifelog "a1"');
		expect(description).toContain('Nothing is lost: lifelog-server sends the event again.');
		lab.service.fault = () => undefined;
		expect(await lab.service.deliver(again)).toBe(200);
		expect(host.started.map(({ id }) => id)).toEqual(['a1']);
	});

	test('about a lifelog that was deleted meanwhile starts nothing, and does not come again', async () => {
		await host.activate(trigger());
		expect(await lab.service.deliver({ ...created, data: { id: 'none' } })).toBe(200);
		expect([host.started, host.failures]).toEqual([[], []]);
	});

	test.each([
		['of an event that was not chosen', { type: 'lifelog.updated', data: { id: 'a1' } }],
		['of an event that comes later', { type: 'person.renamed', data: { id: 'p1' } }],
		['without an ID', { type: 'lifelog.created', data: {} }],
	])('%s starts nothing', async (_what, delivery) => {
		await host.activate(trigger());
		lab.service.requests.length = 0;
		expect(await lab.service.deliver(delivery)).toBe(200);
		expect([host.started, lab.service.requests]).toEqual([[], []]);
	});

	test('that would have to wait for the rate limit is left to the server', async () => {
		const key = 'busy';
		const engine = await engineAt({ url: lab.service.url, apiKey: key });
		const busy = await WebhookHost.start(engine);
		lab.service.apiKey = key;
		await busy.activate(trigger());
		lab.service.fault = () => ({ status: 429, body: { error: 'slow down', retryAfter: 60 } });
		expect(await lab.service.deliver(created)).toBe(500);
		const [{ message }] = busy.failures;
		expect(message).toBe(`${asksForWait('60 s')} (lifelog "a1")`);
		await Promise.all([busy.close(), engine.close()]);
	});

	test('to a workflow that is not active is not found', async () => {
		const node = trigger();
		await host.activate(node);
		const webhook = { ...lab.service.only() };
		await host.deactivate(node);
		expect(await lab.service.deliver(created, webhook)).toBe(404);
	});
});

describe('a test in the editor', () => {
	test('has a registration of its own, which ends with the first event', async () => {
		await host.activate(trigger());
		const { id, secret } = lab.service.only();
		const path = await host.listen(trigger());
		expect(path).toMatch(/^\/webhook-test\//);
		const [, ofTest] = lab.service.webhooks.values();
		expect(ofTest.url).toBe(`${host.url}${path}`);
		expect(await lab.service.deliver({ type: 'webhook.test', data: {} }, ofTest)).toBe(200);
		expect(host.started).toEqual([]);
		expect(await lab.service.deliver(created, ofTest)).toBe(200);
		expect(host.started.map(({ event }) => event)).toEqual(['lifelog.created']);
		expect([...lab.service.webhooks.values()].map((each) => [each.id, each.secret])).toEqual([
			[id, secret],
		]);
	});
});
