import { createHash } from 'node:crypto';
import cookie from '@fastify/cookie';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../../lifelog/addresses.ts';
import { hostName, isOwnName } from '../auth/hosts.mts';
import { SESSION_MS } from '../auth/session.mts';
import { ApiError } from '../../util/errors.mts';

/** Whom the page is shown to. */
export interface SessionOptions {
	/** The `--host` of the server. */
	host: string;
	/** The names of `--allowed-hosts`. */
	allowedHosts: string[];
	/** Whether the page is served by plain HTTP beyond this machine (`--allow-http`). */
	allowHttp: boolean;
	/** Signs the cookie. */
	secret: string;
	acceptsKey: (key: string) => boolean;
}

/** Sent by the page with each request that changes something: a form of another site can't. */
const PAGE_HEADER = 'x-lifelog-page';
const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Signs people in by the API key: `POST /session` `{ key }` sets a cookie for 30 days, `DELETE
 * /session` removes it. Refuses what scripts of other websites send, with 403.
 *
 * @returns Whether a request comes with a valid session.
 */
export async function addSessions(
	app: FastifyInstance,
	options: SessionOptions,
): Promise<(request: FastifyRequest) => boolean> {
	const { secret, acceptsKey } = options;
	await app.register(cookie, { secret });
	// Cookies don't know ports: servers of one host have one each.
	const name = `lifelog_session_${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
	await app.register(rateLimit, { global: false });
	// By address, so that no script can guess.
	const countWrongKey = app.createRateLimit({ max: 5, timeWindow: 60_000 });

	app.addHook('onRequest', async (request) => {
		const { origin } = request.headers;
		if (origin !== undefined && !isOwnPage(request, options)) {
			throw new ApiError(403, 'Requests from web pages are refused');
		}
	});

	app.post<{ Body: { key: string } }>(
		'/session',
		{ schema: { body: BODY }, bodyLimit: 10_000 },
		async (request, reply) => {
			requirePage(request);
			if (isOnHttp(request, options)) {
				throw new ApiError(403, 'Sign in over HTTPS, or start the server with --allow-http');
			}
			if (!acceptsKey(request.body.key)) {
				const counted = await countWrongKey(request);
				if (counted.isAllowed || !counted.isExceeded) {
					throw new ApiError(401, "That isn't the API key of this server");
				}
				reply.header('retry-after', counted.ttlInSeconds);
				throw new ApiError(429, `Too many wrong keys. Try again in ${counted.ttlInSeconds} s`);
			}
			const value = reply.signCookie(String(Date.now() + SESSION_MS));
			return reply
				.setCookie(name, value, { ...cookieOf(request), maxAge: SESSION_MS / 1000 })
				.code(204)
				.send();
		},
	);
	app.delete('/session', async (request, reply) => {
		requirePage(request);
		return reply.clearCookie(name, cookieOf(request)).code(204).send();
	});

	return (request) => {
		const sent = request.cookies[name];
		if (sent === undefined) return false;
		requireOwnHost(request, options);
		if (isOnHttp(request, options)) return false;
		const { valid, value } = request.unsignCookie(sent);
		if (!valid || Number(value) < Date.now()) return false;
		if (CHANGES.includes(request.method)) requirePage(request);
		return true;
	};
}

/** Whether a request came by plain HTTP from beyond this machine, and that isn't allowed. */
export function isOnHttp(request: FastifyRequest, { allowHttp }: SessionOptions): boolean {
	return request.protocol === 'http' && !allowHttp && !isLoopback(hostName(request.host));
}

/** Whether a request is for a name of this server, and not one that may be another website's. */
export function isOwnHost({ host }: FastifyRequest, options: SessionOptions): boolean {
	return isOwnName(hostName(host), options.host, options.allowedHosts);
}

/**
 * Refuses a request for a name that may be another website's.
 *
 * @throws ApiError (403)
 */
function requireOwnHost(request: FastifyRequest, options: SessionOptions): void {
	if (isOwnHost(request, options)) return;
	const name = hostName(request.host);
	throw new ApiError(
		403,
		`This server doesn't know the name ${name}. If it's yours, start it with --allowed-hosts ${name}`,
	);
}

/**
 * Refuses a change that the page didn't send. Every `Origin` that gets here is this server's own.
 *
 * @throws ApiError (403)
 */
function requirePage({ headers }: FastifyRequest): void {
	if (headers[PAGE_HEADER] === undefined || headers.origin === undefined) {
		throw new ApiError(403, `Changes by cookie need the header ${PAGE_HEADER} and an Origin`);
	}
}

/** Whether the page that sent a request, by its `Origin`, is this server's own. */
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
	required: ['key'],
	additionalProperties: false,
	properties: { key: { type: 'string', minLength: 1, maxLength: 1000 } },
};
