import type { FastifyInstance } from 'fastify';
import { ApiError } from '../util/errors.mts';

/**
 * Refuses with 403 what scripts of web pages send, wherever the page is from: a browser says so in
 * `Origin`, except where the page reads from its own origin.
 */
export function refusePages(app: FastifyInstance): void {
	app.addHook('onRequest', async ({ headers }) => {
		if (headers.origin !== undefined)
			throw new ApiError(403, 'Requests from web pages are refused');
	});
}
