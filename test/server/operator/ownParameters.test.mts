// What server/openapi.yaml adds to an operation of the service: here, what a later version may add.
import { createApp, addApi, answerErrors } from '../../../server/http/api.mts';
import { contract, extendContract, type Contract } from '../../../server/http/contract.mts';
import type { Service } from '../../../server/http/service.mts';
import { startSandbox } from '../../support/sandbox.mts';

const text = { type: 'string' };
const changed = extendContract(contract, {
	servers: [],
	paths: {
		'/v1/lifelogs': {
			get: {
				parameters: [
					{ name: 'speaker', in: 'query', schema: { ...text, maxLength: 3 } },
					{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 7 } },
					{ $ref: '#/components/parameters/Timezone' },
				],
				responses: { '418': { description: 'An own one.' } },
			},
		},
	},
	components: {
		parameters: {
			Timezone: { name: 'timezone', in: 'query', schema: { ...text, enum: ['UTC'] } },
		},
		schemas: { Lifelog: { properties: { people: text } } },
	},
} as unknown as Contract);
const before = contract.paths['/v1/lifelogs'].get;
const after = changed.paths['/v1/lifelogs'].get;

test('an operation of the service keeps what it has, and gets what is added', () => {
	expect(after).toMatchObject({
		operationId: 'listLifelogs',
		responses: { ...before.responses, '418': { description: 'An own one.' } },
	});
	const names = (operation: typeof before) =>
		operation.parameters!.map((each) => each.name ?? each.$ref);
	const old = names(before).filter((name) => name !== 'limit' && !name!.endsWith('Timezone'));
	expect(names(after)).toEqual([
		...old,
		...['speaker', 'limit', '#/components/parameters/Timezone'],
	]);
	expect(changed.components.schemas.Lifelog).toMatchObject({
		required: (contract.components.schemas.Lifelog as { required: string[] }).required,
		properties: {
			...(contract.components.schemas.Lifelog as { properties: object }).properties,
			people: text,
		},
	});
	expect(changed.paths['/v1/chats']).toBe(contract.paths['/v1/chats']);
});

test('a property of a body is added, also if the body was a reference', () => {
	const service: Contract = {
		servers: [],
		paths: {
			'/things': {
				post: {
					operationId: 'addThing',
					requestBody: {
						content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
					},
					responses: {},
				},
			},
		},
		components: { schemas: { Thing: { required: ['a'], properties: { a: text, b: text } } } },
	};
	const schema = { required: ['c'], properties: { b: { type: 'number' }, c: text } };
	const own = { content: { 'application/json': { schema } } };
	const { paths } = extendContract(service, {
		servers: [],
		paths: { '/things': { post: { operationId: 'addThing', requestBody: own, responses: {} } } },
		components: {},
	});
	expect(paths['/things'].post.requestBody!.content['application/json'].schema).toEqual({
		required: ['a', 'c'],
		properties: { a: text, b: { type: 'number' }, c: text },
	});
});

test('a server holds requests to what was added; the sandbox ignores it', async () => {
	const asked: unknown[] = [];
	const app = createApp();
	const service = {
		visitorOfKey: () => ({ canChange: true, isOwner: false }),
		now: Date.now,
		current: () => ({ listLifelogs: () => [] }),
	} as unknown as Service;
	answerErrors(app, service);
	app.addHook('preHandler', async ({ query }) => void asked.push(query));
	await addApi(app, service, changed);
	const get = (query: string) =>
		app.inject({ url: `/v1/lifelogs?${query}`, headers: { 'x-api-key': 'a' } });
	expect((await get('speaker=Ann&isStarred=true')).statusCode).toBe(200);
	expect(asked).toEqual([expect.objectContaining({ speaker: 'Ann', isStarred: true })]);
	expect((await get('speaker=Anna')).json()).toEqual({ error: expect.stringContaining('speaker') });
	expect((await get('limit=8')).statusCode).toBe(400);
	await app.close();

	const sandbox = await startSandbox({ now: '2026-10-27T20:00:00Z', days: 1 });
	const answer = await fetch(`${sandbox.url}/v1/lifelogs?speaker=Anna`, {
		headers: { 'X-API-Key': sandbox.apiKey },
	});
	expect(answer.status).toBe(200);
	await sandbox.close();
});
