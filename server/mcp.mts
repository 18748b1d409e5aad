import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getLifelog, listLifelogs } from './lifelogs.mts';
import type { Service } from './service.mts';

const tools = [
	{
		name: 'search_lifelogs',
		description:
			'Searches the recorded conversations; returns id, title and time, best match first.',
		inputSchema: {
			type: 'object' as const,
			properties: {
				query: { type: 'string', description: 'Words; OR between alternatives' },
				limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
			},
			required: ['query'],
		},
	},
	{
		name: 'get_lifelog',
		description: 'Returns one recorded conversation as markdown.',
		inputSchema: {
			type: 'object' as const,
			properties: { id: { type: 'string', description: 'An id that search_lifelogs returned' } },
			required: ['id'],
		},
	},
];

/** Answers one Model Context Protocol message; nothing is kept between requests. */
export async function callMcp(
	service: Service,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<FastifyReply> {
	const server = new Server({ name: 'lifelog', version: '1.0.0' }, { capabilities: { tools: {} } });
	server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
	server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
		try {
			return {
				content: [{ type: 'text', text: callTool(service, params.name, params.arguments) }],
			};
		} catch (error) {
			const text = error instanceof Error ? error.message : String(error);
			return { content: [{ type: 'text', text }], isError: true };
		}
	});
	const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
	await server.connect(transport);
	const response = await transport.handleRequest(
		new Request(`http://${request.host}${request.url}`, {
			method: request.method,
			headers: request.headers as Record<string, string>,
		}),
		{ parsedBody: request.body },
	);
	const type = response.headers.get('content-type');
	if (type !== null) reply.type(type);
	return reply.code(response.status).send(await response.text());
}

function callTool(service: Service, name: string, args: Record<string, unknown> = {}): string {
	if (name === 'search_lifelogs') {
		if (typeof args.query !== 'string') throw new Error('query must be a string');
		const limit = args.limit === undefined ? 10 : Number(args.limit);
		const { data } = listLifelogs(service, { search: args.query, limit, includeContents: false });
		const found = data.lifelogs.map(({ id, title, startTime, endTime }) => ({
			id,
			title,
			startTime,
			endTime,
		}));
		return JSON.stringify(found, null, 2);
	}
	if (name === 'get_lifelog') {
		const { data } = getLifelog(service, String(args.id), {});
		return data.lifelog?.markdown ?? 'Lifelog not found';
	}
	throw new Error(`There is no tool "${name}"`);
}
