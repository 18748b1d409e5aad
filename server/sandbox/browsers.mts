import type { FastifyInstance } from 'fastify';
import { isLoopback } from '../../lifelog/addresses.ts';
import { ApiError } from '../util/errors.mts';
import { refusePages } from '../http/refusePages.mts';

/**
 * Refuses with 403 whatever a browser sends but what a person types into its address bar, and any
 * request that does not call this machine by a name of its own: a page whose host name was pointed
 * to this machine (DNS rebinding) reads from its own origin.
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
