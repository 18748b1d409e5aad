import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startSandbox, type SpawnedSandbox } from '../support/sandbox.mts';

let sandbox: SpawnedSandbox;
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
	sandbox = await startSandbox(['--days', '2']);
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

test('offers two tools', async () => {
	const { tools } = await mcp.listTools();
	expect(tools.map(({ name }) => name)).toEqual(['search_lifelogs', 'get_lifelog']);
});

test('finds a lifelog and reads it', async () => {
	const { id } = await sandbox.control.addLifelog({ title: 'The saffron harvest' });
	const found = await call('search_lifelogs', { query: 'saffron', limit: 1 });
	expect(JSON.parse(found.text)).toMatchObject([{ id, title: 'The saffron harvest' }]);
	const read = await call('get_lifelog', { id });
	expect(read.text).toMatch(/^# The saffron harvest\n/);
});

test('says what went wrong', async () => {
	expect(await call('get_lifelog', { id: 'none' })).toEqual({
		text: 'Lifelog not found',
		isError: true,
	});
	expect(await call('search_lifelogs', {})).toEqual({
		text: 'query must be a string',
		isError: true,
	});
	expect(await call('dance', {})).toMatchObject({ isError: true });
});

test('wants the key, and its requests count', async () => {
	await expect(connect('guess')).rejects.toThrow('Unauthorized');
	await sandbox.control.dialect({ rateLimit: { max: 0 } });
	await expect(call('search_lifelogs', { query: 'x' })).rejects.toThrow('rate limited');
	await sandbox.control.dialect({ rateLimit: { max: 180 } });
});
