import { type IDataObject, type INode, NodeHelpers } from 'n8n-workflow';
import type { Chat } from '../../../lifelog/api.ts';
import { nodeOperations, operationsById, withId } from '../faults/parameters.mts';
import { loadPackage, type RunOptions } from '../../support/engine.mts';
import { engineAt, type Lab, startLab } from '../../support/lab.mts';
import type { StoredChat } from '../../support/sandbox.mts';
import { serve } from '../../support/serve.mts';
import { byId, workflowWith } from '../../support/workflow.mts';

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];

beforeAll(async () => {
	lab = await startLab(1);
	({ sandbox, engine } = lab);
});

afterAll(async () => await lab.close());

beforeEach(async () => {
	await sandbox.control.reset({ days: 31, lifelogs: 62, now: '2026-03-20T23:00:00Z' });
});

async function run(parameters: IDataObject, options?: RunOptions, more?: Partial<INode>) {
	await sandbox.control.clearRequests();
	const result = await engine.runWorkflow(workflowWith('lifelogChat', parameters, more), options);
	return {
		...result,
		json: result.items('Node').map(({ json }) => json),
		requests: await sandbox.control.requests(),
		message: result.error?.message,
		description: (result.error as { description?: string } | undefined)?.description,
	};
}

/** The user's own chats, newest first. */
async function ownChats(): Promise<StoredChat[]> {
	const chats = await sandbox.control.chats();
	return chats.filter(({ owner }) => owner === 'self').reverse();
}

const foreignChat = async (visibility: Chat['visibility']) =>
	(await sandbox.control.chats()).find(
		(chat) => chat.owner === 'other' && chat.visibility === visibility,
	)!;

const idsOf = (chats: Array<{ id?: unknown }>) => chats.map(({ id }) => id);

async function fetchChat(id: string): Promise<Chat> {
	const headers = { 'x-api-key': sandbox.apiKey };
	const response = await fetch(`${sandbox.url}/v1/chats/${id}?timezone=UTC`, { headers });
	return ((await response.json()) as { data: { chat: Chat } }).data.chat;
}

