import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service on a free port of 127.0.0.1. */
export interface Served {
	url: string;
	server: Server;
	/** Also ends what is under way. */
	close: () => Promise<void>;
}

/** Starts a service that answers as a test wants it to. */
export async function serve(handler: RequestListener): Promise<Served> {
	const server = createServer(handler);
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		server,
		async close() {
			if (!server.listening) return;
			const closed = once(server, 'close');
			server.close().closeAllConnections();
			await closed;
		},
	};
}
