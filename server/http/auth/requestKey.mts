import type { FastifyRequest } from 'fastify';

/** The key of a request; undefined without one. MCP clients send it as a bearer token. */
export function keyOf(request: FastifyRequest): string | undefined {
	const isMcp = request.routeOptions.url === '/mcp';
	const key = request.headers['x-api-key'] ?? (isMcp ? bearerOf(request) : undefined);
	return typeof key === 'string' ? key : undefined;
}

/** A bearer token (RFC 6750). */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
	return /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
}
