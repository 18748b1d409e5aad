// n8n's own MCP Client node against the service's MCP endpoint.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IDataObject, INode } from 'n8n-workflow';
import { workflowWith } from '../../support/workflow.mts';
import { addFindable, useLab } from '../support/lab.mts';
import type { Execution } from '../support/rest.mts';

const lab = useLab();
const newest = async () => (await lab().sandbox.control.lifelogs()).at(-1)!;

/** Runs a workflow of the MCP Client that calls a tool of the service. */
async function callTool(tool: string, input: IDataObject, apiKey?: string): Promise<Execution> {
	const { rest, sandbox } = lab();
	const data = { name: 'X-API-Key', value: apiKey ?? sandbox.apiKey };
	const httpHeaderAuth = await rest.createCredential('httpHeaderAuth', data, 'Lifelog MCP');
	const workflow = workflowWith('lifelog', {});
	const [start, node] = workflow.nodes;
	const client: INode = {
		...node,
		type: '@n8n/n8n-nodes-langchain.mcpClient',
		typeVersion: 1.1,
		parameters: {
			endpointUrl: `${sandbox.url}/mcp`,
			serverTransport: 'httpStreamable',
			authentication: 'headerAuth',
			tool: { __rl: true, mode: 'id', value: tool },
			inputMode: 'json',
			jsonInput: JSON.stringify(input),
		},
		credentials: { httpHeaderAuth },
	};
	return await rest.execute({ ...workflow, nodes: [start, client] });
}

/** What a tool answered: text, or what its JSON says. */
const answer = ({ json }: Execution) => {
	const [{ content }] = json('Node') as Array<{ content: Array<{ text: unknown }> }>;
	return content[0].text;
};

describe('n8n’s MCP Client', () => {
	test('searches lifelogs', async () => {
		const { id, title } = await addFindable(lab());
		const execution = await callTool('search_lifelogs', { query: title });
		assert.equal(execution.error, undefined);
		const found = answer(execution) as { lifelogs: Array<{ id: string; title: string }> };
		assert.equal(found.lifelogs.find((lifelog) => lifelog.id === id)?.title, title);
	});

	test('reads a lifelog', async () => {
		const { id, title } = await newest();
		const text = String(answer(await callTool('get_lifelog', { id })));
		assert.ok(text.startsWith(`# ${title}`));
	});

	test('is refused with a wrong key', async () => {
		const { status, error } = await callTool('search_lifelogs', { query: 'x' }, 'wrong');
		assert.equal(status, 'error');
		assert.match(String(error?.message), /Authentication failed/);
	});
});
