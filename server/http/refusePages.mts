import type { FastifyInstance } from 'fastify';
import { ApiError } from '../util/errors.mts';

/**
 * Rejects requests by scripts of any website with 403. Browsers send `Origin`, except for reads
 * from the same origin.
 */
export function refusePages(app: FastifyInstance): void {
	app.addHook('onRequest', async ({ headers }) => {
		if (headers.origin !== undefined)
			throw new ApiError(403, 'Requests from web pages are refused');
	});
}
