import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { writeArchive } from '../support/archive.mts';
import { chatOf, lifelogOf } from '../support/invented.mts';
import { startLifelogServer, temporaryFolder, type SpawnedServer } from './sources.mts';

let server: SpawnedServer;
let mcp: Client;

async function connect(apiKey: string): Promise<Client> {
	const client = new Client({ name: 'test', version: '1.0.0' });
	const requestInit = { headers: { 'X-API-Key': apiKey } };
	await client.connect(
		new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }),
	);
	return client;
}

beforeAll(async () => {
	const folder = temporaryFolder();
	await writeArchive(folder, {
		lifelogs: [
			lifelogOf('late', '2026-03-01T23:30:00Z', { title: 'The saffron harvest' }),
			lifelogOf('early', '2026-03-01T08:00:00Z', { markdown: null }),
		],
		chats: [chatOf('q', '2026-03-01T20:00:00Z')],
	});
	server = await startLifelogServer(folder);
	mcp = await connect(server.apiKey);
});
afterAll(async () => {
	await mcp.close();
	await server.close();
});

const call = async (name: string, args: Record<string, unknown>) => {
	const { content, isError = false } = await mcp.callTool({ name, arguments: args });
	return { text: (content as { text: string }[])[0].text, isError };
};

test('offers tools to search, to list a day, and to read', async () => {
	const { tools } = await mcp.listTools();
	expect(tools.map(({ name }) => name)).toEqual([
		'search_lifelogs',
		'list_lifelogs',
		'get_lifelog',
		'get_transcript',
		'get_chat',
	]);
});

test('searches', async () => {
	const { text } = await call('search_lifelogs', { query: 'safron' });
	expect(JSON.parse(text)).toMatchObject([{ id: 'late', title: 'The saffron harvest' }]);
});

test('lists a day in its zone, in order', async () => {
	const ids = async (args: Record<string, string>) =>
		JSON.parse((await call('list_lifelogs', args)).text).map(({ id }: { id: string }) => id);
	expect(await ids({ date: '2026-03-01' })).toEqual(['early', 'late']);
	expect(await ids({ date: '2026-03-02', timezone: 'Europe/Berlin' })).toEqual(['late']);
});

test('reads a lifelog, what was said in it, and a chat', async () => {
	expect((await call('get_lifelog', { id: 'late' })).text).toMatch(/^# The saffron harvest\n/);
	expect((await call('get_lifelog', { id: 'early' })).text).toContain('Let us talk about');
	expect((await call('get_transcript', { id: 'late' })).text).toBe(
		'Anna: Let us talk about The saffron harvest.',
	);
	expect((await call('get_chat', { id: 'q' })).text).toContain('] assistant: A day.');
});

test.each([
	['get_lifelog', { id: 'none' }, 'Lifelog not found'],
	['get_transcript', {}, 'id must be a string'],
	['get_chat', { id: 'none' }, 'Chat not found'],
	['list_lifelogs', { date: 'yesterday' }, 'is not of the form YYYY-MM-DD'],
	['list_lifelogs', { date: '2026-03-01', timezone: 'Mars' }, 'is not a known IANA time zone'],
	['search_lifelogs', { query: 'x', limit: 'many' }, 'limit must be a whole number'],
	['dance', {}, 'There is no tool "dance"'],
])('%s of %j says what is wrong', async (name, args, message) => {
	expect(await call(name, args)).toEqual({ text: expect.stringContaining(message), isError: true });
});

test('wants the key', async () => {
	await expect(connect('guess')).rejects.toThrow('Unauthorized');
});

test.each([
	['that takes no stream', { accept: 'application/json' }, 406],
	['that is not called JSON', { 'content-type': 'text/plain' }, 415],
	['that is not called anything', { 'content-type': '' }, 415],
])('a message %s is refused as the contract says', async (_what, headers, status) => {
	const answer = await fetch(`${server.url}/mcp`, {
		method: 'POST',
		headers: {
			'x-api-key': server.apiKey,
			accept: 'application/json, text/event-stream',
			'content-type': 'application/json',
			...headers,
		},
		body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
	});
	expect(answer.status).toBe(status);
	expect(server.log).toEqual([]);
});
