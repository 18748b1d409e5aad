import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { refuseBrowsers } from './browsers.mts';
import type { StoredChat } from './data/storedChat.mts';
import { changeDialect, dialectSchema, type DialectChange } from './dialect.mts';
import { ApiError } from '../util/errors.mts';
import { faultsSchema, type Fault } from './faults.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import type { DataOptions, World } from './world.mts';

/** Body of `POST /reset`. */
export interface ResetOptions extends DataOptions {
	dialect?: DialectChange;
}

/** Answer of `GET /status`. */
export interface Status {
	/** The sandbox's time. */
	now: string;
	lifelogs: number;
	chats: number;
	/** Start of the first and of the last lifelog, or null without lifelogs. */
	first: string | null;
	last: string | null;
	dialect: World['dialect'];
}

const dateTime = { type: 'string', format: 'date-time' };
const body = (properties: object, strict: boolean) => ({
	schema: { body: { type: ['object', 'null'], properties, additionalProperties: !strict } },
});
const resetBody = body(
	{
		seed: { type: 'integer' },
		now: dateTime,
		days: { type: 'integer', minimum: 1 },
		perDay: { type: 'integer', minimum: 0 },
		lifelogs: { type: 'integer', minimum: 0 },
		markdownBytes: { type: 'integer', minimum: 0 },
		empty: { type: 'boolean' },
		dialect: dialectSchema,
	},
	true,
);
const lifelogBody = body(
	{
		title: { type: 'string' },
		contents: { type: 'array' },
		startTime: dateTime,
		endTime: dateTime,
		isStarred: { type: 'boolean' },
		updatedAt: dateTime,
	},
	false,
);
const chatBody = body(
	{
		messages: { type: 'array' },
		createdAt: dateTime,
		startedAt: dateTime,
		visibility: { enum: ['private', 'public', 'internal'] },
		owner: { enum: ['self', 'other'] },
		globalPromptId: { type: ['string', 'null'] },
	},
	false,
);

/**
 * Builds the control server, which isn't part of the contract. It shows the sandbox's state,
 * changes its data, dialect and clock, and sets faults.
 */
export function buildControl(world: World): FastifyInstance {
	const app = Fastify({
		forceCloseConnections: true,
		ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
	});
	refuseBrowsers(app);

	app.get('/status', () => status(world));
	app.post<{ Body: ResetOptions | null }>('/reset', resetBody, (request) => {
		const { dialect, ...data } = request.body ?? {};
		world.reset(data, dialect);
		return status(world);
	});
	app.put<{ Body: { now: string | null } }>(
		'/clock',
		{ schema: { body: { type: 'object', required: ['now'] } } },
		({ body: { now } }) => {
			world.fixedNow = now === null ? undefined : Date.parse(instant(now));
			return status(world);
		},
	);
	app.patch<{ Body: DialectChange }>(
		'/dialect',
		{ schema: { body: dialectSchema } },
		(request) => (world.dialect = changeDialect(world.dialect, request.body)),
	);

	app.get('/requests', () => world.requests);
	app.delete('/requests', (_request, reply) => {
		world.requests.length = 0;
		return reply.code(204).send();
	});
	app.put<{ Body: Fault[] }>('/faults', { schema: { body: faultsSchema } }, (request, reply) => {
		world.faults = request.body;
		return reply.code(204).send();
	});

	app.get('/lifelogs', () => world.lifelogs.list());
	app.post<{ Body: Partial<Lifelog> }>('/lifelogs', lifelogBody, (request, reply) => {
		const lifelog = newLifelog(world, request.body);
		world.saveLifelog(lifelog);
		return reply.code(201).send(lifelog);
	});
	app.patch<ById<Partial<Lifelog>>>('/lifelogs/:id', lifelogBody, ({ params, body }) => {
		const lifelog = changedLifelog(world, found(world.lifelogs.get(params.id)), body);
		world.saveLifelog(lifelog);
		return lifelog;
	});
	app.delete<ById>('/lifelogs/:id', ({ params }, reply) => {
		found(world.deleteLifelog(params.id) || undefined);
		return reply.code(204).send();
	});

	app.get('/chats', () => world.chats.list());
	app.post<{ Body: Partial<StoredChat> }>('/chats', chatBody, (request, reply) => {
		const chat = newChat(world, request.body);
		world.chats.put(chat);
		return reply.code(201).send(chat);
	});
	app.patch<ById<Partial<StoredChat>>>('/chats/:id', chatBody, ({ params, body }) => {
		const chat = normalizeChat({ ...found(world.chats.get(params.id)), ...body, id: params.id });
		world.chats.put(chat);
		return chat;
	});
	app.delete<ById>('/chats/:id', ({ params }, reply) => {
		found(world.chats.delete(params.id) || undefined);
		return reply.code(204).send();
	});

	app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
		reply.code(error.statusCode ?? 500).send({ error: error.message }),
	);
	return app;
}

