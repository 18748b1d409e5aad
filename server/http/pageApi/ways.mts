// Fills an archive from the page: from the service, or from the app's export.
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Archiving } from '../../backup/archiving.mts';
import type { Importing } from '../../import/importing.mts';
import { ApiError } from '../../util/errors.mts';
import { awaitUpload, requireKey } from '../api.mts';
import { keyOf } from '../auth/requestKey.mts';
import type { Service } from '../service.mts';
import type { WaysAnswer } from './answers.mts';

export interface Ways {
	archiving: Archiving;
	importing: Importing;
	/** Host of the service. */
	service: string;
}

const ZIP = 'application/zip';

/** Adds `/web/ways`, and routes that start and stop archiving and importing, which require a session. */
export async function addWays(
	app: FastifyInstance,
	service: Service,
	{ archiving, importing, service: host }: Ways,
): Promise<void> {
	const answer = async (): Promise<WaysAnswer> => ({
		service: host,
		archiving: archiving.state(),
		importing: await importing.state(),
	});
	await app.register(async (web) => {
		web.addHook('onRequest', requireKey(service));
		web.get('/web/ways', answer);
		await web.register(async (page) => {
			page.addHook('onRequest', async (request) => requireSession(service, request));
			// The body is streamed.
			page.addContentTypeParser(ZIP, (_request, body, done) => done(null, body));
			page.post<{ Body: { key?: string } }>(
				'/web/archiving',
				{ schema: { body: BODY }, bodyLimit: 10_000 },
				async ({ body }, reply) => {
					if (importing.isRunning) {
						throw new ApiError(409, 'An export is being imported. Wait until that has ended');
					}
					archiving.start(body.key);
					return reply.code(202).send(await answer());
				},
			);
			page.delete('/web/archiving', async () => {
				archiving.stop();
				return await answer();
			});
			page.post<{ Body: IncomingMessage }>(
				'/web/importing',
				{ onRequest: async ({ raw }) => awaitUpload(raw) },
				async ({ body, headers }, reply) => {
					if (headers['content-type'] !== ZIP) {
						throw new ApiError(415, 'Send the export as a zip');
					}
					if (archiving.isRunning) {
						throw new ApiError(409, 'Your lifelogs are being archived. Stop that first, or wait');
					}
					const bytes = Number(headers['content-length']);
					await importing.receive(body, Number.isNaN(bytes) ? undefined : bytes);
					return reply.code(202).send(await answer());
				},
			);
		});
	});
}

/**
 * Rejects clients with a key: scripts can use the commands, and agents must not do this.
 *
 * @throws ApiError (403)
 */
export function requireSession({ visitorOfSession }: Service, request: FastifyRequest): void {
	if (keyOf(request) === undefined && visitorOfSession?.(request)) return;
	throw new ApiError(403, 'Only the page can do this. Use the commands of lifelog-server instead');
}

const BODY = {
	type: 'object',
	additionalProperties: false,
	properties: { key: { type: 'string', minLength: 1, maxLength: 1000 } },
};
