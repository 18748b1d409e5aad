import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../../lifelog/addresses.ts';
import { ApiError } from '../util/errors.mts';
import { refusePages } from '../http/refusePages.mts';

/**
 * Rejects requests of browsers with 403, except URLs that a user types. Also rejects requests that
 * don't use a name of this machine: a page whose host name resolves to this machine (DNS rebinding)
 * would have the same origin.
 */
export function refuseBrowsers(app: FastifyInstance): void {
	refusePages(app);
	app.addHook('onRequest', async ({ hostname, headers }) => {
		if (!isLoopback(hostname)) {
			throw new ApiError(403, 'Call the control interface by 127.0.0.1 or localhost');
		}
		if ((headers['sec-fetch-site'] ?? 'none') !== 'none') {
			throw new ApiError(403, 'Requests from web pages are refused');
		}
	});
}
