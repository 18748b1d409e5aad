import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { Ajv } from 'ajv';
import Fastify from 'fastify';
import type {
	FastifyError,
	FastifyInstance,
	FastifyReply,
	FastifyRequest,
	FastifyServerOptions,
	onRequestAsyncHookHandler,
	RouteHandlerMethod,
} from 'fastify';
import multipart from '@fastify/multipart';
import { downloadAudio, type AudioQuery } from './routes/audio.mts';
import { deleteChat, getChat, listChats, type ChatListQuery } from './routes/chats.mts';
import {
	addLifelog,
	changeLifelog,
	checkChanges,
	checkRecordings,
	MAX_BODY_BYTES,
	writeTitle,
} from './routes/changes.mts';
import { listRoutes, type Contract } from './contract.mts';
import { ApiError, RateLimitedError, UnavailableError } from '../util/errors.mts';
import { answerFailure } from '../util/failures.mts';
import { deleteLifelog, getLifelog, listLifelogs } from './routes/lifelogs.mts';
import type { GetQuery, ListQuery } from './routes/lifelogs.mts';
import { logFailure, RequestLog } from './log.mts';
import { answerRateLimited, limitRate } from './rateLimit.mts';
import {
	type AskedPeopleChange,
	changePeople,
	listPeople,
	type PeopleQuery,
} from './routes/people.mts';
import {
	deleteRecording,
	downloadRecording,
	getRecording,
	listRecordings,
	retryRecording,
	TOO_LARGE,
	transcribeAgain,
	uploadRecording,
	type RecordingsQuery,
} from './routes/recordings.mts';
import {
	type AskedReplacement,
	createReplacement,
	deleteReplacement,
	listReplacements,
} from './routes/replacements.mts';
import {
	createWebhook,
	deleteWebhook,
	listDeliveries,
	listEvents,
	listWebhooks,
	type NewWebhook,
	testWebhook,
} from './routes/webhooks.mts';
import type { Visitor } from './auth/access.mts';
import { bearerOf, keyOf } from './auth/requestKey.mts';
import type { Service } from './service.mts';
import type { AskedChange } from '../archive/edits.mts';
import type { NewLifelog } from '../recordings/makeLifelog.mts';

/** Maximum time for a request to arrive. */
const MAX_REQUEST_MS = 20_000;
/** Maximum time an upload may stall. */
const UPLOAD_STALL_MS = 30_000;
const UPLOAD = 'uploadRecording';
/** Maximum characters of an ID in a path. */
const MAX_PARAMETER = 1000;

const JSON_BODIES = [
	...['createLifelog', 'updateLifelog', 'changePeople', 'createReplacement', 'retryRecording'],
	'createWebhook',
];
/** Operations that read-only keys can't use: webhook addresses may be secret. */
const FOR_FULL_KEYS = ['listWebhooks', 'listDeliveries'];

const strict = new Ajv({ strict: false, validateSchema: false });
/** Fastify's own validator converts null to false, which would remove a star. */
const compileStrictly = ({ schema }: { schema: object }) => strict.compile(schema);

const requestLog = new RequestLog();

/**
 * Creates an HTTP server without routes. Hooks can be added before `answerErrors` and `addApi`.
 *
 * @param options Fastify options that override the defaults.
 */
export function createApp(options: FastifyServerOptions = {}): FastifyInstance {
	const app = Fastify({
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		http: { headersTimeout: MAX_REQUEST_MS, connectionsCheckingInterval: MAX_REQUEST_MS / 4 },
		routerOptions: { maxParamLength: MAX_PARAMETER },
		// A request may contain its full URL (RFC 9112, section 3.2.2). The nodes do this over http.
		rewriteUrl: ({ url }) => url!.replace(/^https?:\/\/[^/?]*/i, ''),
		// Random: a counter would repeat after a restart.
		genReqId: () => randomBytes(4).toString('hex'),
		logController: requestLog,
		frameworkErrors: answerAddressError,
		// `__proto__` may be the name of a person. Bodies are only read, and never assigned to other
		// objects.
		onProtoPoisoning: 'ignore',
		...options,
	});
	app.addHook('onRequest', async ({ raw }) => limitRequestTime(raw));
	// Fastify's own serializer would drop fields that aren't in the contract.
	app.setSerializerCompiler(() => (data) => JSON.stringify(data));
	return app;
}

/** Answers a request with an invalid path. Fastify's own answer would quote the path. */
function answerAddressError(
	{ statusCode = 400 }: FastifyError,
	request: FastifyRequest,
	reply: FastifyReply,
): void {
	const error =
		statusCode === 414
			? `The address has a part of over ${MAX_PARAMETER} characters`
			: 'The address has a % that encodes nothing. Write it as %25';
	// Hooks of the server and its log don't see these requests.
	reply.code(statusCode).header('cache-control', 'private, no-store').send({ error });
	requestLog.requestCompleted(undefined, request, reply);
}

