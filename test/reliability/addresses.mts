import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

/** A key and a certificate for it that nobody has signed but itself. */
function selfSigned(): { key: Buffer; cert: Buffer } {
	const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
	const key = join(directory, 'key.pem');
	const cert = join(directory, 'cert.pem');
	try {
		const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'];
		const files = ['-keyout', key, '-out', cert, '-subj', '/CN=127.0.0.1'];
		execFileSync('openssl', [...request, ...files], { stdio: 'pipe' });
		return { key: readFileSync(key), cert: readFileSync(cert) };
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
