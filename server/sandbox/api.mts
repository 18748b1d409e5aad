import type { FastifyInstance } from 'fastify';
import { addApi, answerErrors, createApp } from '../http/api.mts';
import type { Contract } from '../http/contract.mts';
import { getLifelogTool, searchLifelogs } from '../http/routes/mcpTools.mts';
import type { Service } from '../http/service.mts';
import { refusePages } from '../http/refusePages.mts';
import { speakDialect } from './dialect.mts';
import { injectFaults } from './faults.mts';
import { logRequests } from './requestLog.mts';
import type { World } from './world.mts';

/** Builds the public server: the API for the world's data, with its faults, latency and clock. */
export async function buildApi(
	world: World,
	contract: Contract,
	apiKey: string,
): Promise<FastifyInstance> {
	const app = createApp();
	logRequests(app, world.requests);
	refusePages(app);
	injectFaults(app, world);
	speakDialect(app, world);
	app.addHook('onSend', async (_request, reply) => {
		reply.header('date', new Date(world.now()).toUTCString());
	});
	const service = serviceOf(world, contract, apiKey);
	answerErrors(app, service);
	await addApi(app, service, contract);
	return app;
}

function serviceOf(world: World, contract: Contract, apiKey: string): Service {
	return {
		name: 'lifelog sandbox',
		documentation: contract.servers[0].url,
		current: () => world,
		get rateLimit() {
			return world.dialect.rateLimit;
		},
		tools: async () => [searchLifelogs, getLifelogTool],
		rateLimits: world.rateLimits,
		visitorOfKey: (key) => (key === apiKey ? { canChange: true, isOwner: false } : undefined),
		now: () => world.now(),
	};
}