/** Sets the error handlers for all routes that are added to `app` later. */
export function answerErrors(app: FastifyInstance, service: Service): void {
	app.setErrorHandler(async (error: FastifyError, request, reply) => {
		if (error.statusCode !== 401) await readToEnd(request.raw);
		if (error instanceof RateLimitedError) {
			return reply.code(429).send(answerRateLimited(error));
		}
		if (error instanceof UnavailableError) reply.header('retry-after', error.retryAfterS);
		const isExpected = error instanceof ApiError || (error.statusCode ?? 500) < 500;
		const { statusCode = 500, message } = isExpected ? error : answerFailure(service.name, error);
		if (statusCode >= 500) {
			logFailure(request, statusCode, error);
			return reply.code(statusCode).send({ error: `${message} (request ${request.id})` });
		}
		if (statusCode === 401) {
			reply.header('www-authenticate', challengeOf(service, request));
		}
		return reply.code(statusCode).send({ error: describe(error, request) });
	});
}

/**
 * Adds the API to `app`, after `answerErrors`. The contract defines the routes and the validation
 * of requests. Only the handlers of the operations are here.
 */
export async function addApi(
	app: FastifyInstance,
	service: Service,
	contract: Contract,
): Promise<void> {
	await limitRate(app, service);

	const handlers = operationHandlers(service);
	const { maxUploadBytes } = service;
	if (maxUploadBytes !== undefined) {
		await app.register(multipart, { limits: { fileSize: maxUploadBytes, fields: 10, files: 2 } });
	}
	for (const { isOpen, operationId, ...route } of listRoutes(contract)) {
		app.route({
			...route,
			handler: handlers[operationId],
			exposeHeadRoute: operationId === 'downloadAudio',
			onRequest: [
				...(isOpen ? [] : [requireKey(service, FOR_FULL_KEYS.includes(operationId))]),
				...(operationId === UPLOAD ? [async ({ raw }: FastifyRequest) => awaitUpload(raw)] : []),
				async () => permissions[operationId]?.(service),
			],
			...(permissions[operationId] && { bodyLimit: MAX_BODY_BYTES }),
			...(JSON_BODIES.includes(operationId) && { validatorCompiler: compileStrictly }),
			// Its body is streamed, and checked by the handler.
			...(operationId === UPLOAD && { validatorCompiler: () => () => true }),
		});
	}
	// A stateless MCP server has no event stream to open and no session to end.
	app.route({
		method: ['GET', 'DELETE'],
		url: '/mcp',
		onRequest: requireKey(service),
		handler: refuseMethod,
	});
	app.setNotFoundHandler({ preHandler: app.rateLimit() }, async (request, reply) => {
		const shown = service.showNotFound?.(request, reply);
		if (shown) return shown;
		throw new ApiError(404, `There is no endpoint ${request.method} ${request.url}`);
	});
}

/** Timers that abort a request. */
const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Aborts a request whose body doesn't arrive in time. */
function limitRequestTime(request: IncomingMessage): void {
	const { 'content-length': length = '0' } = request.headers;
	if (length === '0' && !request.headers['transfer-encoding']) return;
	const late = setTimeout(() => request.destroy(), MAX_REQUEST_MS);
	request.once('end', () => clearTimeout(late)).once('close', () => clearTimeout(late));
	deadlines.set(request, late);
}

/** Allows an upload to take long while data arrives. */
export function awaitUpload(request: IncomingMessage): void {
	clearTimeout(deadlines.get(request));
	request.setTimeout(UPLOAD_STALL_MS, () => request.destroy());
	// A slow disk may need longer to save what has arrived.
	request.once('end', () => request.setTimeout(0));
}

/**
 * Discards the rest of a body while data arrives. A client that is still sending when the
 * connection closes sees a reset instead of the answer.
 */
async function readToEnd(body: IncomingMessage): Promise<void> {
	if (body.complete) return;
	body.unpipe();
	await finished(body.resume()).catch(() => {});
}

/** Checks that reject operations which the server's options don't allow. */
const permissions: Record<string, (service: Service) => void> = {
	createLifelog: checkChanges,
	updateLifelog: checkChanges,
	changePeople: checkChanges,
	createReplacement: checkChanges,
	deleteReplacement: checkChanges,
	writeTitle: checkChanges,
	uploadRecording: checkChanges,
	retryRecording: checkChanges,
	transcribeAgain: checkChanges,
	deleteRecording: checkChanges,
	listRecordings: checkRecordings,
	getRecording: checkRecordings,
	downloadRecording: checkRecordings,
};