type ById<Body = unknown> = { Params: { id: string }; Body: Body };

function found<Entry>(entry: Entry | undefined): Entry {
	if (entry === undefined) throw new ApiError(404, 'There is nothing with this id');
	return entry;
}

function status(world: World): Status {
	const lifelogs = world.lifelogs.list();
	return {
		now: new Date(world.now()).toISOString(),
		lifelogs: lifelogs.length,
		chats: world.chats.list().length,
		first: lifelogs.at(0)?.startTime ?? null,
		last: lifelogs.at(-1)?.startTime ?? null,
		dialect: world.dialect,
	};
}

function instant(iso: string): string {
	const ms = Date.parse(iso);
	if (Number.isNaN(ms)) throw new ApiError(400, `"${iso}" is not an ISO date-time`);
	return new Date(ms).toISOString();
}

const newId = () => randomUUID().replaceAll('-', '').slice(0, 20);
const fiveMinutes = 5 * 60_000;

/** Completes a given lifelog: by default five minutes that end now. */
function newLifelog(world: World, given: Partial<Lifelog>): Lifelog {
	const now = new Date(world.now()).toISOString();
	const start = Date.parse(given.startTime ?? now) - (given.startTime ? 0 : fiveMinutes);
	const startTime = new Date(start).toISOString();
	const endTime = instant(given.endTime ?? new Date(start + fiveMinutes).toISOString());
	const title = given.title ?? 'A short conversation';
	const contents = given.contents ?? newContents(title, startTime, endTime);
	return {
		markdown: renderMarkdown(contents),
		isStarred: false,
		...given,
		id: given.id ?? newId(),
		title,
		contents,
		startTime,
		endTime,
		updatedAt: instant(given.updatedAt ?? now),
	};
}

/** Applies a change. The Markdown follows the contents, and `updatedAt` becomes now. */
function changedLifelog(world: World, stored: Lifelog, change: Partial<Lifelog>): Lifelog {
	const merged = { ...stored, ...change, id: stored.id };
	const contents =
		change.title !== undefined && change.contents === undefined
			? retitled(merged.contents, change.title)
			: merged.contents;
	const rewritten = contents !== stored.contents && change.markdown === undefined;
	return {
		...merged,
		contents,
		markdown: rewritten ? renderMarkdown(contents) : merged.markdown,
		startTime: instant(merged.startTime),
		endTime: instant(merged.endTime),
		updatedAt: instant(change.updatedAt ?? new Date(world.now()).toISOString()),
	};
}

function retitled(contents: ContentNode[], title: string): ContentNode[] {
	const heading = contents.findIndex(({ type }) => type === 'heading1');
	return contents.map((node, index) => (index === heading ? { ...node, content: title } : node));
}

function newContents(title: string, startTime: string, endTime: string): ContentNode[] {
	const durationMs = Date.parse(endTime) - Date.parse(startTime);
	const halfMs = Math.floor(durationMs / 2);
	const half = new Date(Date.parse(startTime) + halfMs).toISOString();
	const whole = { startTime, endTime, startOffsetMs: 0, endOffsetMs: durationMs, children: [] };
	const first = { ...whole, endTime: half, endOffsetMs: halfMs };
	const second = { ...whole, startTime: half, startOffsetMs: halfMs };
	const user = { speakerName: 'You', speakerIdentifier: 'user' as const };
	const other = { speakerName: 'Unknown', speakerIdentifier: null };
	return [
		{ type: 'heading1', content: title, ...whole },
		{ type: 'heading2', content: 'In short', ...whole },
		{ type: 'blockquote', content: `Let us talk about it: ${title}.`, ...first, ...user },
		{ type: 'blockquote', content: 'Good, that settles it.', ...second, ...other },
	];
}

/** Completes a given chat: by default a question with its answer now. */
function newChat(world: World, given: Partial<StoredChat>): StoredChat {
	const createdAt = given.createdAt ?? new Date(world.now()).toISOString();
	return normalizeChat({
		id: newId(),
		summary: 'A short question',
		startedAt: createdAt,
		messages: [
			{ id: newId(), text: 'What did I do today?', createdAt, user: { role: 'user', name: 'You' } },
			{ id: newId(), text: 'You talked to people.', createdAt, user: { role: 'assistant' } },
		],
		visibility: 'private',
		owner: 'self',
		globalPromptId: null,
		...given,
		createdAt,
	});
}

function normalizeChat(chat: StoredChat): StoredChat {
	const { createdAt, startedAt, messages } = chat;
	return {
		...chat,
		createdAt: instant(createdAt),
		startedAt: instant(startedAt),
		messages: messages.map((message) => ({ ...message, createdAt: instant(message.createdAt) })),
	};
}
