import type { Lifelog } from '../../../lifelog/api.ts';
import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, flatten, type Client } from './client.mts';

let sandbox: TestSandbox;
let client: Client;
let stored: Lifelog[];

beforeAll(async () => {
	sandbox = await startSandbox();
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());
beforeEach(async () => {
	await sandbox.control.reset({ now: '2026-03-20T20:00:00Z', days: 3, perDay: 20 });
	stored = await sandbox.control.lifelogs();
});

const idsOf = (lifelogs: Lifelog[]) => lifelogs.map(({ id }) => id);

describe('list', () => {
	test('returns the newest ten without parameters, according to the contract', async () => {
		const { status, headers, body, checked } = await client.get('/v1/lifelogs');
		expect(status).toBe(200);
		expect(checked).toBe(true);
		expect(headers.get('date')).toBe('Fri, 20 Mar 2026 20:00:00 GMT');
		expect(body.meta.lifelogs).toEqual({ count: 10, nextCursor: expect.any(String) });
		expect(body.data.lifelogs).toEqual(stored.slice(-10).reverse());
	});

	test('returns every entry once, page by page, in both directions', async () => {
		const asc = await client.pages('/v1/lifelogs', { direction: 'asc', limit: 7 });
		expect(asc.map((page) => page.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 7, 4]);
		expect(asc.flat()).toEqual(idsOf(stored));
		const desc = await client.pages('/v1/lifelogs', { limit: 20 });
		expect(desc.flat()).toEqual(idsOf(stored).reverse());
		expect(desc).toHaveLength(3);
	});

	test('sorts entries with the same time by ID', async () => {
		const startTime = '2026-03-20T19:59:00.000Z';
		for (const id of ['b', 'a', 'c']) await sandbox.control.addLifelog({ id, startTime });
		const pages = await client.pages('/v1/lifelogs', { limit: 1, start: '2026-03-20 19:59:00' });
		expect(pages).toEqual([['c'], ['b'], ['a']]);
	});

	test('has stable pages when entries are added and deleted in between', async () => {
		const first = await client.get('/v1/lifelogs', { limit: 5 });
		await sandbox.control.addLifelog({ id: 'newest', startTime: '2026-03-20T19:59:30Z' });
		await sandbox.control.deleteLifelog(first.body.data.lifelogs[4].id);
		const { nextCursor } = first.body.meta.lifelogs;
		const second = await client.get('/v1/lifelogs', { cursor: nextCursor ?? '' });
		expect(idsOf(second.body.data.lifelogs)).toEqual(idsOf(stored).reverse().slice(5, 10));
	});

	test('uses the query of the cursor, whatever else is sent', async () => {
		const query = { limit: 2, direction: 'asc', includeMarkdown: false, timezone: 'Asia/Tokyo' };
		const { body } = await client.get('/v1/lifelogs', query);
		const cursor = body.meta.lifelogs.nextCursor ?? '';
		const next = await client.get('/v1/lifelogs', { cursor, limit: 50, direction: 'desc' });
		expect(idsOf(next.body.data.lifelogs)).toEqual(idsOf(stored).slice(2, 4));
		expect(next.body.data.lifelogs[0]).not.toHaveProperty('markdown');
		expect(next.body.data.lifelogs[0].startTime).toMatch(/\+09:00$/);
	});

	test.each([
		['limit', { limit: 'many' }],
		['limit', { limit: 0 }],
		['direction', { direction: 'up' }],
		['timezone', { timezone: 'Mars/Olympus' }],
		['date', { date: '2026-02-30' }],
		['start', { start: 'yesterday' }],
		['end', { end: '2026-03-20 25:00:00' }],
		['start', { start: '' }],
		['end', { end: '' }],
		['end', { start: '2026-03-20', end: '' }],
		['isStarred', { isStarred: 'maybe' }],
		['cursor', { cursor: 'nonsense' }],
	])('names an invalid %s: %j', async (name, query) => {
		const { status, body } = await client.get('/v1/lifelogs', query);
		expect(status).toBe(400);
		expect(body).toEqual({ error: expect.stringContaining(name) });
	});

	test('filters by star', async () => {
		const { id } = await sandbox.control.updateLifelog(stored[3].id, { isStarred: true });
		const starred = await client.pages('/v1/lifelogs', { isStarred: true });
		const others = await client.pages('/v1/lifelogs', { isStarred: false, limit: 100 });
		expect(starred.flat()).toContain(id);
		expect(starred.flat().length + others.flat().length).toBe(60);
		expect(others.flat()).not.toContain(id);
	});

	test('ignores the filters for chats', async () => {
		const query = { isScheduled: true, globalPromptId: 'x', limit: 100 };
		const { body } = await client.get('/v1/lifelogs', query);
		expect(body.meta.lifelogs.count).toBe(60);
	});

	test('includes the requested parts', async () => {
		const [full] = (await client.get('/v1/lifelogs', { limit: 1 })).body.data.lifelogs;
		expect(full.markdown).toContain(`# ${full.title}\n`);
		expect(flatten(full.contents)[0]).toMatchObject({ type: 'heading1', content: full.title });
		for (const node of flatten(full.contents).filter(({ type }) => type === 'blockquote')) {
			expect(full.markdown).toContain(`> ${node.speakerName}: ${node.content}`);
		}

		const bare = await client.get('/v1/lifelogs', { limit: 1, includeHeadings: false });
		const [headless] = bare.body.data.lifelogs;
		expect(headless.markdown).not.toMatch(/^#/m);
		expect(flatten(headless.contents).map(({ content }) => content)).toEqual(
			flatten(full.contents)
				.filter(({ type }) => !type.startsWith('heading'))
				.map(({ content }) => content),
		);

		const light = await client.get('/v1/lifelogs', {
			limit: 1,
			includeMarkdown: false,
			includeContents: false,
		});
		const [lightest] = light.body.data.lifelogs;
		expect(lightest).not.toHaveProperty('markdown');
		expect(lightest.contents).toEqual([]);
	});

	test('drops contents when more than 25 results are returned', async () => {
		const at25 = await client.get('/v1/lifelogs', { limit: 25, includeContents: true });
		expect(at25.body.data.lifelogs.every(({ contents }) => contents.length > 0)).toBe(true);
		const at26 = await client.get('/v1/lifelogs', { limit: 26, includeContents: true });
		expect(at26.body.data.lifelogs.every(({ contents }) => contents.length === 0)).toBe(true);
		expect(at26.body.data.lifelogs[0].markdown).toBeTruthy();
	});
});

describe('get and delete', () => {
	test('get returns the entry in the time zone', async () => {
		const { id, startTime, title } = stored[0];
		const { body, checked } = await client.get(`/v1/lifelogs/${id}`, { timezone: 'Asia/Kolkata' });
		expect(checked).toBe(true);
		expect(body.data.lifelog).toMatchObject({ id, title });
		expect(body.data.lifelog?.startTime).toMatch(/\+05:30$/);
		expect(Date.parse(body.data.lifelog?.startTime ?? '')).toBe(Date.parse(startTime));
	});

	test('get uses the include parameters', async () => {
		const { body } = await client.get(`/v1/lifelogs/${stored[0].id}`, {
			includeMarkdown: false,
			includeContents: false,
		});
		expect(body.data.lifelog).not.toHaveProperty('markdown');
		expect(body.data.lifelog?.contents).toEqual([]);
	});

	test('delete removes an entry permanently', async () => {
		const path = `/v1/lifelogs/${stored[0].id}`;
		expect(await client.delete(path)).toMatchObject({ status: 200, body: { success: true } });
		expect(await client.get(path)).toMatchObject({ status: 404 });
		expect(await client.delete(path)).toMatchObject({
			status: 404,
			body: { error: 'Lifelog not found' },
		});
		expect(idsOf(await sandbox.control.lifelogs())).toEqual(idsOf(stored).slice(1));
	});

	test('an ID must be encoded as one path segment', async () => {
		await sandbox.control.addLifelog({ id: 'a/b c?d' });
		const { body } = await client.get(`/v1/lifelogs/${encodeURIComponent('a/b c?d')}`);
		expect(body.data.lifelog?.id).toBe('a/b c?d');
	});
});

describe('search', () => {
	const talk = (id: string, words: string, more: Partial<Lifelog> = {}) =>
		sandbox.control.addLifelog({ id, title: words, ...more });

	beforeEach(async () => {
		await sandbox.control.reset({ empty: true, now: '2026-03-20T20:00:00Z' });
		await talk('both', 'Saffron and cardamom');
		await talk('saffron', 'Saffron only');
		await talk('cardamom', 'Cardamom only', { isStarred: true });
		await talk('other', 'Something else');
	});

	const search = async (query: string, more = {}) => {
		const { body, checked } = await client.get('/v1/lifelogs', { search: query, ...more });
		expect(checked).toBe(true);
		expect(body.meta.lifelogs).toEqual({ count: body.data.lifelogs.length });
		return idsOf(body.data.lifelogs);
	};

	test('matches all words, or any word with OR', async () => {
		expect(await search('saffron cardamom')).toEqual(['both']);
		expect(await search('saffron AND cardamom')).toEqual(['both']);
		const either = await search('saffron OR cardamom');
		expect(either[0]).toBe('both');
		expect(either.toSorted()).toEqual(['both', 'cardamom', 'saffron']);
		expect(await search('nutmeg')).toEqual([]);
	});

	test('accepts a typing error, an unfinished word and a whole question', async () => {
		expect(await search('safron')).toContain('saffron');
		expect(await search('carda')).toContain('cardamom');
		expect(await search('What did we say about the saffron?')).toContain('saffron');
	});

	test('applies other filters, too', async () => {
		expect(await search('cardamom', { isStarred: true })).toEqual(['cardamom']);
		expect(await search('cardamom', { date: '2026-03-19' })).toEqual([]);
	});

	test('finds titles, and follows changes', async () => {
		const [{ id }] = await sandbox.control.lifelogs();
		expect(await search('nutmeg')).toEqual([]);
		await sandbox.control.updateLifelog(id, { title: 'Nutmeg' });
		expect(await search('nutmeg')).toEqual([id]);
		await sandbox.control.deleteLifelog(id);
		expect(await search('nutmeg')).toEqual([]);
	});

	test('returns at most 100 results and has no cursor', async () => {
		await sandbox.control.reset({ lifelogs: 400, days: 10 });
		const { data } = (await client.get('/v1/lifelogs', { limit: 1 })).body;
		const { body } = await client.get('/v1/lifelogs', {
			search: 'the OR you OR again OR good OR not',
			limit: 500,
		});
		expect(body.meta.lifelogs).toEqual({ count: 100 });
		const { nextCursor } = (await client.get('/v1/lifelogs', { limit: 1 })).body.meta.lifelogs;
		const refused = await client.get('/v1/lifelogs', {
			search: data.lifelogs[0].title,
			cursor: nextCursor ?? '',
		});
		expect(refused).toMatchObject({
			status: 400,
			body: { error: expect.stringContaining('cursor') },
		});
	});
});

describe('generated data', () => {
	test('the same seed and time create the same data, another seed other data', async () => {
		const again = async (seed: number) => {
			await sandbox.control.reset({ seed, now: '2026-03-20T20:00:00Z', days: 4 });
			return {
				lifelogs: await sandbox.control.lifelogs(),
				chats: await sandbox.control.chats(),
			};
		};
		const first = await again(7);
		expect(await again(7)).toEqual(first);
		expect((await again(8)).lifelogs[0].id).not.toBe(first.lifelogs[0].id);
	});

	test('a month is full of consistent entries', async () => {
		const now = '2026-03-20T20:00:00.000Z';
		await sandbox.control.reset({ now });
		const lifelogs = await sandbox.control.lifelogs();
		const perDay = new Map<string, number>();
		for (const { startTime } of lifelogs) {
			const day = startTime.slice(0, 10);
			perDay.set(day, (perDay.get(day) ?? 0) + 1);
		}
		expect(perDay.size).toBe(31);
		perDay.delete('2026-03-20');
		expect(Math.min(...perDay.values())).toBeGreaterThanOrEqual(40);
		expect(Math.max(...perDay.values())).toBeLessThanOrEqual(50);

		const faulty = lifelogs.filter(({ startTime, endTime, updatedAt, contents }, index) => {
			const start = Date.parse(startTime);
			return (
				startTime < (lifelogs[index - 1]?.endTime ?? '') ||
				endTime <= startTime ||
				updatedAt < endTime ||
				updatedAt > now ||
				flatten(contents).some(
					(node) =>
						Date.parse(node.startTime ?? '') !== start + (node.startOffsetMs ?? NaN) ||
						Date.parse(node.endTime ?? '') !== start + (node.endOffsetMs ?? NaN) ||
						/[{}]|undefined/.test(node.content),
				)
			);
		});
		expect(faulty).toEqual([]);
		const nodes = lifelogs.flatMap(({ contents }) => flatten(contents));
		expect(new Set(nodes.map(({ type }) => type))).toEqual(
			new Set(['heading1', 'heading2', 'heading3', 'blockquote']),
		);
		expect(nodes.some(({ speakerName }) => speakerName === 'Unknown')).toBe(true);
		expect(nodes.some(({ speakerIdentifier }) => speakerIdentifier === 'user')).toBe(true);
		expect(lifelogs.some(({ isStarred }) => isStarred)).toBe(true);
		const dayMs = 86_400_000;
		expect(lifelogs.some((l) => Date.parse(l.updatedAt) - Date.parse(l.endTime) >= dayMs)).toBe(
			true,
		);
		expect(new Set(lifelogs.map(({ title }) => title)).size).toBeGreaterThan(100);
	});

	test('given counts are exact', async () => {
		const now = '2026-03-20T00:20:00Z';
		expect(await sandbox.control.reset({ now, days: 3, perDay: 7 })).toMatchObject({
			lifelogs: 21,
		});
		expect(await sandbox.control.reset({ now, lifelogs: 250 })).toMatchObject({ lifelogs: 250 });
		expect(await sandbox.control.reset({ empty: true })).toMatchObject({ lifelogs: 0, chats: 0 });
	});
});
