// The three ways to read the lifelogs of a service that are compared.
import axios from 'axios';
import { Agent } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { IDataObject, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { n8nFolder, NEWEST } from '../test/n8n/install.mts';
import { createEngine, loadPackage, type WorkflowJson } from '../test/support/engine.mts';
import { workflowWith } from '../test/support/workflow.mts';

/** How lifelogs are read: by this package, by n8n's own node with pagination, without n8n. */
export const WAYS = ['Lifelog node', 'HTTP Request node', 'axios loop'] as const;
/** n8n opens a connection for each request; this shows what that alone costs. */
export const AXIOS_LIKE_N8N = 'axios, new connections';
export type Way = (typeof WAYS)[number] | typeof AXIOS_LIKE_N8N;

/** What to read, and where. */
export interface Reading {
	baseUrl: string;
	apiKey: string;
	/** A range of time in UTC, `YYYY-MM-DD HH:mm:ss`; without it everything is read. */
	range?: { start: string; end: string };
	includeContents?: boolean;
}

/** What came of it. */
export interface Read {
	lifelogs: number;
	/** What the reader had to say about a failure; undefined when it took itself for successful. */
	error?: string;
}

/** A way made ready, so that reading can be timed without loading. */
export interface Reader {
	read: (reading: Reading) => Promise<Read>;
	close: () => Promise<void>;
}

/** Makes a way ready. */
export async function open(way: Way, { baseUrl, apiKey }: Reading): Promise<Reader> {
	if (way === 'axios loop' || way === AXIOS_LIKE_N8N) {
		const newAgent = way === 'axios loop' ? () => undefined : () => new Agent();
		return {
			read: async (reading) => await readWithAxios(reading, newAgent),
			close: async () => {},
		};
	}
	const { nodeTypes, credentialTypes } = loadPackage();
	const engine = await createEngine({
		nodeTypes: { ...nodeTypes, 'n8n-nodes-base.httpRequest': httpRequestNode() },
		credentialTypes,
		credentials: { lifelogApi: { baseUrl, apiKey } },
	});
	const workflowOf = way === 'Lifelog node' ? lifelogWorkflow : httpRequestWorkflow;
	const read = async (reading: Reading): Promise<Read> => {
		const { error, items } = await engine.runWorkflow(workflowOf(reading));
		const counts = items('Node').map(({ json }) => pageLength(json) ?? 1);
		return { lifelogs: counts.reduce((sum, count) => sum + count, 0), error: error?.message };
	};
	return { read, close: engine.close };
}

/** The node of the n8n that `test/n8n/install.mts` installs. */
function httpRequestNode(): INodeType | IVersionedNodeType {
	const require = createRequire(join(n8nFolder(NEWEST), 'package.json'));
	const { HttpRequest } = require('n8n-nodes-base/dist/nodes/HttpRequest/HttpRequest.node.js');
	return new HttpRequest() as IVersionedNodeType;
}

/** The HTTP Request node gives a page an item, or what the service said instead of one. */
function pageLength(json: IDataObject): number | undefined {
	if ('error' in json) return 0;
	return (json.data as { lifelogs: unknown[] } | undefined)?.lifelogs.length;
}

const includes = ({ includeContents = false }: Reading) => ({
	includeMarkdown: true,
	includeHeadings: true,
	includeContents,
});

function lifelogWorkflow(reading: Reading): WorkflowJson {
	return workflowWith('lifelog', {
		operation: 'getAll',
		returnAll: true,
		filters: { ...reading.range },
		options: { ...includes(reading), timezone: 'UTC' },
	});
}

function httpRequestWorkflow(reading: Reading): WorkflowJson {
	const parameters = Object.entries(queryOf(reading)).map(([name, value]) => ({ name, value }));
	const cursor = '$response.body.meta.lifelogs.nextCursor';
	const workflow = workflowWith('lifelog', {
		url: `${reading.baseUrl}/v1/lifelogs`,
		sendQuery: true,
		queryParameters: { parameters },
		sendHeaders: true,
		headerParameters: { parameters: [{ name: 'X-API-Key', value: reading.apiKey }] },
		options: {
			pagination: {
				pagination: {
					paginationMode: 'updateAParameterInEachRequest',
					parameters: {
						parameters: [
							{
								type: 'qs',
								name: 'cursor',
								value: `={{ $pageCount > 0 ? ${cursor} : undefined }}`,
							},
						],
					},
					paginationCompleteWhen: 'other',
					completeExpression: `={{ !${cursor} }}`,
				},
			},
		},
	});
	Object.assign(workflow.nodes[1], { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.5 });
	return workflow;
}

function queryOf(reading: Reading): Record<string, string> {
	const query = { timezone: 'UTC', ...reading.range, ...includes(reading) };
	const limit = reading.includeContents ? 25 : 100;
	return Object.fromEntries(
		Object.entries({ ...query, limit }).map(([name, value]) => [name, String(value)]),
	);
}

/**
 * What somebody without n8n would write.
 *
 * @param newAgent Called for each request; without an agent, connections are kept.
 */
async function readWithAxios(reading: Reading, newAgent: () => Agent | undefined): Promise<Read> {
	const lifelogs: unknown[] = [];
	let cursor: string | undefined;
	do {
		const { data } = await axios.get(`${reading.baseUrl}/v1/lifelogs`, {
			params: { ...queryOf(reading), cursor },
			headers: { 'X-API-Key': reading.apiKey },
			httpAgent: newAgent(),
		});
		lifelogs.push(...data.data.lifelogs);
		cursor = data.meta.lifelogs.nextCursor;
	} while (cursor);
	return { lifelogs: lifelogs.length };
}

/** Reads a day as the trigger does, without n8n; like n8n, over a new connection each time. */
export async function readLight(day: {
	baseUrl: string;
	apiKey: string;
	date: string;
	pageSize: number;
}): Promise<void> {
	let cursor: string | undefined;
	do {
		const { data } = await axios.get(`${day.baseUrl}/v1/lifelogs`, {
			params: {
				date: day.date,
				timezone: 'UTC',
				direction: 'asc',
				includeMarkdown: false,
				includeHeadings: false,
				includeContents: false,
				limit: day.pageSize,
				cursor,
			},
			headers: { 'X-API-Key': day.apiKey },
			httpAgent: new Agent(),
		});
		cursor = data.meta.lifelogs.nextCursor;
	} while (cursor);
}
