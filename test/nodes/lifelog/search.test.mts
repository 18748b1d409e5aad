import { useNode } from '../../support/useNode.mts';

const query = 'call OR dinner OR work OR plans';
const { sandbox, run: search } = useNode('lifelog', {
	usual: { operation: 'search', query, limit: 50, output: 'raw' },
});

beforeEach(async () => {
	await sandbox.control.reset({ days: 3 });
});

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

test("returns the service's results in its order, in one request", async () => {
	const { title } = await anyLifelog();
	const { json, requests } = await search({ query: title });
	expect(json[0].title).toBe(title);
	expect(requests).toHaveLength(1);
	expect(requests[0].query).toMatchObject({ search: title, limit: '50' });
	expect(requests[0].query).not.toHaveProperty('cursor');
});

test('follows no cursor, even if the service returns one', async () => {
	const lifelogs = [await anyLifelog()];
	const body = { data: { lifelogs }, meta: { lifelogs: { count: 1, nextCursor: 'more' } } };
	await sandbox.control.faults([{ body, times: 2 }]);
	const { json, requests, hint } = await search({});
	expect(json).toHaveLength(1);
	expect(requests).toHaveLength(1);
	expect(hint).toContain('The search returned 1 results, and a search has no further pages');
});

test('with contents, up to 25 in one request', async () => {
	const { json, requests } = await search({ limit: 25, options: { includeContents: true } });
	expect(json).toHaveLength(25);
	expect(json.every(({ contents }) => (contents as unknown[]).length > 0)).toBe(true);
	expect(requests).toHaveLength(1);
});

test('with contents and more than 25, reads each result by its ID', async () => {
	const { json, requests, hint } = await search({
		limit: 40,
		options: { includeContents: true },
	});
	expect(json).toHaveLength(40);
	expect(json.every(({ contents }) => (contents as unknown[]).length > 0)).toBe(true);
	expect(requests).toHaveLength(41);
	expect(requests[1].path).toBe(`/v1/lifelogs/${json[0].id}`);
	expect(hint).toBe('This run made 41 requests.');
});

test('with contents and more than 25, but fewer found, makes one request', async () => {
	await sandbox.control.reset({ days: 5, lifelogs: 20 });
	const { json, requests } = await search({ limit: 40, options: { includeContents: true } });
	expect(json.length).toBeGreaterThan(0);
	expect(json.every(({ contents }) => (contents as unknown[]).length > 0)).toBe(true);
	expect(requests).toHaveLength(1);
});

test('leaves out a result that was deleted before it was read', async () => {
	await sandbox.control.faults([{ path: '/v1/lifelogs/', skip: 3, status: 404, body: {} }]);
	const { json, requests } = await search({ limit: 40, options: { includeContents: true } });
	expect(json).toHaveLength(39);
	const { includeContents, includeHeadings, includeMarkdown, timezone, ...more } =
		requests[1].query;
	expect([includeContents, includeHeadings, includeMarkdown]).toEqual(['true', 'true', 'true']);
	expect([timezone, more]).toEqual(['UTC', {}]);
});

test('reports that the service may have more results', async () => {
	await sandbox.control.dialect({ limit: { max: 10, above: 'clamp' } });
	const { json, hint } = await search({});
	expect(json).toHaveLength(10);
	expect(hint).toContain('The search returned 10 results, and a search has no further pages');
});

test('requests 10 results if the service refuses more', async () => {
	await sandbox.control.dialect({ limit: { max: 10, above: 'reject' } });
	const { json, requests } = await search({});
	expect(json).toHaveLength(10);
	expect(requests.map(({ query }) => query.limit)).toEqual(['50', '10']);
});

test('accepts a limit above 100 without a hint if there are fewer results', async () => {
	const words = (await anyLifelog()).title;
	const { json, hint } = await search({ query: `"${words}"`, limit: 500 });
	expect(json.length).toBeLessThan(10);
	expect(hint ?? '').not.toContain('no further pages');
});

test('is capped at 100, and says so', async () => {
	await sandbox.control.reset({ days: 10 });
	const { json, requests, hint } = await search({ limit: 500 });
	expect(json).toHaveLength(100);
	expect(requests[0].query.limit).toBe('100');
	expect(hint).toContain('The search returned 100 results, and a search has no further pages');
});

test("leaves out contents that weren't requested", async () => {
	const { json } = await search({});
	expect(json.length).toBeGreaterThan(0);
	for (const found of json) expect(found).not.toHaveProperty('contents');
});

test('applies filters', async () => {
	const { json } = await search({ filters: { isStarred: true } });
	expect(json.length).toBeGreaterThan(0);
	expect(json.every(({ isStarred }) => isStarred)).toBe(true);
});

test('returns a lifelog once, at its best place, if it is found twice by hybrid search', async () => {
	const [first, second] = await sandbox.control.lifelogs();
	const found = [second, first, { ...second, title: 'again' }];
	const meta = { lifelogs: { count: found.length } };
	await sandbox.control.faults([{ body: { data: { lifelogs: found }, meta }, times: 1 }]);
	const { json } = await search({ limit: 3 });
	expect(json.map(({ id }) => id)).toEqual([second.id, first.id]);
	expect(json[0].title).toBe(second.title);
});

test('refuses a blank query before any request', async () => {
	const { error, requests } = await search({ query: '={{ "  " }}' });
	expect(error?.message).toBe("'Query' is empty");
	expect(requests).toEqual([]);
});
