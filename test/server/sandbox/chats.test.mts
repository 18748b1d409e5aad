import { startSandbox, type TestSandbox, type StoredChat } from '../../support/sandbox.mts';
import { clientOf, type Client } from './client.mts';

let sandbox: TestSandbox;
let client: Client;
let stored: StoredChat[];
let own: StoredChat[];

beforeAll(async () => {
	sandbox = await startSandbox();
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ now: '2026-03-20T22:00:00Z' });
	stored = await sandbox.control.chats();
	own = stored.filter(({ owner }) => owner === 'self');
});

test('the list has your own chats, newest first, fifty by default', async () => {
	const { body, checked } = await client.get('/v1/chats');
	expect(checked).toBe(true);
	expect(body.meta.chats).toEqual({ count: 50, nextCursor: expect.any(String) });
	const pages = await client.pages('/v1/chats', { limit: 30 });
	expect(pages.flat()).toEqual(own.map(({ id }) => id).reverse());
	const ascending = await client.pages('/v1/chats', { limit: 100, direction: 'asc' });
	expect(ascending.flat()).toEqual(own.map(({ id }) => id));
	expect(body.data.chats[0]).not.toHaveProperty('owner');
	expect(body.data.chats[0]).not.toHaveProperty('globalPromptId');
});

test('filters by schedule and by prompt', async () => {
	const scheduled = (await client.pages('/v1/chats', { isScheduled: true })).flat();
	const others = (await client.pages('/v1/chats', { isScheduled: false })).flat();
	expect(scheduled.length).toBeGreaterThan(31);
	expect(others.length).toBeGreaterThan(10);
	expect(scheduled.length + others.length).toBe(own.length);

	const recap = own.find(({ summary }) => summary?.startsWith('Daily recap'));
	const recaps = await client.pages('/v1/chats', { globalPromptId: recap?.globalPromptId ?? '' });
	expect(recaps.flat()).toHaveLength(31);
	expect((await client.pages('/v1/chats', { globalPromptId: 'none' })).flat()).toEqual([]);
});

test('a cursor is bound to the parameters of its request', async () => {
	const query = { limit: 5, direction: 'asc', timezone: 'Europe/Berlin' };
	const { body } = await client.get('/v1/chats', query);
	const cursor = body.meta.chats.nextCursor ?? '';
	expect(await client.get('/v1/chats', { ...query, cursor })).toMatchObject({ status: 200 });
	for (const other of [{}, { ...query, limit: 6 }, { ...query, isScheduled: true }]) {
		expect(await client.get('/v1/chats', { ...other, cursor })).toMatchObject({
			status: 400,
			body: { error: expect.stringContaining('cursor') },
		});
	}
});

test('times are in the time zone', async () => {
	const { body } = await client.get(`/v1/chats/${own[0].id}`, { timezone: 'America/New_York' });
	expect(body.data.chat?.createdAt).toMatch(/-0[45]:00$/);
	expect(body.data.chat?.messages[0].createdAt).toMatch(/-0[45]:00$/);
	expect(Date.parse(body.data.chat?.createdAt ?? '')).toBe(Date.parse(own[0].createdAt));
	expect(await client.get('/v1/chats', { timezone: 'Nowhere' })).toMatchObject({ status: 400 });
});

test("a public chat of somebody else can be read, but isn't listed and can't be deleted", async () => {
	const foreign = stored.filter(({ owner }) => owner === 'other');
	const open = foreign.find(({ visibility }) => visibility === 'public');
	const closed = foreign.find(({ visibility }) => visibility === 'private');
	expect(await client.get(`/v1/chats/${open?.id}`)).toMatchObject({ status: 200, checked: true });
	expect(await client.get(`/v1/chats/${closed?.id}`)).toMatchObject({ status: 404 });
	expect(await client.delete(`/v1/chats/${open?.id}`)).toMatchObject({
		status: 404,
		body: { error: 'Chat not found' },
	});
	expect(await client.get(`/v1/chats/${open?.id}`)).toMatchObject({ status: 200 });
});

test('delete removes a chat', async () => {
	const path = `/v1/chats/${own[0].id}`;
	const { status, body, checked } = await client.delete(path);
	expect([status, body, checked]).toEqual([200, { data: { success: true } }, true]);
	expect(await client.get(path)).toMatchObject({ status: 404 });
	expect(await client.delete(path)).toMatchObject({ status: 404 });
});

test('the generated chats have every form of a chat', async () => {
	const lifelogIds = new Set((await sandbox.control.lifelogs()).map(({ id }) => id));
	const messages = own.flatMap((chat) => chat.messages);
	const results = messages.flatMap(({ toolResults }) => toolResults ?? []);
	const entries = results.flatMap(({ entriesReturned }) => entriesReturned ?? []);
	expect(entries.length).toBeGreaterThan(50);
	expect(entries.filter(({ id }) => !lifelogIds.has(id))).toEqual([]);
	expect(results.some(({ isError }) => isError)).toBe(true);
	expect(messages.some(({ toolCalls, text }) => toolCalls && text === null)).toBe(true);
	expect(new Set(messages.map(({ user }) => user.role))).toEqual(
		new Set(['user', 'assistant', 'tool']),
	);
	expect(own.some(({ summary }) => summary === null)).toBe(true);
	expect(new Set(own.map(({ visibility }) => visibility))).toEqual(
		new Set(['private', 'public', 'internal']),
	);
});
