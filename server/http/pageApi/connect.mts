import type { FastifyInstance } from 'fastify';
import { commandName } from '../../util/commandLine.mts';
import { ApiError } from '../../util/errors.mts';
import { requireKey, visitorOf } from '../api.mts';
import type { Access } from '../auth/access.mts';
import type { Service } from '../service.mts';
import type { ConnectAnswer, NewKey } from './answers.mts';

interface WantedKey {
	name: string;
	isReadOnly: boolean;
}

/**
 * Adds routes that create and delete keys, and end sessions. They require a session that started
 * with a link, so that a leaked key can't create others.
 *
 * @param publicUrl The address of `--public-url`.
 */
export async function addConnect(
	app: FastifyInstance,
	service: Service,
	access: Access,
	publicUrl: string | undefined,
): Promise<void> {
	await app.register(async (owner) => {
		owner.addHook('onRequest', requireKey(service));
		owner.addHook('onRequest', async (request) => {
			if (visitorOf(service, request)?.isOwner) return;
			throw new ApiError(
				403,
				`Only a browser that signed in with a link may do this. Make a link: ${commandName} link <folder>`,
			);
		});
		owner.get('/web/connect', async (request): Promise<ConnectAnswer> => {
			const keys = access.keys.map(({ id, name, isReadOnly, createdAt, usedAt }) => ({
				...{ id, name, isReadOnly, isGiven: access.isGiven(id) },
				...{ createdAt: iso(createdAt), usedAt: iso(usedAt) },
			}));
			const own = visitorOf(service, request)?.session;
			const sessions = access.sessions.map(({ id, key, startedAt, usedAt }) => ({
				...{ id, key: keys.find((each) => each.id === key)?.name ?? null },
				...{ startedAt: iso(startedAt)!, usedAt: iso(usedAt)!, isThis: id === own },
			}));
			return { publicUrl: publicUrl ?? null, keys, sessions };
		});
		owner.post<{ Body: WantedKey }>(
			'/web/keys',
			{ schema: { body: BODY }, bodyLimit: 10_000 },
			async ({ body: { name, isReadOnly } }, reply): Promise<NewKey> => {
				void reply.code(201);
				return access.makeKey(name, isReadOnly);
			},
		);
		owner.delete<{ Params: { id: string } }>('/web/keys/:id', async ({ params }, reply) => {
			access.removeKey(params.id);
			return reply.code(204).send();
		});
		owner.delete<{ Params: { id: string } }>('/web/sessions/:id', async ({ params }, reply) => {
			access.endSessions(params.id);
			return reply.code(204).send();
		});
		owner.delete('/web/sessions', async (_request, reply) => {
			access.endSessions();
			return reply.code(204).send();
		});
	});
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

const BODY = {
	type: 'object',
	required: ['name', 'isReadOnly'],
	additionalProperties: false,
	properties: {
		name: { type: 'string', pattern: '\\S', maxLength: 100 },
		isReadOnly: { type: 'boolean' },
	},
};
