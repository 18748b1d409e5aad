import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that a system gives to connections and to whoever asks for any: n8n takes its
// own only seconds after they were chosen here, and others start and connect meanwhile.
const lowest = 10_000;
const highest = 32_000;

/** Ports of 127.0.0.1 that are free at this moment, all different. */
export async function freePorts(count: number): Promise<number[]> {
	const ports = new Set<number>();
	while (ports.size < count) {
		const port = randomInt(lowest, highest);
		if (await isFree(port)) ports.add(port);
	}
	return [...ports];
}

/** The port if it is free, else another one. */
export async function freePortNear(port: number): Promise<number> {
	return (await isFree(port)) ? port : (await freePorts(1))[0];
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer().listen(port, '127.0.0.1');
	try {
		await once(server, 'listening');
	} catch {
		return false;
	}
	await once(server.close(), 'close');
	return true;
}
