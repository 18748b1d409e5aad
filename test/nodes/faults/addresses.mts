import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../support/certificate.mts';

/** Base URLs at which no service can be had. */
export interface Addresses {
	refused: string;
	unknownHost: string;
	badCertificate: string;
	noTls: string;
	close: () => void;
}

export async function startAddresses(): Promise<Addresses> {
	const closed = createServer();
	const refused = `http://127.0.0.1:${await listen(closed)}`;
	closed.close();

	const secure = createTlsServer(selfSigned(), (_request, response) => response.end('{}'));
	const plain = createServer((_request, response) => response.end('{}'));
	return {
		refused,
		unknownHost: 'https://nothing.invalid',
		badCertificate: `https://127.0.0.1:${await listen(secure)}`,
		noTls: `https://127.0.0.1:${await listen(plain)}`,
		close() {
			for (const server of [secure, plain]) server.close().closeAllConnections();
		},
	};
}

async function listen(server: Server): Promise<number> {
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return (server.address() as AddressInfo).port;
}
