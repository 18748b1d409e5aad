import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';

let sandbox: TestSandbox;
let mcp: Client;

async function connect(apiKey: string): Promise<Client> {
	const client = new Client({ name: 'test', version: '1.0.0' });
	await client.connect(
		new StreamableHTTPClientTransport(new URL(`${sandbox.url}/mcp`), {
			requestInit: { headers: { 'X-API-Key': apiKey } },
		}),
	);
	return client;
}

beforeAll(async () => {
	sandbox = await startSandbox({ days: 2 });
	mcp = await connect(sandbox.apiKey);
});
afterAll(async () => {
	await mcp.close();
	await sandbox.close();
});

const call = async (name: string, args: Record<string, unknown>) => {
	const { content, isError } = await mcp.callTool({ name, arguments: args });
	return { text: (content as { text: string }[])[0].text, isError };
};

test('has two tools', async () => {
	const { tools } = await mcp.listTools();
	expect(tools.map(({ name }) => name)).toEqual(['search_lifelogs', 'get_lifelog']);
});

test('finds a lifelog and reads it', async () => {
	const { id } = await sandbox.control.addLifelog({ title: 'The saffron harvest' });
	const found = await call('search_lifelogs', { query: 'saffron', limit: 1 });
	expect(JSON.parse(found.text).lifelogs).toMatchObject([{ id, title: 'The saffron harvest' }]);
	const read = await call('get_lifelog', { id });
	expect(read.text).toMatch(/^# The saffron harvest\n/);
});

test('reports errors', async () => {
	expect(await call('get_lifelog', { id: 'none' })).toEqual({
		text: 'Lifelog not found: use an ID that a search or a list returned',
		isError: true,
	});
	expect(await call('search_lifelogs', {})).toEqual({
		text: expect.stringContaining('expected string, received undefined at query'),
		isError: true,
	});
	expect(await call('dance', {})).toMatchObject({ isError: true });
});

test('needs the key, and its requests count for the rate limit', async () => {
	await expect(connect('guess')).rejects.toThrow('Unauthorized');
	await sandbox.control.dialect({ rateLimit: { max: 0 } });
	await expect(call('search_lifelogs', { query: 'x' })).rejects.toThrow('rate limited');
	await sandbox.control.dialect({ rateLimit: { max: 180 } });
});

describe('without the key', () => {
	const ask = async (headers: Record<string, string>) => {
		const response = await fetch(`${sandbox.url}/mcp`, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...headers,
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
		});
		return { status: response.status, challenge: response.headers.get('www-authenticate') };
	};

	test('the response says how to authenticate', async () => {
		expect(await ask({})).toEqual({ status: 401, challenge: 'Bearer realm="lifelog sandbox"' });
	});

	test.each([
		['X-API-Key', 'guess'],
		['Authorization', 'Bearer guess'],
	])('but with a wrong key, the response says that the key is wrong: %s', async (header, value) => {
		const challenge = 'Bearer realm="lifelog sandbox", error="invalid_token"';
		expect(await ask({ [header]: value })).toEqual({ status: 401, challenge });
	});

	test.each(['GET', 'DELETE'])('%s is refused by its method only with the key', async (method) => {
		const withKey = { headers: { 'x-api-key': sandbox.apiKey } };
		const response = await fetch(`${sandbox.url}/mcp`, { method, ...withKey });
		expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
	});

	test('the key also works as a bearer token, as the response says', async () => {
		expect(await ask({ authorization: `Bearer ${sandbox.apiKey}` })).toMatchObject({ status: 200 });
	});
});
