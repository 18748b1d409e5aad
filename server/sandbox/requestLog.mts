import type { FastifyInstance, FastifyRequest } from 'fastify';

/** One request as the control interface tells it. */
export interface LoggedRequest {
	/** When it came, in real milliseconds. */
	at: number;
	method: string;
	/** The path as it came, not decoded and without the query. */
	path: string;
	query: Record<string, unknown>;
	/** The status answered, or null while there is none (or when there never was one). */
	status: number | null;
	/** Whether it carried an API key. */
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
