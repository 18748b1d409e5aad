import { inspect } from 'node:util';
import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import { type Engine, standIn } from '../../support/engine.mts';
import { engineAt as anyEngineAt } from '../../support/lab.mts';
import { startRecorder } from '../../support/recorder.mts';
import { use } from '../../support/useNode.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

// Where the key goes when other nodes of n8n use the credential, by each way n8n's engine has of
// sending a request with it: to the service, and never to a second server.

const KEY = 'marked-key-3b9e';
const WAYS = [
	'httpRequestWithAuthentication',
	'requestWithAuthentication',
	'requestWithAuthenticationPaginated',
];

const service = use(startRecorder);
const stranger = use(startRecorder);
const engine = use(async () => await engineAt(`${service.url}/base`));

beforeEach(() => {
	service.clear();
	stranger.clear();
});

async function engineAt(baseUrl: string): Promise<Engine> {
	const nodeTypes = { 'n8n-nodes-lifelog.caller': caller() };
	return await anyEngineAt({ url: baseUrl, apiKey: KEY }, { nodeTypes });
}

/** The request that the node of `caller` sends next. */
let next: { way: string; options: object };

/** A node that sends a request with the credential, as n8n's own do. */
function caller(): INodeType {
	const type = standIn('caller');
	type.description.credentials = [{ name: 'lifelogApi', required: true }];
	type.execute = async function (this: IExecuteFunctions) {
		const { way, options } = next;
		const helpers = this.helpers as unknown as Record<
			string,
			(...args: unknown[]) => Promise<unknown>
		>;
		const pages = { continue: false, request: { url: '={{ undefined }}' }, requestInterval: 0 };
		const args =
			way === 'requestWithAuthenticationPaginated'
				? [options, 0, pages, 'lifelogApi']
				: ['lifelogApi', options];
		const answer = (await helpers[way].call(this, ...args)) as IDataObject;
		return [[{ json: { answer: inspect(answer) } }]];
	};
	return type;
}

async function send(way: string, options: object) {
	next = { way, options };
	return await engine.runWorkflow(workflowWith('caller', {}));
}

const port = () => new URL(stranger.url).port;
const here = () => `${service.url}/base/v1/chats`;
const there = () => `${stranger.url}/base/v1/chats`;

/** Requests that name another origin than that of the Base URL, or more than one, or none. */
const ASTRAY: Record<string, () => object> = {
	url: () => ({ url: there() }),
	uri: () => ({ uri: there() }),
	'uri, url of the service': () => ({ uri: there(), url: here() }),
	'url, uri of the service': () => ({ url: there(), uri: here() }),
	'url, baseURL of the service': () => ({ url: there(), baseURL: service.url }),
	'uri, baseURL of the service': () => ({ uri: there(), baseURL: service.url }),
	baseURL: () => ({ url: '/v1/chats', baseURL: stranger.url }),
	'baseURL, url of the service': () => ({ url: here(), baseURL: stranger.url }),
	'baseURL alone': () => ({ url: '', baseURL: stranger.url }),
	'no slashes': () => ({ url: `http:127.0.0.1:${port()}/x` }),
	'no slashes, with baseURL': () => ({
		url: `http:127.0.0.1:${port()}/x`,
		baseURL: service.url,
	}),
	'no slashes, as uri': () => ({ uri: `http:127.0.0.1:${port()}/x` }),
	'no protocol': () => ({ url: `//127.0.0.1:${port()}/x`, baseURL: service.url }),
	'no protocol and no baseURL': () => ({ uri: `//127.0.0.1:${port()}/x` }),
	backslashes: () => ({ url: `\\\\127.0.0.1:${port()}\\x`, baseURL: service.url }),
	'a slash and a backslash': () => ({ url: `/\\127.0.0.1:${port()}/x`, baseURL: service.url }),
	'backslashes behind the protocol': () => ({ uri: `http:\\\\127.0.0.1:${port()}\\x` }),
	'tabs and line breaks': () => ({ url: `/\t/\n127.0.0.1:${port()}/x`, baseURL: service.url }),
	'blanks before it': () => ({ uri: `  \t${there()}\n` }),
	'the service as user': () => ({
		uri: `http://${new URL(service.url).host}@127.0.0.1:${port()}/`,
	}),
	'a user at the service': () => ({ uri: here().replace('//', '//user:secret@') }),
	'a URL': () => ({ url: new URL(there()) }),
	'a URL as uri': () => ({ uri: new URL(there()) }),
	'an object that says it': () => ({ uri: { href: there(), toString: () => there() } }),
	parts: () => ({ uri: { protocol: 'http:', hostname: '127.0.0.1', port: port(), path: '/x' } }),
	'an array': () => ({ url: [there()] }),
	'a blob of the service': () => ({ uri: `blob:${here()}` }),
	'another protocol': () => ({ uri: here().replace('http:', 'https:') }),
	nothing: () => ({}),
	'a relative address': () => ({ uri: '/v1/chats' }),
};

