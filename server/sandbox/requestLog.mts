import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A request in the control interface. */
export interface LoggedRequest {
	/** Time of arrival, in real milliseconds. */
	at: number;
	method: string;
	/** The raw path without the query. */
	path: string;
	query: Record<string, unknown>;
	/** Status of the answer, or null without one. */
	status: number | null;
	/** Whether it had an API key. */
	keyed: boolean;
}

/** Records every request to `app` in `log`. */
export function logRequests(app: FastifyInstance, log: LoggedRequest[]): void {
	const entries = new WeakMap<FastifyRequest, LoggedRequest>();
	app.addHook('onRequest', async (request) => {
		const entry: LoggedRequest = {
			at: Date.now(),
			method: request.method,
			path: request.url.split('?')[0],
			query: { ...(request.query as object) },
			status: null,
			keyed: request.headers['x-api-key'] !== undefined,
		};
		entries.set(request, entry);
		log.push(entry);
	});
	app.addHook('onSend', async (request, reply) => {
		const entry = entries.get(request);
		if (entry) entry.status = reply.statusCode;
	});
}
