// The configurations for MCP clients in docs/self-host.md, each tried with a read-only key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { NewKey } from '../../../server/http/pageApi/answers.mts';
import { makeLink } from '../../../server/http/auth/link.mts';
import { writeArchive } from '../../support/archive.mts';
import { lifelogOf } from '../../support/invented.mts';
import { buildPage, send } from '../../support/web.mts';
import { ask, startLifelogServer, temporaryFolder, type SpawnedServer } from '../sources.mts';

/** What the documentation says in place of the server's address, and of the key. */
const ADDRESS = 'http://127.0.0.1:8787';
const KEY = 'YOUR_KEY';

/** What a client sends, and to where. */
interface Requests {
	url: string;
	headers: Record<string, string>;
}

const page = readFileSync('docs/self-host.md', 'utf8');
const [section] = page.split('## Connect an MCP client\n')[1].split(/^## /m);
/** What the page says of each client, by the client's name. */
const clients = new Map(
	section
		.split(/^### /m)
		.slice(1)
		.map((text) => [text.slice(0, text.indexOf('\n')), text] as const),
);

const blockOf = (text: string) => /```\w+\n([^]*?)\n```/.exec(text)![1];

/** A header as people write it: `Name: value`. */
function headersOf(line: string): Record<string, string> {
	const [, name, value] = /^([\w-]+): ?(.+)$/.exec(line)!;
	return { [name]: value };
}

interface Servers {
	mcpServers: {
		lifelog: Requests & { command: string; args: string[]; env: Record<string, string> };
	};
}

/** How each client reads what the page says. */
const READERS: Record<string, (text: string) => Requests> = {
	'Claude Code': (text) => {
		const command =
			/^claude mcp add --transport http --scope user lifelog (\S+) --header "([^"$`]+)"$/;
		const [, url, header] = command.exec(blockOf(text))!;
		return { url, headers: headersOf(header) };
	},
	Cursor: (text) => {
		const { url, headers } = (JSON.parse(blockOf(text)) as Servers).mcpServers.lifelog;
		return { url, headers };
	},
	'Claude Desktop': (text) => {
		const { command, args, env } = (JSON.parse(blockOf(text)) as Servers).mcpServers.lifelog;
		const [yes, bridge, url, option, header, ...more] = args;
		expect([command, yes, bridge, option, more]).toEqual([
			...['npx', '-y', 'mcp-remote', '--header', []],
		]);
		// On Windows, arguments are split at spaces. Everybody on a machine can list them.
		expect(args.filter((each) => each.includes(' ') || each.includes(KEY))).toEqual([]);
		return { url, headers: headersOf(header.replace(/\$\{(\w+)\}/, (_, name) => env[name])) };
	},
	n8n: (text) => {
		const { nodes } = JSON.parse(blockOf(text)) as {
			nodes: { type: string; parameters: { endpointUrl: string; authentication: string } }[];
		};
		const [{ type, parameters }, ...more] = nodes;
		expect([type, more]).toEqual(['@n8n/n8n-nodes-langchain.mcpClientTool', []]);
		expect(parameters.authentication).toBe('headerAuth');
		const field = (name: string) => new RegExp(`^\\| ${name} +\\| \`(.+?)\``, 'm').exec(text)![1];
		return { url: parameters.endpointUrl, headers: { [field('Name')]: field('Value') } };
	},
};

let server: SpawnedServer;
let readOnlyKey: string;

beforeAll(async () => {
	buildPage();
	const folder = temporaryFolder();
	const lifelogs = [lifelogOf('garden', '2026-03-01T12:00:00Z', { title: 'A quince' })];
	await writeArchive(folder, { lifelogs });
	server = await startLifelogServer(folder, ['--allow-delete']);
	readOnlyKey = await makeReadOnlyKey(join(folder, '.lifelog-index.sqlite'));
});
afterAll(() => server.close());

/** Makes a key as the page does for an MCP client. */
async function makeReadOnlyKey(index: string): Promise<string> {
	const headers = { 'x-lifelog-page': '1', origin: server.url };
	const link = makeLink(index, `${index}.key`, Date.now());
	const signedIn = await send(server.url, '/session', { method: 'POST', headers, body: { link } });
	const cookie = signedIn.headers['set-cookie']![0].split(';')[0];
	const made = await send(server.url, '/web/keys', {
		...{ method: 'POST', headers: { ...headers, cookie } },
		body: { name: 'MCP client', isReadOnly: true },
	});
	return (made.json() as NewKey).key;
}

test('the page has a configuration for each of these clients', () => {
	expect([...clients.keys()]).toEqual(Object.keys(READERS));
});

test.each(Object.entries(READERS))('%s connects, lists tools and calls one', async (name, read) => {
	const { url, headers } = read(clients.get(name)!);
	expect(url).toBe(`${ADDRESS}/mcp`);
	const sent = Object.fromEntries(
		Object.entries(headers).map(([header, value]) => [header, value.replace(KEY, readOnlyKey)]),
	);
	expect(sent).not.toEqual(headers);
	const client = new Client({ name, version: '1.0.0' });
	const transport = new StreamableHTTPClientTransport(new URL(url.replace(ADDRESS, server.url)), {
		requestInit: { headers: sent },
	});
	await client.connect(transport);
	const { tools } = await client.listTools();
	expect(tools.map((tool) => tool.name)).toContain('search_lifelogs');
	const found = await client.callTool({ name: 'search_lifelogs', arguments: { query: 'quince' } });
	expect(JSON.stringify(found.content)).toContain('garden');
	await client.close();
});

test('their key changes nothing', async () => {
	const refused = await ask({ ...server, apiKey: readOnlyKey }, '/v1/lifelogs/garden', {
		method: 'DELETE',
	});
	expect(refused.status).toBe(403);
});