describe('Get Many', () => {
	const getMany = async (parameters: IDataObject = {}) =>
		await run({ operation: 'getMany', ...parameters });

	test.each([
		['chats of a prompt', { globalPromptId: 'unknown' }, 'No chats of the prompt "unknown"'],
		[
			'unscheduled chats of a prompt',
			{ globalPromptId: 'unknown', isScheduled: false },
			'No unscheduled chats of the prompt "unknown"',
		],
	])('says that there are no %s', async (_what, filters, expected) => {
		const { hints } = await getMany({ filters });
		expect(hints('Node').map(({ message }) => message)).toEqual([expected]);
	});

	test('returns the newest 50, simplified, in one request', async () => {
		const chats = await ownChats();
		const { json, requests } = await getMany();
		expect(chats.length).toBeGreaterThan(50);
		expect(idsOf(json)).toEqual(idsOf(chats.slice(0, 50)));
		expect(requests).toHaveLength(1);
		expect(requests[0].query).toEqual({ timezone: 'UTC', limit: '50' });
		expect(json[0]).not.toHaveProperty('messages');
		for (const chat of json) {
			expect(Object.keys(chat)).toEqual([
				...['id', 'summary', 'createdAt', 'startedAt'],
				...['prompt', 'response', 'messageCount', 'entries', 'hasToolError'],
			]);
		}
	});

	test.each(['full', 'short', 'emptyBetween'] as const)(
		'returns all chats, whatever the pages: %s',
		async (pages) => {
			await sandbox.control.dialect({ pages, lastCursor: 'empty' });
			await Promise.all(
				Array.from({ length: 150 }, (_, nth) => sandbox.control.addChat({ id: `more-${nth}` })),
			);
			const { json, requests } = await getMany({ returnAll: true });
			expect(idsOf(json)).toEqual(idsOf(await ownChats()));
			expect(requests.length).toBeGreaterThan(1);
			expect(new Set(requests.map(({ query }) => query.limit))).toEqual(new Set(['100']));
		},
	);

	test('stops at the limit, also across pages', async () => {
		await sandbox.control.dialect({ pages: 'short' });
		const { json } = await getMany({ limit: 31 });
		expect(idsOf(json)).toEqual(idsOf((await ownChats()).slice(0, 31)));
	});

	test('returns times in the time zone, and the oldest first', async () => {
		const options = { direction: 'asc', timezone: 'Asia/Tokyo' };
		const { json, requests } = await getMany({ limit: 5, options });
		expect(idsOf(json)).toEqual(idsOf((await ownChats()).reverse().slice(0, 5)));
		expect(json[0].createdAt).toContain('+09:00');
		expect(requests[0].query).toMatchObject({ direction: 'asc', timezone: 'Asia/Tokyo' });
	});

	test.each([
		['only scheduled ones', { isScheduled: true }, 'true'],
		['only others', { isScheduled: false }, 'false'],
		['both where it is not set', {}, undefined],
	])('filters by Is Scheduled: %s', async (_name, filters, sent) => {
		const { json, requests } = await getMany({ returnAll: true, filters });
		const wanted = (await ownChats()).filter(
			({ globalPromptId }) => sent === undefined || String(globalPromptId !== null) === sent,
		);
		expect(idsOf(json)).toEqual(idsOf(wanted));
		expect(json.length).toBeGreaterThan(0);
		expect(requests[0].query.isScheduled).toBe(sent);
	});

	test('filters by the ID of a scheduled prompt', async () => {
		const chats = await ownChats();
		const globalPromptId = chats.find((chat) => chat.globalPromptId)!.globalPromptId!;
		const { json } = await getMany({ returnAll: true, filters: { globalPromptId } });
		const wanted = chats.filter((chat) => chat.globalPromptId === globalPromptId);
		expect(idsOf(json)).toEqual(idsOf(wanted));
		expect(wanted.length).toBeLessThan(chats.length);
	});

	test('a blank filter is not sent', async () => {
		const { requests } = await getMany({ filters: { globalPromptId: ' ' } });
		expect(requests[0].query).not.toHaveProperty('globalPromptId');
	});

	test('without Simplify returns the API’s objects unchanged', async () => {
		const { json } = await getMany({ limit: 2, output: 'raw' });
		expect(json[0]).toEqual(await fetchChat(json[0].id as string));
		expect(json[0].messages).not.toEqual([]);
	});

	test('returns nothing for an account without chats', async () => {
		await sandbox.control.reset({ empty: true });
		const { json, status } = await getMany({ returnAll: true });
		expect(status).toBe('success');
		expect(json).toEqual([]);
	});
});

