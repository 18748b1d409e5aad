// The three ways to read the lifelogs of a service that are compared.
import axios from 'axios';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { IDataObject, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { n8nFolder, NEWEST } from '../test/n8n/install.mts';
import {
	createEngine,
	type Engine,
	loadPackage,
	type WorkflowJson,
} from '../test/support/engine.mts';
import { workflowWith } from '../test/support/workflow.mts';

/** How lifelogs are read: by this package, by n8n's own node with pagination, without n8n. */
export const WAYS = ['Lifelog node', 'HTTP Request node', 'axios loop'] as const;
/** n8n opens a connection for each request; this shows what that alone costs. */
export const AXIOS_LIKE_N8N = 'axios, new connections';
/** What this package does where a limit is set; shows what several places at once cost or gain. */
export const PAGE_AFTER_PAGE = 'Lifelog node, page after page';
export type Way = (typeof WAYS)[number] | typeof AXIOS_LIKE_N8N | typeof PAGE_AFTER_PAGE;

/** What to read, and where. */
export interface Reading {
	baseUrl: string;
	apiKey: string;
	/** A range of time in UTC, `YYYY-MM-DD HH:mm:ss`; without it everything is read. */
	range?: { start: string; end?: string };
	includeContents?: boolean;
	/** Looked for instead of listed, the hundred best; the HTTP Request node does not. */
	search?: string;
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
		const newAgents =
			way === 'axios loop'
				? () => ({})
				: () => ({ httpAgent: new Agent(), httpsAgent: new TlsAgent() });
		const readWith = (reading: Reading) =>
			reading.search === undefined ? readWithAxios : searchWithAxios;
		return {
			read: async (reading) => await readWith(reading)(reading, newAgents),
			close: async () => {},
		};
	}
	const engine = await startEngine({ baseUrl, apiKey });
	const workflowOf = {
		'Lifelog node': lifelogWorkflow,
		'HTTP Request node': httpRequestWorkflow,
		[PAGE_AFTER_PAGE]: pageAfterPageWorkflow,
	}[way];
	const read = async (reading: Reading): Promise<Read> => {
		const { error, items } = await engine.runWorkflow(workflowOf(reading));
		const counts = items('Node').map(({ json }) => pageLength(json) ?? 1);
		return { lifelogs: counts.reduce((sum, count) => sum + count, 0), error: error?.message };
	};
	return { read, close: engine.close };
}

/** n8n's engine with the nodes of this package and n8n's own for requests. */
export async function startEngine(
	{ baseUrl, apiKey }: Reading,
	binaryMode?: 'filesystem' | 'default',
): Promise<Engine> {
	const { nodeTypes, credentialTypes } = loadPackage();
	return await createEngine({
		nodeTypes: { ...nodeTypes, 'n8n-nodes-base.httpRequest': httpRequestNode() },
		credentialTypes,
		credentials: { lifelogApi: { baseUrl, apiKey } },
		binaryMode,
	});
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
	const { search, range } = reading;
	return workflowWith('lifelog', {
		...(search === undefined
			? { operation: 'getAll', returnAll: true }
			: { operation: 'search', query: search, limit: 100 }),
		filters: { ...range },
		options: { ...includes(reading), timezone: 'UTC' },
	});
}

function pageAfterPageWorkflow(reading: Reading): WorkflowJson {
	const workflow = lifelogWorkflow(reading);
	Object.assign(workflow.nodes[1].parameters, { returnAll: false, limit: 1_000_000 });
	return workflow;
}

/** The HTTP Request node that takes each of its items for an address, and gives what is there as a file. */
export function filesWorkflow(apiKey: string): WorkflowJson {
	return httpRequest(apiKey, {
		url: '={{ $json.url }}',
		options: { response: { response: { responseFormat: 'file', outputPropertyName: 'data' } } },
	});
}

function httpRequest(apiKey: string, parameters: IDataObject): WorkflowJson {
	const workflow = workflowWith('lifelog', {
		sendHeaders: true,
		headerParameters: { parameters: [{ name: 'X-API-Key', value: apiKey }] },
		...parameters,
	});
	Object.assign(workflow.nodes[1], { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.5 });
	return workflow;
}

function httpRequestWorkflow(reading: Reading): WorkflowJson {
	const parameters = Object.entries(queryOf(reading)).map(([name, value]) => ({ name, value }));
	const cursor = '$response.body.meta.lifelogs.nextCursor';
	return httpRequest(reading.apiKey, {
		url: `${reading.baseUrl}/v1/lifelogs`,
		sendQuery: true,
		queryParameters: { parameters },
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
}

function queryOf(reading: Reading): Record<string, string> {
	const query = { timezone: 'UTC', ...reading.range, ...includes(reading) };
	const limit = reading.includeContents ? 25 : 100;
	return Object.fromEntries(
		Object.entries({ ...query, limit }).map(([name, value]) => [name, String(value)]),
	);
}

/** Of one request; without them, connections are kept. */
type Agents = { httpAgent?: Agent; httpsAgent?: TlsAgent };

/** What somebody without n8n would write. */
async function readWithAxios(reading: Reading, newAgents: () => Agents): Promise<Read> {
	const lifelogs: unknown[] = [];
	let cursor: string | undefined;
	do {
		const { data } = await axios.get(`${reading.baseUrl}/v1/lifelogs`, {
			params: { ...queryOf(reading), cursor },
			headers: { 'X-API-Key': reading.apiKey },
			...newAgents(),
		});
		lifelogs.push(...data.data.lifelogs);
		cursor = data.meta.lifelogs.nextCursor;
	} while (cursor);
	return { lifelogs: lifelogs.length };
}

/** A search for a hundred lifelogs, and what it does not give of them, one after another. */
async function searchWithAxios(reading: Reading, newAgents: () => Agents): Promise<Read> {
	const { baseUrl, apiKey, search, range, includeContents } = reading;
	const get = async (path: string, params: object) => {
		const headers = { 'X-API-Key': apiKey };
		const { data } = await axios.get(baseUrl + path, { params, headers, ...newAgents() });
		return data.data;
	};
	const query = { search, limit: 100, ...range, timezone: 'UTC', includeContents: false };
	const { lifelogs } = await get('/v1/lifelogs', query);
	for (const { id } of lifelogs) await get(`/v1/lifelogs/${id}`, { includeContents });
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
