import type { Lifelog } from '../../../lifelog/api.ts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client } from './client.mts';

let sandbox: TestSandbox;
let client: Client;
let stored: Lifelog[];

beforeAll(async () => {
	sandbox = await startSandbox();
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ lifelogs: 25, days: 2 });
	stored = await sandbox.control.lifelogs();
});

const count = async (path: string, limit?: number) => {
	const { body } = await client.get(path, { limit });
	return (body.meta.lifelogs ?? body.meta.chats).count;
};

test('a limit above the maximum is clamped', async () => {
	expect(await count('/v1/lifelogs', 1000)).toBe(25);
	await sandbox.control.dialect({ limit: { max: 10 } });
	expect(await count('/v1/lifelogs', 1000)).toBe(10);
	expect(await count('/v1/lifelogs')).toBe(3);
	const { body } = await client.get('/v1/lifelogs', { search: 'the OR you OR again', limit: 50 });
	expect(body.meta.lifelogs.count).toBeLessThanOrEqual(10);
});

test('a limit above the maximum is rejected', async () => {
	await sandbox.control.dialect({ limit: { max: 10, above: 'reject' } });
	expect(await client.get('/v1/lifelogs', { limit: 11 })).toMatchObject({
		status: 400,
		body: { error: 'limit must be at most 10' },
	});
	expect(await count('/v1/lifelogs', 10)).toBe(10);
	expect(await client.get('/v1/chats', { limit: 101 })).toMatchObject({ status: 400 });
	expect(await client.get('/v1/chats', { limit: 100 })).toMatchObject({ status: 200 });
});

test('contents are left out by default', async () => {
	await sandbox.control.dialect({ includeContentsDefault: false });
	const path = `/v1/lifelogs/${stored[0].id}`;
	const contentsOf = async (query = {}) =>
		(await client.get(path, query)).body.data.lifelog?.contents.length;
	expect(await contentsOf()).toBe(0);
	expect(await contentsOf({ includeContents: true })).toBe(stored[0].contents.length);
	const { body } = await client.get('/v1/lifelogs', { limit: 1 });
	expect(body.data.lifelogs[0].contents).toEqual([]);
});

test('delete returns success inside data', async () => {
	await sandbox.control.dialect({ deleteShape: 'data' });
	const { body, checked } = await client.delete(`/v1/lifelogs/${stored[0].id}`);
	expect(body).toEqual({ data: { success: true } });
	expect(checked).toBe(true);
});

test('a missing entry is returned as null', async () => {
	await sandbox.control.dialect({ missing: 'null' });
	expect(await client.get('/v1/lifelogs/none')).toMatchObject({
		status: 200,
		body: { data: { lifelog: null } },
		checked: true,
	});
	expect(await client.get('/v1/chats/none')).toMatchObject({
		status: 200,
		body: { data: { chat: null } },
		checked: true,
	});
	expect(await client.delete('/v1/lifelogs/none')).toMatchObject({ status: 404 });
});

test('pages are half full', async () => {
	await sandbox.control.dialect({ pages: 'short' });
	const pages = await client.pages('/v1/lifelogs', { limit: 10, direction: 'asc' });
	expect(pages.map((page) => page.length)).toEqual([5, 5, 5, 5, 5]);
	expect(pages.flat()).toEqual(stored.map(({ id }) => id));
	expect(await client.pages('/v1/lifelogs', { limit: 1 })).toHaveLength(25);
});

test('pages have empty pages between them', async () => {
	await sandbox.control.dialect({ pages: 'emptyBetween' });
	const pages = await client.pages('/v1/lifelogs', { limit: 10, direction: 'asc' });
	expect(pages.map((page) => page.length)).toEqual([10, 0, 10, 0, 5]);
	expect(pages.flat()).toEqual(stored.map(({ id }) => id));
});

test.each([
	['absent', {}],
	['null', { nextCursor: null }],
	['empty', { nextCursor: '' }],
] as const)('the last cursor is %s', async (lastCursor, meta) => {
	await sandbox.control.dialect({ lastCursor });
	const lifelogs = await client.get('/v1/lifelogs', { limit: 100 });
	expect(lifelogs.body.meta.lifelogs).toEqual({ count: 25, ...meta });
	const chats = await client.get('/v1/chats', { limit: 100, globalPromptId: 'none' });
	expect(chats.body.meta.chats).toEqual({ count: 0, ...meta });
});

test('requests have a latency', async () => {
	await sandbox.control.dialect({ latencyMs: 150 });
	const start = performance.now();
	await client.get('/v1/lifelogs');
	expect(performance.now() - start).toBeGreaterThan(140);
});

test('a reset restores the defaults and can set others', async () => {
	await sandbox.control.dialect({ pages: 'short', limit: { max: 10 } });
	const { dialect } = await sandbox.control.reset({ dialect: { lastCursor: 'null' } });
	expect(dialect).toMatchObject({ pages: 'full', limit: { max: 100 }, lastCursor: 'null' });
});

test('an unknown switch is refused', async () => {
	await expect(sandbox.control.dialect({ page: 'short' } as object)).rejects.toThrow('400');
	await expect(sandbox.control.dialect({ pages: 'odd' as 'short' })).rejects.toThrow('400');
});