describe('Get', () => {
	const get = async (id: unknown, parameters: IDataObject = {}) =>
		await run({ operation: 'get', chatId: byId(id), ...parameters });

	test('returns one chat, simplified', async () => {
		const scheduled = (await ownChats()).find(({ globalPromptId }) => globalPromptId)!;
		const { json, requests } = await get(scheduled.id);
		const [question] = scheduled.messages;
		expect(json).toHaveLength(1);
		expect(json[0]).toMatchObject({
			id: scheduled.id,
			prompt: question.text,
			response: scheduled.messages.at(-1)!.text,
			messageCount: scheduled.messages.length,
			hasToolError: false,
		});
		expect(requests.map(({ path }) => path)).toEqual([`/v1/chats/${scheduled.id}`]);
	});

	test('refuses an unknown Output before any request', async () => {
		const { error, requests } = await get('unknown', { output: 'maybe' });
		expect(error?.message).toMatch(
			/^'Output' must be simplified, raw or selectedFields, not "maybe"/,
		);
		expect(requests).toEqual([]);
	});

	test('without Simplify returns the API’s object unchanged, with times in the time zone', async () => {
		const [{ id }] = await ownChats();
		expect((await get(id, { output: 'raw' })).json).toEqual([await fetchChat(id)]);
		const { json } = await get(id, { output: 'raw', options: { timezone: 'Asia/Tokyo' } });
		expect(json[0].createdAt).toContain('+09:00');
	});

	test('reads every kind of message', async () => {
		const message = (role: string, rest: object) =>
			({ id: role, createdAt: '2026-03-20T10:00:00Z', user: { role }, ...rest }) as never;
		const failed = { isError: true, toolCallId: '1', toolName: 'search', result: {} };
		const { id } = await sandbox.control.addChat({
			summary: null,
			messages: [
				message('user', { text: null }),
				message('user', { text: 'Recap' }),
				message('assistant', { text: 'Let me look.', toolCalls: [] }),
				message('tool', { toolResults: [failed] }),
				message('assistant', { text: 'Done.' }),
				message('assistant', { text: null }),
			],
		});
		expect((await get(id)).json[0]).toMatchObject({
			summary: null,
			prompt: 'Recap',
			response: 'Done.',
			messageCount: 6,
			hasToolError: true,
			entries: [],
		});
	});

	test('reads a public chat of someone else', async () => {
		const { id } = await foreignChat('public');
		expect((await get(id, { output: 'raw' })).json[0]).toMatchObject({ id, visibility: 'public' });
	});

	test.each(['404', 'null'] as const)('names the ID that was not found, by %s', async (missing) => {
		await sandbox.control.dialect({ missing });
		const { id } = await foreignChat('private');
		const { message, description } = await get(id);
		expect(message).toBe(`No chat with the ID "${id}" was found`);
		expect(description).toContain('Check the ID');
	});

	test('an answer without a chat is an error', async () => {
		await sandbox.control.faults([{ body: { data: {} } }]);
		expect((await get('x')).message).toContain('it has no chat (data.chat)');
	});
});

describe('Delete', () => {
	const remove = async (id: unknown) =>
		await run({ operation: 'delete', chatIdToDelete: byId(id) });
	const exists = async (id: string) =>
		(await sandbox.control.chats()).some((chat) => chat.id === id);

	test('confirms the deletion', async () => {
		const [{ id }] = await ownChats();
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
			`DELETE /v1/chats/${id}`,
		]);
		expect(await exists(id)).toBe(false);
	});

	test('also reads success at the top level', async () => {
		await sandbox.control.faults([{ body: { success: true } }]);
		expect((await remove('x')).json).toEqual([{ deleted: true, id: 'x' }]);
	});

	test.each([
		[{ data: { success: false } }, 'it says that the chat was not deleted'],
		[{ data: {} }, 'it does not say whether the chat was deleted'],
	])('the answer %j is an error', async (body, problem) => {
		await sandbox.control.faults([{ body }]);
		expect((await remove('x')).message).toContain(problem);
	});

	test('of someone else’s public chat is refused, with a possible reason', async () => {
		const { id } = await foreignChat('public');
		const { message, description } = await remove(id);
		expect(message).toBe(`No chat with the ID "${id}" was found`);
		expect(description).toContain('belong to another account');
		expect(description).toContain('The service says: Chat not found');
		expect(await exists(id)).toBe(true);
	});

	const page = `<!doctype html><html><head><title>Forbidden zone</title></head>${'x'.repeat(5000)}</html>`;

	test.each([
		[403, { error: 'Not yours' }, 'The API key is not allowed to do this with the chat "c1"'],
		[403, page, 'The API key is not allowed to do this with the chat "c1"'],
		[404, page, 'No chat with the ID "c1" was found'],
		[500, { error: 'Not yours' }, 'The service failed (500): chat "c1"'],
		[500, page, 'The service failed (500): chat "c1"'],
	])("refused by %d is reported as such, and isn't retried", async (status, body, expected) => {
		const headers = { 'content-type': body === page ? 'text/html' : 'application/json' };
		await sandbox.control.faults([{ status, body, headers, times: 5 }]);
		const { message, description, error, requests } = await remove('c1');
		expect(message).toBe(expected);
		expect(description).toContain(
			`The service says: ${body === page ? 'a page titled "Forbidden zone"' : 'Not yours'}`,
		);
		expect(JSON.stringify(error)).not.toContain('xxxx');
		expect(requests).toHaveLength(1);
	});

	test('waits for a rate limit, although none is documented', async () => {
		const [{ id }] = await ownChats();
		await sandbox.control.faults([{ status: 429, body: { error: 'slow', retryAfter: '1' } }]);
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(requests.map(({ status }) => status)).toEqual([429, 200]);
		expect(requests[1].at - requests[0].at).toBeGreaterThanOrEqual(990);
	});

	test('is retried once if the connection broke after it took effect', async () => {
		const [{ id }] = await ownChats();
		await sandbox.control.faults([{ reset: 'after' }]);
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(requests.map(({ status }) => status)).toEqual([200, 404]);
	});

	test('no other operation sends DELETE', async () => {
		const [{ id }] = await ownChats();
		const others = nodeOperations().filter(
			({ node, operation }) => node === 'lifelogChat' && operation !== 'delete',
		);
		for (const operation of others) {
			const { requests } = await run(withId(operation, id));
			expect(requests.map(({ method }) => method)).toEqual(['GET']);
		}
	});
});

