import Fastify from 'fastify';
import type {
	FastifyError,
	FastifyInstance,
	FastifyRequest,
	onRequestAsyncHookHandler,
	RouteHandlerMethod,
	RouteOptions,
} from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { downloadAudio, type AudioQuery } from './audio.mts';
import { deleteChat, getChat, listChats, type ChatListQuery } from './chats.mts';
import { isOpen, type Contract } from './contract.mts';
import { ApiError, RateLimitedError, UnavailableError } from './errors.mts';
import { deleteLifelog, getLifelog, listLifelogs } from './lifelogs.mts';
import type { GetQuery, ListQuery } from './lifelogs.mts';
import { callMcp } from './mcp.mts';
import { answerRateLimited, limitRate } from './rateLimit.mts';
import { bearerOf, keyOf } from './requestKey.mts';
import type { Service } from './service.mts';

// Of a request to arrive whole, whoever sends it; the longest takes a mebibyte.
const mostPatienceMs = 20_000;

/** Creates an HTTP server without routes, to which hooks can be added before `addApi`. */
export function createApp(): FastifyInstance {
	const app = Fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		requestTimeout: mostPatienceMs,
		// With the longer one for headers that it has by itself, Node.js would take that for both.
		http: { headersTimeout: mostPatienceMs, connectionsCheckingInterval: mostPatienceMs / 4 },
		routerOptions: { maxParamLength: 1000 },
		// A request may name its address in full (RFC 9112, section 3.2.2), and the nodes do, by http.
		rewriteUrl: ({ url }) => url!.replace(/^https?:\/\/[^/?]*/i, ''),
	});
	// Fastify's own serializer would drop fields that the contract does not know.
	app.setSerializerCompiler(() => (data) => JSON.stringify(data));
	return app;
}

/**
 * Adds the API to `app`. Its routes and the validation of requests come from the contract; here
 * stands only what each operation does.
 */
export async function addApi(
	app: FastifyInstance,
	service: Service,
	contract: Contract,
): Promise<void> {
	await limitRate(app, service);

	app.setErrorHandler((error: FastifyError, request, reply) => {
		if (error instanceof RateLimitedError) {
			const { headers, body } = answerRateLimited(service, error);
			return reply.code(429).headers(headers).send(body);
		}
		if (error instanceof UnavailableError) reply.header('retry-after', error.retryAfterS);
		const { statusCode = 500 } = error;
		if (statusCode >= 500 && !(error instanceof ApiError)) service.onError?.(error);
		if (statusCode === 401) {
			reply.header('www-authenticate', challengeOf(service, request));
		}
		return reply.code(statusCode).send({ error: describe(service, error) });
	});

	const handlers = operationHandlers(service);
	await app.register(openapiGlue, {
		specification: contract,
		// The plugin adds what it knows from the contract: url, method and schema.
		operationResolver: (operationId, method, path) =>
			({
				handler: handlers[operationId],
				onRequest: isOpen(contract, method, path) ? [] : [requireKey(service)],
			}) as unknown as RouteOptions,
	});
	// A stateless MCP server has no event stream to open and no session to end.
	app.route({
		method: ['GET', 'DELETE'],
		url: '/mcp',
		onRequest: requireKey(service),
		handler: refuseMethod,
	});
	app.setNotFoundHandler({ preHandler: app.rateLimit() }, (request) => {
		throw new ApiError(404, `There is no endpoint ${request.method} ${request.url}`);
	});
}

/** What each operation of the contract does, by its operationId. */
function operationHandlers(service: Service): Record<string, RouteHandlerMethod> {
	const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;
	return {
		getRoot: (_request, reply) => reply.redirect(service.documentation),
		listLifelogs: async ({ query }) => listLifelogs(service, query as ListQuery),
		getLifelog: async (request) => getLifelog(service, idOf(request), request.query as GetQuery),
		deleteLifelog: async (request) => deleteLifelog(service, idOf(request)),
		downloadAudio: async ({ query }, reply) => downloadAudio(service, query as AudioQuery, reply),
		listChats: async ({ query }) => listChats(service, query as ChatListQuery),
		getChat: async (request) =>
			getChat(service, idOf(request), (request.query as ChatListQuery).timezone),
		deleteChat: async (request) => deleteChat(service, idOf(request)),
		callMcp: async (request, reply) => callMcp(service, request, reply),
	};
}

function requireKey({ acceptsKey }: Service): onRequestAsyncHookHandler {
	return async (request) => {
		const key = keyOf(request);
		if (key === undefined || !acceptsKey(key)) {
			throw new ApiError(401, 'Unauthorized - Invalid or missing API key');
		}
	};
}

/**
 * What a 401 must tell of how to authenticate (RFC 9110, section 11.6.1; RFC 6750, section 3). At
 * `/mcp` it names no `resource_metadata`, as MCP's authorization has it for OAuth: this server has no
 * authorization server to lead to.
 */
function challengeOf({ name }: Service, request: FastifyRequest): string {
	if (request.routeOptions.url !== '/mcp') return `X-API-Key realm="${name}"`;
	const isRefused = bearerOf(request) ?? request.headers['x-api-key'];
	return `Bearer realm="${name}"${isRefused === undefined ? '' : ', error="invalid_token"'}`;
}

const refuseMethod: RouteHandlerMethod = (_request, reply) =>
	reply.code(405).header('allow', 'POST').send({ error: 'Only POST is understood here' });

/** Says what is wrong with a request; a validation error names the parameter. */
function describe({ name: service }: Service, error: FastifyError): string {
	const { validation, message, statusCode = 500 } = error;
	if (validation) {
		const [{ instancePath, message: problem = 'is invalid', params }] = validation;
		const name = instancePath.split('/').at(-1);
		const allowed = Array.isArray(params.allowedValues)
			? `: ${params.allowedValues.join(', ')}`
			: '';
		return name ? `${name} ${problem}${allowed}` : problem;
	}
	if (statusCode < 500 || error instanceof ApiError) return message;
	// Its message may quote what somebody said.
	return `The ${service} failed (${error.code ?? error.name}). Its log says where`;
}
