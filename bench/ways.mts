// The ways to read the lifelogs of a service that are compared.
import axios from 'axios';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
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
import { within, workflowWith } from '../test/support/workflow.mts';

/**
 * How lifelogs are read: by this package, simplified or raw, by n8n's own node with pagination, and
 * without n8n. The last two give what the service sends, as Raw does.
 */
export const WAYS = [
	'Lifelog node',
	'Lifelog node, Raw',
	'HTTP Request node',
	'axios loop',
] as const;
export type Way = (typeof WAYS)[number];

/** Where the service is. */
export interface Service {
	baseUrl: string;
	apiKey: string;
}

/** What to read, and where. */
export interface Reading extends Service {
	/** A range of time in UTC, `YYYY-MM-DD HH:mm:ss`; without it everything is read. */
	range?: { start: string; end?: string };
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
	if (way === 'axios loop') return { read: readWithAxios, close: async () => {} };
	const engine = await startEngine({ baseUrl, apiKey });
	const workflowOf = (reading: Reading) => {
		if (way === 'HTTP Request node') return httpRequestWorkflow(reading);
		return lifelogWorkflow(reading, way === 'Lifelog node' ? 'simplified' : 'raw');
	};
	const read = async (reading: Reading): Promise<Read> => {
		const { error, items } = await engine.runWorkflow(workflowOf(reading));
		const counts = items('Node').map(({ json }) => pageLength(json) ?? 1);
		return { lifelogs: counts.reduce((sum, count) => sum + count, 0), error: error?.message };
	};
	return { read, close: engine.close };
}

/** n8n's engine with the nodes of this package and n8n's own for requests. */
export async function startEngine(
	{ baseUrl, apiKey }: Service,
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

function lifelogWorkflow(reading: Reading, output: 'simplified' | 'raw'): WorkflowJson {
	return workflowWith('lifelog', {
		operation: 'getMany',
		returnAll: true,
		output,
		...within(reading.range ?? {}),
		options: { ...includes(reading), timezone: 'UTC' },
	});
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
	return listByHttp(reading, queryOf(reading));
}

/** Reads the days that its items name, as the trigger does in a poll. */
export function pollByHttp(service: Service, pageSize: number): WorkflowJson {
	return listByHttp(service, { ...METADATA_ONLY, date: '={{ $json.date }}', limit: pageSize });
}

/** Lists lifelogs with the HTTP Request node, page after page, for each of its items. */
function listByHttp(
	{ baseUrl, apiKey }: Service,
	query: Record<string, string | number | boolean>,
): WorkflowJson {
	const parameters = Object.entries(query).map(([name, value]) => ({ name, value: String(value) }));
	const cursor = '$response.body.meta.lifelogs.nextCursor';
	return httpRequest(apiKey, {
		url: `${baseUrl}/v1/lifelogs`,
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

/** A new connection for each request, because n8n opens one for each, too. */
const agents = {
	httpAgent: new HttpAgent({ keepAlive: false }),
	httpsAgent: new HttpsAgent({ keepAlive: false }),
};

/** What somebody without n8n would write. */
async function readWithAxios(reading: Reading): Promise<Read> {
	const lifelogs: unknown[] = [];
	let cursor: string | undefined;
	do {
		const { data } = await axios.get(`${reading.baseUrl}/v1/lifelogs`, {
			params: { ...queryOf(reading), cursor },
			headers: { 'X-API-Key': reading.apiKey },
			...agents,
		});
		lifelogs.push(...data.data.lifelogs);
		cursor = data.meta.lifelogs.nextCursor;
	} while (cursor);
	return { lifelogs: lifelogs.length };
}

const METADATA_ONLY = {
	timezone: 'UTC',
	direction: 'asc',
	includeMarkdown: false,
	includeHeadings: false,
	includeContents: false,
};