/** Handlers of the contract's operations, by operationId. */
function operationHandlers(service: Service): Record<string, RouteHandlerMethod> {
	const idOf = (request: FastifyRequest) => (request.params as { id: string }).id;
	return {
		getRoot: (_request, reply) => reply.redirect(service.documentation),
		listLifelogs: async ({ query }) => listLifelogs(service, query as ListQuery),
		getLifelog: async (request) => getLifelog(service, idOf(request), request.query as GetQuery),
		deleteLifelog: async (request) => deleteLifelog(service, idOf(request)),
		createLifelog: async ({ body }, reply) => addLifelog(service, body as NewLifelog, reply),
		updateLifelog: async (request) =>
			changeLifelog(service, idOf(request), request.body as AskedChange),
		listPeople: async ({ query }) => listPeople(service, query as PeopleQuery),
		changePeople: async ({ body }) => changePeople(service, body as AskedPeopleChange),
		listReplacements: async () => listReplacements(service),
		createReplacement: async ({ body }, reply) =>
			createReplacement(service, body as AskedReplacement, reply),
		deleteReplacement: async (request) => deleteReplacement(service, idOf(request)),
		[UPLOAD]: async (request, reply) => uploadRecording(service, request, reply),
		listRecordings: async ({ query }) => listRecordings(service, query as RecordingsQuery),
		getRecording: async (request) => getRecording(service, idOf(request)),
		downloadRecording: async (request, reply) =>
			downloadRecording(service, idOf(request), request.headers, reply),
		writeTitle: async (request) => writeTitle(service, idOf(request)),
		retryRecording: async (request) =>
			retryRecording(service, idOf(request), (request.body ?? {}) as { language?: string | null }),
		transcribeAgain: async (request, reply) => transcribeAgain(service, idOf(request), reply),
		deleteRecording: async (request) => deleteRecording(service, idOf(request)),
		downloadAudio: async ({ query, headers }, reply) =>
			downloadAudio(service, query as AudioQuery, headers, reply),
		listChats: async ({ query }) => listChats(service, query as ChatListQuery),
		getChat: async (request) =>
			getChat(service, idOf(request), (request.query as ChatListQuery).timezone),
		deleteChat: async (request) => deleteChat(service, idOf(request)),
		createWebhook: async ({ body }, reply) => createWebhook(service, body as NewWebhook, reply),
		listWebhooks: async () => listWebhooks(service),
		deleteWebhook: async (request) => deleteWebhook(service, idOf(request)),
		testWebhook: async (request) => testWebhook(service, idOf(request)),
		listDeliveries: async (request) =>
			listDeliveries(service, idOf(request), (request.query as { limit?: number }).limit),
		listEvents: async ({ query }) =>
			listEvents(service, query as { after?: number; limit?: number }),
		callMcp: async (request, reply) =>
			(await import('./routes/mcp.mts')).callMcp(service, request, reply),
	};
}

/**
 * Rejects a request without a key or a session. Also rejects requests with a read-only key that may
 * change something. Used for the API, MCP and the page.
 *
 * @param needsFull Whether to reject all requests with a read-only key.
 */
export function requireKey(service: Service, needsFull = false): onRequestAsyncHookHandler {
	return async (request) => {
		const visitor = visitorOf(service, request);
		if (!visitor) throw new ApiError(401, 'Unauthorized - Invalid or missing API key');
		if (visitor.canChange || (!needsFull && isReading(request))) return;
		throw new ApiError(
			403,
			"This key can only read. Use a full one: make it on the server's page, under Connect",
		);
	};
}

/** The owner of a request's key or, without a key, of its session. */
export function visitorOf(
	{ visitorOfKey, visitorOfSession }: Service,
	request: FastifyRequest,
): Visitor | undefined {
	const key = keyOf(request);
	return key === undefined ? visitorOfSession?.(request) : visitorOfKey(key);
}

/** Whether a request can't change anything. All tools of the MCP server only read. */
const isReading = ({ method, routeOptions }: FastifyRequest) =>
	['GET', 'HEAD'].includes(method) || routeOptions.url === '/mcp';

/**
 * The challenge of a 401 (RFC 9110, section 11.6.1; RFC 6750, section 3). At `/mcp` it has no
 * `resource_metadata`, although MCP's authorization requires it for OAuth: this server has no
 * authorization server.
 */
function challengeOf({ name }: Service, request: FastifyRequest): string {
	if (request.routeOptions.url !== '/mcp') return `X-API-Key realm="${name}"`;
	const isRefused = bearerOf(request) ?? request.headers['x-api-key'];
	return `Bearer realm="${name}"${isRefused === undefined ? '' : ', error="invalid_token"'}`;
}

const refuseMethod: RouteHandlerMethod = (_request, reply) =>
	reply.code(405).header('allow', 'POST').send({ error: 'Only POST works here' });

/** Describes the problem of a request. A validation error names the parameter. */
function describe(
	{ validation, message: ownMessage, statusCode }: FastifyError,
	{ routeOptions }: FastifyRequest,
): string {
	if (validation) {
		const [{ instancePath, keyword, message = 'is invalid', params }] = validation;
		const problem = keyword === 'type' ? message.replaceAll(',', ' or ') : message;
		const name = instancePath.split('/').at(-1);
		const allowed = Array.isArray(params.allowedValues)
			? `: ${params.allowedValues.join(', ')}`
			: '';
		return name ? `${name} ${problem}${allowed}` : problem;
	}
	if (statusCode === 413 && ownMessage !== TOO_LARGE && routeOptions.bodyLimit === MAX_BODY_BYTES) {
		return `The body is larger than ${MAX_BODY_BYTES / 2 ** 20} MiB. Send it in parts`;
	}
	return ownMessage;
}