describe.each(WAYS)('%s', (way) => {
	test.each(Object.entries(ASTRAY))('sends nothing to: %s', async (_name, options) => {
		const { error } = await send(way, options());
		expect(stranger.seen).toEqual([]);
		expect(service.seen).toEqual([]);
		expect(error).toBeDefined();
	});

	test.each<[string, () => object]>([
		['url', () => ({ url: here() })],
		['uri', () => ({ uri: here() })],
		['url and uri that are the same', () => ({ url: here(), uri: here() })],
		['a URL', () => ({ uri: new URL(here()) })],
	])('sends the key to the service, named by %s', async (_name, options) => {
		// The paginator itself refuses what is not named by uri.
		if (way === 'requestWithAuthenticationPaginated' && !('uri' in options())) return;
		const { error } = await send(way, { ...options(), headers: { 'x-api-key': 'mine' } });
		expect(error).toBeUndefined();
		expect(service.seen).toHaveLength(1);
		expect(service.seen[0]).toContain('/base/v1/chats');
		expect(service.seen[0]).toContain(`"X-API-Key","${KEY}"`);
		expect(service.seen[0]).not.toContain('mine');
	});

	test.each([301, 302, 303, 307, 308])('does not follow a redirect with %p', async (status) => {
		service.answer = (_request, response) =>
			void response.writeHead(status, { location: there() }).end();
		const follow = { followRedirect: true, followAllRedirects: true, maxRedirects: 5 };
		for (const method of ['GET', 'POST']) {
			await send(way, {
				...(way.startsWith('http') ? { url: here() } : { uri: here() }),
				...{ ...follow, method, body: method === 'POST' ? { a: 1 } : undefined },
				...{ disableFollowRedirect: false, sendCredentialsOnCrossOriginRedirect: true },
			});
		}
		expect(service.seen).toHaveLength(2);
		expect(stranger.seen).toEqual([]);
	});

	test.each<[string, () => object]>([
		['a proxy', () => ({ proxy: stranger.url })],
		['a proxy in parts', () => ({ proxy: { host: '127.0.0.1', port: Number(port()) } })],
		['the host of the agent', () => ({ agentOptions: { host: '127.0.0.1', port: port() } })],
		['the socket of the agent', () => ({ agentOptions: { path: '/tmp/a.sock' } })],
		['a header Host', () => ({ headers: { HOST: new URL(stranger.url).host } })],
		['headers in common', () => ({ headers: { common: { Host: 'elsewhere.example' } } })],
		['headers of the method', () => ({ headers: { get: { Host: 'elsewhere.example' } } })],
		['a path of its own', () => ({ socketPath: '/tmp/a.sock', hostname: '127.0.0.1', port: 1 })],
	])('sends nothing elsewhere because of other options: %s', async (_name, options) => {
		await send(way, {
			...(way.startsWith('http') ? { url: here() } : { uri: here() }),
			...options(),
		});
		expect(stranger.seen).toEqual([]);
		expect(service.seen.join()).not.toContain(port());
		expect(service.seen.join()).not.toContain('elsewhere.example');
	});

	test('sends the second request like the first after a 401', async () => {
		service.answer = (_request, response) => void response.writeHead(401).end();
		const { error } = await send(way, way.startsWith('http') ? { url: here() } : { uri: here() });
		expect(error?.message).not.toContain('proxy');
		expect(service.seen.length).toBeGreaterThan(0);
		for (const seen of service.seen) expect(seen).toContain(KEY);
	});
});

describe('a proxy of the environment (HTTP_PROXY)', () => {
	const NAMES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NO_PROXY', 'no_proxy'];
	const kept = NAMES.map((name) => process.env[name]);

	afterEach(() => {
		NAMES.forEach((name, index) => {
			if (kept[index] === undefined) delete process.env[name];
			else process.env[name] = kept[index];
		});
	});

	test.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY'])(
		'gets no request to a Base URL with http: %s',
		async (name) => {
			process.env[name] = stranger.url;
			process.env.NO_PROXY = process.env.no_proxy = '';
			for (const way of WAYS) {
				await send(way, way.startsWith('http') ? { url: here() } : { uri: here() });
			}
			await engine.runWorkflow(workflowWith('lifelog', { operation: 'get', lifelogId: byId('a') }));
			await engine.testCredential('lifelogApi', { apiKey: KEY, baseUrl: service.url });
			expect(stranger.seen).toEqual([]);
			expect(service.seen).toHaveLength(WAYS.length + 2);
		},
	);
});
