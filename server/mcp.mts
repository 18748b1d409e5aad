import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Service, Tool } from './service.mts';

/** Answers one Model Context Protocol message; nothing is kept between requests. */
export async function callMcp(
	service: Service,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<FastifyReply> {
	const server = new Server({ name: 'lifelog', version: '1.0.0' }, { capabilities: { tools: {} } });
	server.setRequestHandler(ListToolsRequestSchema, () => ({
		tools: service.tools.map(describe),
	}));
	server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
		try {
			const text = await callTool(service, params.name, params.arguments);
			return { content: [{ type: 'text', text }] };
		} catch (error) {
			const text = error instanceof Error ? error.message : String(error);
			return { content: [{ type: 'text', text }], isError: true };
		}
	});
	const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
	await server.connect(transport);
	const response = await transport.handleRequest(
		// Not by the host that the request names, which need not be one.
		new Request(`http://localhost${request.url}`, {
			method: request.method,
			headers: request.headers as Record<string, string>,
		}),
		{ parsedBody: request.body },
	);
	const type = response.headers.get('content-type');
	if (type !== null) reply.type(type);
	return reply.code(response.status).send(await response.text());
}

function callTool(
	service: Service,
	name: string,
	args: Record<string, unknown> = {},
): string | Promise<string> {
	const tool = service.tools.find((one) => one.name === name);
	if (!tool) throw new Error(`There is no tool "${name}"`);
	return tool.call(service, args);
}

/** A tool as a client is told of it. */
function describe({ name, description, inputSchema }: Tool) {
	return { name, description, inputSchema };
}
