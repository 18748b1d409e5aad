import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Ports of 127.0.0.1 that are free at this moment, all different. */
export async function freePorts(count: number): Promise<number[]> {
	const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
	await Promise.all(servers.map(async (server) => await once(server, 'listening')));
	const ports = servers.map((server) => (server.address() as AddressInfo).port);
	await Promise.all(servers.map(async (server) => await once(server.close(), 'close')));
	return ports;
}

/** The port if it is free, else another one. */
export async function freePortNear(port: number): Promise<number> {
	const server = createServer().listen(port, '127.0.0.1');
	try {
		await once(server, 'listening');
	} catch {
		return (await freePorts(1))[0];
	}
	await once(server.close(), 'close');
	return port;
}