test.each(
	operationsById('lifelogChat').map((operation) => [operation.operation, operation] as const),
)('an invalid ID for %s is refused before any request', async (_name, operation) => {
	for (const id of ['', '  ', '..', 'a/b?c', '={{ null }}', '={{ ["a"] }}']) {
		const { error, requests } = await run(withId(operation, id));
		expect(error).toBeDefined();
		expect(requests).toEqual([]);
	}
});

describe('an error of one item', () => {
	const parameters = { operation: 'get', chatId: byId('={{ $json.id }}') };
	const message = 'No chat with the ID "nobody" was found';
	const threeItems = async () => {
		const [first, second] = await ownChats();
		const ids = [first.id, 'nobody', second.id];
		return { ids, input: ids.map((id) => ({ json: { id } })) };
	};

	test('stops the node and names the item', async () => {
		const { error } = await run(parameters, await threeItems());
		expect(error?.message).toBe(message);
		expect((error as unknown as { context: IDataObject }).context.itemIndex).toBe(1);
	});

	test('with "continue" is returned with its input, and the other items continue', async () => {
		const { ids, input } = await threeItems();
		const result = await run(parameters, { input }, { onError: 'continueRegularOutput' });
		expect(idsOf(result.json)).toEqual(ids);
		expect(result.json[1]).toMatchObject({
			id: 'nobody',
			error: message,
			errorDetails: { code: '404' },
		});
		expect(result.items('Node').map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	test('with the error output is returned there, and the other items continue', async () => {
		const { ids, input } = await threeItems();
		const result = await run(parameters, { input }, { onError: 'continueErrorOutput' });
		expect(idsOf(result.json)).toEqual([ids[0], ids[2]]);
		expect(result.items('Node', 1).map(({ json }) => json)).toEqual([
			{ id: 'nobody', error: message },
		]);
	});
});

test('the chats are paired with their input items', async () => {
	const input = [{ json: { limit: 2 } }, { json: { limit: 1 } }];
	const result = await run({ operation: 'getMany', limit: '={{ $json.limit }}' }, { input });
	expect(result.items('Node').map(({ pairedItem }) => pairedItem)).toEqual([
		{ item: 0 },
		{ item: 0 },
		{ item: 1 },
	]);
});

describe('the list of the parameter Chat', () => {
	const list = async (filter?: string, token?: string, options: IDataObject = {}) => {
		const [, node] = workflowWith('lifelogChat', { operation: 'get', options }).nodes;
		return await engine.loadOptions(node, 'searchChats', filter, token);
	};

	test('continues if the service refuses more than 10 a page', async () => {
		const service = await serve((request, response) => {
			const { searchParams } = new URL(request.url!, 'http://localhost');
			const from = Number(searchParams.get('cursor') ?? 0);
			const isRefused = Number(searchParams.get('limit')) > 10;
			const chats = Array.from({ length: 10 }, (_, nth) => ({ id: `chat-${from + nth}` }));
			const meta = { chats: { nextCursor: String(from + 10) } };
			response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
			response.end(JSON.stringify(isRefused ? { error: 'limit' } : { data: { chats }, meta }));
		});
		const own = await engineAt(service);
		const [, node] = workflowWith('lifelogChat', { operation: 'get' }).nodes;
		const first = await own.loadOptions(node, 'searchChats');
		const second = await own.loadOptions(
			node,
			'searchChats',
			undefined,
			first.paginationToken as string,
		);
		const values = [...first.results, ...second.results].map(({ value }) => value);
		expect(values).toEqual(Array.from({ length: 20 }, (_, nth) => `chat-${nth}`));
		await own.close();
		await service.close();
	});

	test('shows the newest, page by page, by their summary or question', async () => {
		await sandbox.control.dialect({ pages: 'short' });
		const chats = await ownChats();
		const first = await list();
		const second = await list(undefined, first.paginationToken as string);
		const results = [...first.results, ...second.results];
		expect(idsOf(results.map(({ value }) => ({ id: value })))).toEqual(
			idsOf(chats.slice(0, results.length)),
		);
		expect(results.length).toBeGreaterThan(first.results.length);
		for (const [index, { name }] of results.entries()) {
			const { summary, messages } = chats[index];
			expect(name).toMatch(/ · \d{1,2} \w{3} \d{4}, \d\d:\d\d \(America\/New_York\)$/);
			expect(name).toContain(summary ?? messages[0].text);
		}
	});

	test('shows the first words of a long question in one line, and finds the others', async () => {
		const text = `Who said\n\n${'well '.repeat(13)}${'🌿'.repeat(9)} and then went to the glasshouse?`;
		const messages = [{ id: 'm', createdAt: '2026-02-18T10:00:00Z', text, user: { role: 'user' } }];
		const { id } = await sandbox.control.addChat({
			summary: null,
			createdAt: '2026-02-18T10:00:00Z',
			messages: messages as Chat['messages'],
		});
		const { results } = await list('glasshouse');
		const words = `Who said ${'well '.repeat(13)}${'🌿'.repeat(6)}…`;
		expect(results).toEqual([
			{ name: `${words} · 18 Feb 2026, 05:00 (America/New_York)`, value: id },
		]);
	});

	test('shows times in the option Time Zone, finds them by their day, and not by the zone', async () => {
		const timezone = 'Asia/Kathmandu';
		const created = { summary: 'A trip', createdAt: '2026-02-18T18:30:00Z' };
		const { id } = await sandbox.control.addChat(created);
		const found = await list('19 feb 2026, 00:15', undefined, { timezone });
		const name = 'A trip · 19 Feb 2026, 00:15 (Asia/Kathmandu)';
		expect(found.results).toEqual([{ name, value: id }]);
		expect((await list('kathmandu', undefined, { timezone })).results).toEqual([]);
	});

	test('finds the words that you type, also on later pages', async () => {
		const { id } = await sandbox.control.addChat({
			summary: 'About the Lighthouse',
			createdAt: '2026-02-18T10:00:00Z',
		});
		await Promise.all(Array.from({ length: 120 }, () => sandbox.control.addChat()));
		const { results, paginationToken } = await list(' LIGHTHOUSE ');
		expect(results).toEqual([
			{ name: expect.stringMatching(/^About the Lighthouse · /), value: id },
		]);
		expect(paginationToken).toBeUndefined();
		expect((await list('nothing like it')).results).toEqual([]);
	});
});

test('the tool description says what each operation does, and that a delete is permanent', () => {
	const type = loadPackage().nodeTypes['n8n-nodes-lifelog.lifelogChat'] as Parameters<
		typeof NodeHelpers.getVersionedNodeType
	>[0];
	const told = (operation: string) => {
		const node = workflowWith('lifelogChat', { operation, resource: 'chat' }).nodes[1];
		return NodeHelpers.getToolDescriptionForNode(node, NodeHelpers.getVersionedNodeType(type));
	};
	expect(NodeHelpers.getVersionedNodeType(type).description.usableAsTool).toBe(true);
	expect(told('getMany')).toBe('Get many chats in Lifelog Chat');
	expect(told('delete')).toBe('Delete chat permanently in Lifelog Chat');
});
