import { createHash } from 'node:crypto';
import cookie from '@fastify/cookie';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../../lifelog/addresses.ts';
import { hostName, isOwnName } from '../auth/hosts.mts';
import { SESSION_MS, type Access, type Visitor } from '../auth/access.mts';
import { LINK_MINUTES } from '../auth/link.mts';
import { ApiError } from '../../util/errors.mts';

/** Who can use the page. */
export interface SessionOptions {
	host: string;
	/** Names of `--allowed-hosts`. */
	allowedHosts: string[];
	/** Whether the page is served over plain HTTP to other machines (`--allow-http`). */
	allowHttp: boolean;
	access: Access;
}

/** The page sends this header with each change. Forms of other sites can't set it. */
const PAGE_HEADER = 'x-lifelog-page';
const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Signs users in with a link or an API key: `POST /session` `{ link }` or `{ key }` sets a cookie
 * for 30 days; `DELETE /session` ends the session. Rejects scripts of other websites with 403.
 *
 * @returns A function that returns the session of a request.
 */
export async function addSessions(
	app: FastifyInstance,
	options: SessionOptions,
): Promise<(request: FastifyRequest) => Visitor | undefined> {
	const { access } = options;
	const { secret } = access;
	await app.register(cookie, { secret });
	// Cookies ignore ports, so servers on one host need different names.
	const name = `lifelog_session_${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
	await app.register(rateLimit, { global: false });
	// Per address, to prevent guessing by scripts.
	const countWrong = app.createRateLimit({ max: 5, timeWindow: 60_000 });

	/** The session ID in a request's cookie, if this server signed it. */
	const sessionOf = (request: FastifyRequest): string | undefined => {
		const sent = request.cookies[name];
		return (sent !== undefined && request.unsignCookie(sent).value) || undefined;
	};

	app.addHook('onRequest', async (request) => {
		const { origin } = request.headers;
		if (origin !== undefined && !isOwnPage(request, options)) {
			throw new ApiError(403, 'Requests from web pages are refused');
		}
	});

	app.post<{ Body: { key?: string; link?: string } }>(
		'/session',
		{ schema: { body: BODY }, bodyLimit: 10_000 },
		async (request, reply) => {
			requirePage(request);
			if (isOnHttp(request, options)) {
				throw new ApiError(403, 'Sign in over HTTPS, or start the server with --allow-http');
			}
			const before = sessionOf(request);
			const session = access.signIn(request.body, before);
			if (session === undefined) {
				const counted = await countWrong(request);
				if (counted.isAllowed || !counted.isExceeded) {
					throw new ApiError(401, request.body.link === undefined ? NO_KEY : NO_LINK);
				}
				reply.header('retry-after', counted.ttlInSeconds);
				const what = request.body.link === undefined ? 'keys' : 'links';
				throw new ApiError(429, `Too many wrong ${what}. Try again in ${counted.ttlInSeconds} s`);
			}
			return reply
				.setCookie(name, reply.signCookie(session), {
					...{ ...cookieOf(request), maxAge: SESSION_MS / 1000 },
				})
				.code(204)
				.send();
		},
	);
	app.delete('/session', async (request, reply) => {
		requirePage(request);
		const session = sessionOf(request);
		if (session !== undefined) access.endSessions(session);
		return reply.clearCookie(name, cookieOf(request)).code(204).send();
	});

	return (request) => {
		if (request.cookies[name] === undefined) return undefined;
		requireOwnHost(request, options);
		if (isOnHttp(request, options)) return undefined;
		const session = sessionOf(request);
		const visitor = session === undefined ? undefined : access.visitorOfSession(session);
		if (visitor && CHANGES.includes(request.method)) requirePage(request);
		return visitor;
	};
}

const NO_KEY = "That isn't an API key of this server";
const NO_LINK = `This link was used, is older than ${LINK_MINUTES} minutes, or there is a newer one`;

/** Whether a request came over plain HTTP from another machine, which isn't allowed. */
export function isOnHttp(request: FastifyRequest, { allowHttp }: SessionOptions): boolean {
	return request.protocol === 'http' && !allowHttp && !isLoopback(hostName(request.host));
}

/** Whether a request uses a name of this server, not one that may be another website's. */
export function isOwnHost({ host }: FastifyRequest, options: SessionOptions): boolean {
	return isOwnName(hostName(host), options.host, options.allowedHosts);
}

/** Rejects a request with a name that may be another website's. @throws ApiError (403) */
function requireOwnHost(request: FastifyRequest, options: SessionOptions): void {
	if (isOwnHost(request, options)) return;
	const name = hostName(request.host);
	throw new ApiError(
		403,
		`This server doesn't know the name ${name}. If it's yours, start it with --allowed-hosts ${name}`,
	);
}

/**
 * Rejects a change that the page didn't send. `Origin` was already checked to be this server's.
 *
 * @throws ApiError (403)
 */
function requirePage({ headers }: FastifyRequest): void {
	if (headers[PAGE_HEADER] === undefined || headers.origin === undefined) {
		throw new ApiError(403, `Changes by cookie need the header ${PAGE_HEADER} and an Origin`);
	}
}

/** Whether a request's `Origin` is this server's page. */
function isOwnPage(request: FastifyRequest, { host, allowedHosts }: SessionOptions): boolean {
	return (
		request.headers.origin === `${request.protocol}://${request.host}` &&
		isOwnName(hostName(request.host), host, allowedHosts)
	);
}

const cookieOf = ({ protocol }: FastifyRequest) =>
	({ path: '/', httpOnly: true, sameSite: 'strict', secure: protocol === 'https' }) as const;

const BODY = {
	type: 'object',
	oneOf: [{ required: ['key'] }, { required: ['link'] }],
	additionalProperties: false,
	properties: {
		key: { type: 'string', minLength: 1, maxLength: 1000 },
		link: { type: 'string', minLength: 1, maxLength: 1000 },
	},
};
