import type { FastifyInstance } from 'fastify';
import { contract } from '../http/contract.mts';
import { buildApi } from './api.mts';
import { buildControl } from './control.mts';
import { World, type DataOptions } from './world.mts';
import { asError } from '../util/errors.mts';

export interface SandboxOptions extends DataOptions {
	/** Port of the service; 0 (default) selects a free one. */
	port?: number;
	/** Port of the control interface; 0 (default) selects a free one. */
	controlPort?: number;
	/** The only accepted API key. Default `sandbox-key`. */
	apiKey?: string;
}

export interface Sandbox {
	/** Base URL of the service, without a trailing slash. */
	url: string;
	/** Base URL of the control interface, without a trailing slash. */
	controlUrl: string;
	apiKey: string;
	/** Stops it and closes all connections. */
	close: () => Promise<void>;
}

/**
 * Starts the service and its control interface in this process, only on 127.0.0.1. Rejects with the
 * error of `listen` if a port is in use. For the control interface, the error has `option`.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { port = 0, controlPort = 0, apiKey = 'sandbox-key', ...data } = options;
	const world = new World();
	world.reset(data);
	const api = await buildApi(world, contract, apiKey);
	const control = buildControl(world);
	const close = async () => {
		await Promise.all([api.close(), control.close()]);
	};
	try {
		const url = await listen(api, port);
		const controlUrl = await listen(control, controlPort).catch((error: unknown) => {
			throw Object.assign(asError(error), { option: 'control-port' });
		});
		return { url, controlUrl, apiKey, close };
	} catch (error) {
		await close();
		throw error;
	}
}

function listen(app: FastifyInstance, port: number): Promise<string> {
	return app.listen({ host: '127.0.0.1', port });
}
