// The harness itself, with node types made up here.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ICredentialType, IDataObject, INode, INodeType } from 'n8n-workflow';
import {
	createEngine,
	loadPackage,
	standIn,
	type Engine,
	type WorkflowJson,
} from '../support/engine.mts';
import { serve, type Served } from '../support/serve.mts';

const echo: INodeType = {
	description: {
		...standIn('echo').description,
		outputs: `={{ $parameter.two ? ['main', 'main'] : ['main'] }}`,
		credentials: [{ name: 'headerApi', required: false }],
		properties: [
			{ displayName: 'Mode', name: 'mode', type: 'string', default: 'json' },
			{ displayName: 'URL', name: 'url', type: 'string', default: '' },
		],
	},
	methods: {
		listSearch: {
			async find(filter, paginationToken) {
				const value = this.getCurrentNodeParameter('mode') as string;
				return { results: [{ name: `${filter} ${paginationToken}`, value }] };
			},
		},
	},
	async execute() {
		const items = this.getInputData();
		switch (this.getNodeParameter('mode', 0)) {
			case 'fail':
				throw new Error('went wrong');
			case 'error item':
				return [items.map((item) => (item.json.bad ? { ...item, error: 'bad' as never } : item))];
			case 'wait':
				await new Promise((_, reject) => {
					this.getExecutionCancelSignal()?.addEventListener('abort', () =>
						reject(new Error('canceled')),
					);
				});
				return [items];
			case 'binary': {
				const stream = Readable.from([Buffer.from('Ogg'), Buffer.from('S')]);
				const audio = await this.helpers.prepareBinaryData(stream, 'a.ogg', 'audio/ogg');
				return [[{ json: {}, binary: { audio } }]];
			}
			case 'request': {
				const url = this.getNodeParameter('url', 0) as string;
				const { helpers } = this;
				const json = await helpers.httpRequestWithAuthentication.call(this, 'headerApi', { url });
				return [[{ json: json as IDataObject }]];
			}
			default:
				this.addExecutionHints({ message: 'a hint', location: 'outputPane' });
				return [items.map(({ json }) => ({ json: { ...json, zone: this.getTimezone() } }))];
		}
	},
};

const ticker: INodeType = {
	description: { ...standIn('ticker').description, group: ['trigger'], inputs: [], polling: true },
	async poll() {
		const state = this.getWorkflowStaticData('node');
		state.polls = Number(state.polls ?? 0) + 1;
		if (this.getActivationMode() === 'activate') return null;
		const json = { polls: state.polls, mode: this.getMode(), budget: this.getPollBudgetMs?.() };
		return [[{ json }]];
	},
};

const headerApi: ICredentialType = {
	name: 'headerApi',
	displayName: 'Header API',
	properties: [
		{ displayName: 'Key', name: 'key', type: 'string', default: '' },
		{ displayName: 'URL', name: 'url', type: 'string', default: '' },
	],
	authenticate: { type: 'generic', properties: { headers: { 'X-Key': '={{$credentials.key}}' } } },
	test: {
		request: { baseURL: '={{$credentials.url}}', url: '/' },
		rules: [{ type: 'responseCode', properties: { value: 401, message: 'Wrong key' } }],
	},
};

const node = (name: string, type: string, extra: Partial<INode> = {}): INode => ({
	id: name,
	name,
	type,
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
	...extra,
});
const echoing = (mode: string, extra: Partial<INode> = {}): WorkflowJson => ({
	nodes: [
		node('Start', 'n8n-nodes-base.manualTrigger'),
		node('Echo', 'test.echo', {
			credentials: { headerApi: { id: '1', name: 'Header' } },
			...extra,
			parameters: { mode, ...extra.parameters },
		}),
	],
	connections: { Start: { main: [[{ node: 'Echo', type: 'main', index: 0 }]] } },
});
const polling: WorkflowJson = { nodes: [node('Tick', 'test.ticker')], connections: {} };
const input = [{ json: { n: 1 } }, { json: { n: 2, bad: true } }];

let service: Served;
let engine: Engine;
let url: string;

beforeAll(async () => {
	service = await serve((request, response) => {
		const key = request.headers['x-key'];
		response.statusCode = key === 'secret' ? 200 : Number(key);
		response.end(JSON.stringify({ key }));
	});
	({ url } = service);
	engine = await createEngine({
		nodeTypes: { 'test.echo': echo, 'test.ticker': ticker },
		credentialTypes: { headerApi },
		credentials: { headerApi: { key: 'secret' } },
		binaryMode: 'filesystem',
	});
});

afterAll(async () => {
	await engine.close();
	await service.close();
});

