// Where the API key goes when n8n's own nodes use the credential, in a real n8n whose environment
// names a proxy: to the service, and never to a second server or to the proxy.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IDataObject, INode } from 'n8n-workflow';
import type { WorkflowJson } from '../../support/engine.mts';
import { startRecorder, type Recorder } from '../../support/recorder.mts';
import { NEWEST, OLDEST } from '../install.mts';
import { agentWorkflow } from '../support/agent.mts';
import { startLab, type Lab } from '../support/lab.mts';
import type { Execution } from '../support/rest.mts';
import { startScriptedModel, type ScriptedModel } from '../support/scripted-model.mts';

const KEY = 'marked-key-77d1';
/** The versions of the HTTP Request node in each n8n that know predefined credentials. */
const HTTP_REQUESTS: Record<string, number[]> = {
	[OLDEST]: [2, 3, 4, 4.1, 4.2, 4.3],
	[NEWEST]: [2, 3, 4, 4.1, 4.2, 4.3, 4.4, 4.5],
};
const AUTHENTICATION = {
	authentication: 'predefinedCredentialType',
	nodeCredentialType: 'lifelogApi',
};

for (const version of [OLDEST, NEWEST]) {
	describe(`n8n ${version}`, () => {
		let lab: Lab;
		let service: Recorder;
		let stranger: Recorder;
		let proxy: Recorder;
		let model: ScriptedModel;
		let lifelogApi: { id: string; name: string };
		let openAi: { id: string; name: string };

		before(async () => {
			[service, stranger, proxy] = [
				await startRecorder(),
				await startRecorder(),
				await startRecorder(),
			];
			model = await startScriptedModel();
			const env = { HTTP_PROXY: proxy.url, NO_PROXY: new URL(model.url).host };
			lab = await startLab({ version, env, sandbox: ['--days', '1'] });
			const credential = { apiKey: KEY, baseUrl: service.url };
			lifelogApi = await lab.rest.createCredential('lifelogApi', credential);
			openAi = await lab.rest.createCredential('openAiApi', { apiKey: 'none', url: model.url });
		});
		beforeEach(() => {
			for (const recorder of [service, stranger, proxy]) recorder.clear();
		});
		after(async () => {
			await lab?.close();
			for (const server of [service, stranger, proxy, model]) await server?.close();
		});

		const node = (name: string, type: string, typeVersion: number, parameters: IDataObject) =>
			({
				...{ id: name, name, type, typeVersion, position: [0, 0] },
				parameters: { ...AUTHENTICATION, ...parameters },
				credentials: { lifelogApi },
				onError: 'continueRegularOutput',
			}) as INode;

		/** Runs nodes one after the other, whatever becomes of each. */
		async function run(nodes: INode[]): Promise<Execution> {
			const start = { ...node('Start', 'n8n-nodes-base.manualTrigger', 1, {}), parameters: {} };
			const chain = [start, ...nodes];
			const connections = Object.fromEntries(
				nodes.map(({ name }, index) => [
					chain[index].name,
					{ main: [[{ node: name, type: 'main' as const, index: 0 }]] },
				]),
			);
			return await lab.rest.execute({ nodes: chain, connections } as WorkflowJson);
		}

		const httpRequests = (parameters: IDataObject): INode[] =>
			HTTP_REQUESTS[version].map((each) =>
				node(`HTTP Request ${each}`, 'n8n-nodes-base.httpRequest', each, parameters),
			);

		/** The node GraphQL, where it knows predefined credentials. */
		const graphQls = (endpoint: string, requestMethod: string): INode[] =>
			version === OLDEST
				? []
				: [
						node('GraphQL', 'n8n-nodes-base.graphql', 1.1, {
							...{ endpoint, requestMethod, query: '{ a }' },
						}),
					];

		/** Nobody but the service saw anything, and what the execution keeps does not hold the key. */
		function assertNothingLeft(execution?: Execution): void {
			assert.deepEqual(stranger.seen, []);
			assert.deepEqual(proxy.seen, []);
			assert.ok(!JSON.stringify(execution ?? '').includes(KEY), 'the execution holds the key');
		}

		test('HTTP Request reaches the service directly, without the proxy', async () => {
			const url = `${service.url}/v1/chats`;
			const execution = await run(httpRequests({ url }));
			assert.equal(service.seen.length, HTTP_REQUESTS[version].length);
			for (const seen of service.seen) assert.ok(seen.includes(`"X-API-Key","${KEY}"`), seen);
			assertNothingLeft(execution);
		});

		test("HTTP Request and GraphQL can't reach another server", async () => {
			const { host } = new URL(service.url);
			const addresses = [
				`${stranger.url}/v1/chats`,
				stranger.url.replace('//', ''),
				stranger.url.replace('//', `//${host}@`),
				stranger.url.replace('//', '\\\\'),
				` ${stranger.url}/v1/chats`,
			];
			for (const [index, url] of addresses.entries()) {
				const execution = await run([
					...httpRequests({ url, options: { redirect: { redirect: { followRedirects: true } } } }),
					...graphQls(url, 'POST'),
				]);
				assertNothingLeft(execution);
				assert.deepEqual(service.seen, [], addresses[index]);
				// What is no address at all the nodes themselves refuse.
				const said = JSON.stringify([execution.runData, execution.error]);
				if (index === 0) assert.ok(said.includes("only sent to the 'Base URL'"), said);
			}
		});

		test("no redirect is followed, whatever the node's settings", async () => {
			service.answer = (_request, response) =>
				void response.writeHead(302, { location: `${stranger.url}/v1/chats` }).end();
			const redirect = { redirect: { followRedirects: true, maxRedirects: 9 } };
			const options = { redirect, followRedirect: true, followAllRedirects: true };
			const url = `${service.url}/v1/chats`;
			for (const method of ['GET', 'POST']) {
				const parameters = { url, method, requestMethod: method, options };
				assertNothingLeft(await run(httpRequests(parameters)));
			}
			const nodes = graphQls(url, 'GET');
			if (nodes.length > 0) assertNothingLeft(await run(nodes));
			assert.equal(service.seen.length, 2 * HTTP_REQUESTS[version].length + nodes.length);
		});

		test('pages by "Response Contains Next URL" are not requested from another server', async () => {
			service.answer = (_request, response) =>
				void response
					.writeHead(200, { 'content-type': 'application/json' })
					.end(JSON.stringify({ next: `${stranger.url}/v1/chats?page=2` }));
			const pagination = {
				...{ paginationMode: 'responseContainsNextURL', nextURL: '={{ $response.body.next }}' },
				...{ paginationCompleteWhen: 'other', completeExpression: '={{ false }}' },
				...{ limitPagesFetched: true, maxRequests: 3 },
			};
			const parameters = {
				url: `${service.url}/v1/chats`,
				options: { pagination: { pagination } },
			};
			const nodes = httpRequests(parameters).filter(({ typeVersion }) => typeVersion >= 3);
			assertNothingLeft(await run(nodes));
			assert.equal(service.seen.length, nodes.length);
		});

		test("a proxy, a Host and nested headers don't lead to another server", async () => {
			const url = `${service.url}/v1/chats`;
			const { host } = new URL(stranger.url);
			const json = (headers: object) => ({
				...{ url, sendHeaders: true, specifyHeaders: 'json', jsonHeaders: JSON.stringify(headers) },
				...{ jsonParameters: true, headerParametersJson: JSON.stringify(headers) },
			});
			for (const parameters of [
				{ url, options: { proxy: stranger.url } },
				json({ Host: host }),
				json({ common: { Host: host } }),
				json({ get: { Host: host } }),
			]) {
				assertNothingLeft(await run(httpRequests(parameters)));
				assert.ok(!service.seen.join().includes(host), service.seen.join());
			}
		});

		test('an agent with an HTTP Request tool reaches only the service', async () => {
			const url = "={{ $fromAI('url', 'Address', 'string') }}";
			const newest = HTTP_REQUESTS[version].at(-1)!;
			const placeholder = { name: 'path', description: 'Path', type: 'string' };
			const langchain = '@n8n/n8n-nodes-langchain';
			const toolsFor = (target: Recorder) => [
				node('Ask', 'n8n-nodes-base.httpRequestTool', newest, { url, toolDescription: 'Asks' }),
				// It takes no host from the model.
				node('Ask', `${langchain}.toolHttpRequest`, 1.1, {
					...{ url: `${target.url}/{path}`, toolDescription: 'Asks', method: 'GET' },
					placeholderDefinitions: { values: [placeholder] },
				}),
			];
			for (const target of [service, stranger]) {
				for (const tool of toolsFor(target)) {
					const { nodes, ...rest } = agentWorkflow(lab, openAi, ['search'], 'What was said?');
					const { Start, Model, ...tools } = rest.connections;
					const others = nodes
						.filter(({ name }) => !(name in tools))
						.map((each) => (each.name === 'Agent' ? { ...each, typeVersion: 2.2 } : each));
					const connections = { Start, Model, Ask: Object.values(tools)[0] };
					const args = { url: `${target.url}/v1/chats`, path: 'v1/chats' };
					model.play([() => ({ tool: 'Ask', args }), () => 'Done.']);
					const execution = await lab.rest.execute({
						...rest,
						nodes: [...others, { ...tool, onError: undefined }],
						connections,
					});
					const asked = model.requests().length;
					assert.equal(asked, 2, `${tool.type}: ${execution.error?.message}`);
					assertNothingLeft(execution);
				}
			}
			assert.equal(service.seen.length, 2);
			for (const seen of service.seen) assert.ok(seen.includes(KEY), seen);
		});

		test('Custom API Call in our own nodes sends nothing by itself', async () => {
			const parameters = { operation: '__CUSTOM_API_CALL__', resource: '__CUSTOM_API_CALL__' };
			const types = ['lifelog', 'lifelogChat', 'lifelogAudio', 'lifelogServer'];
			const nodes = types.map((type) => node(type, `n8n-nodes-lifelog.${type}`, 1, parameters));
			assertNothingLeft(await run(nodes));
			assert.deepEqual(service.seen, []);
		});

		test("the credential test doesn't use the proxy and follows no redirect", async () => {
			service.answer = (_request, response) =>
				void response.writeHead(302, { location: `${stranger.url}/v1/chats` }).end();
			const data = { apiKey: KEY, baseUrl: `${service.url}/v1/` };
			const { status } = await lab.rest.testCredential('lifelogApi', lifelogApi, data);
			assert.equal(status, 'Error');
			assert.equal(service.seen.length, 1);
			assert.ok(service.seen[0].includes(`${service.url}/v1/chats?limit=1 `), service.seen[0]);
			assertNothingLeft();
		});
	});
}