test('items pass through, with hints, and the time zone of the workflow or of the run', async () => {
	const zoned = { ...echoing('json'), settings: { timezone: 'Asia/Tokyo' } };
	const run = await engine.runWorkflow(zoned, { input });
	expect(run.status).toBe('success');
	expect(run.items('Echo').map(({ json }) => json)).toEqual([
		{ n: 1, zone: 'Asia/Tokyo' },
		{ n: 2, bad: true, zone: 'Asia/Tokyo' },
	]);
	expect(run.hints('Echo')).toEqual([{ message: 'a hint', location: 'outputPane' }]);
	const other = await engine.runWorkflow(zoned, { timezone: 'Europe/Oslo' });
	expect(other.items('Echo')[0].json).toEqual({ zone: 'Europe/Oslo' });
});

test('a failing node fails the execution', async () => {
	const run = await engine.runWorkflow(echoing('fail'));
	expect(run.status).toBe('error');
	expect(run.error?.message).toBe('went wrong');
	expect(run.items('Echo')).toEqual([]);
});

test("a workflow that can't start is a failed execution", async () => {
	const run = await engine.runWorkflow({ nodes: [], connections: {} });
	expect([run.status, run.error?.message]).toEqual([
		'error',
		'No node to start the workflow from could be found',
	]);
});

test('item errors go to the regular or to the error output', async () => {
	const regular = echoing('error item', { onError: 'continueRegularOutput' });
	const split = echoing('error item', { onError: 'continueErrorOutput' });
	expect((await engine.runWorkflow(regular, { input })).items('Echo')).toHaveLength(2);
	const run = await engine.runWorkflow(split, { input });
	expect(run.items('Echo', 0).map(({ json }) => json.n)).toEqual([1]);
	expect(run.items('Echo', 1)).toHaveLength(1);
});

test('a running workflow can be canceled, by its handle and by a signal', async () => {
	const handle = engine.startWorkflow(echoing('wait'));
	setTimeout(() => handle.cancel(), 20);
	expect((await handle.done).status).toBe('canceled');
	const run = await engine.runWorkflow(echoing('wait'), { signal: AbortSignal.timeout(20) });
	expect(run.status).toBe('canceled');
});

test('binary data is stored and read back', async () => {
	const run = await engine.runWorkflow(echoing('binary'));
	const [item] = run.items('Echo');
	expect(item.binary?.audio).toMatchObject({ data: 'filesystem-v2', bytes: 4 });
	expect(String(await run.binary(item, 'audio'))).toBe('OggS');
});

test('requests contain the credential', async () => {
	const run = await engine.runWorkflow(echoing('request', { parameters: { url } }));
	expect(run.items('Echo')[0].json).toEqual({ key: 'secret' });
});

test('polls share their static data', async () => {
	const staticData = {};
	const first = await engine.runPoll(polling, { staticData });
	expect(first.items).toEqual([{ json: { polls: 1, mode: 'trigger', budget: 300_000 } }]);
	const silent = await engine.runPoll(polling, { staticData, activation: 'activate' });
	expect(silent.items).toBeNull();
	const last = await engine.runPoll(polling, { staticData, mode: 'manual', budgetMs: 36_000 });
	expect(last.items).toEqual([{ json: { polls: 3, mode: 'manual', budget: 36_000 } }]);
	expect(last.state).toEqual({ polls: 3 });
	expect(staticData).toEqual({ 'node:Tick': { polls: 3 } });
});

test('list searches run', async () => {
	const found = await engine.loadOptions(echoing('json').nodes[1], 'find', 'text', 'page2');
	expect(found.results).toEqual([{ name: 'text page2', value: 'json' }]);
});

test('credential tests return the same as in n8n', async () => {
	const messages = ['secret', '401', '500'].map(
		async (key) => await engine.testCredential('headerApi', { key, url }),
	);
	expect(await Promise.all(messages)).toEqual([
		{ ok: true, message: 'Connection successful!' },
		{ ok: false, message: 'Wrong key' },
		{ ok: false, message: 'Internal Server Error' },
	]);
	const closed = await engine.testCredential('headerApi', { key: '1', url: 'http://127.0.0.1:1' });
	expect(closed).toEqual({ ok: false, message: 'ECONNREFUSED' });
});

test('a package is loaded by what its manifest declares', async () => {
	const dir = await mkdtemp(join(tmpdir(), 'package-'));
	try {
		const n8n = { nodes: ['Thing.node.js'], credentials: ['Key.credentials.js'] };
		await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'n8n-nodes-x', n8n }));
		const node = `exports.Thing = class { description = { name: 'thing' } }`;
		await writeFile(join(dir, 'Thing.node.js'), node);
		await writeFile(join(dir, 'Key.credentials.js'), `exports.Key = class { name = 'key' }`);
		const { nodeTypes, credentialTypes } = loadPackage(dir);
		expect(Object.keys(nodeTypes)).toEqual(['n8n-nodes-x.thing']);
		expect(Object.keys(credentialTypes)).toEqual(['key']);
	} finally {
		await rm(dir, { recursive: true });
	}
});
