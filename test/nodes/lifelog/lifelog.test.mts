import { DateTime } from 'luxon';
import type { IDataObject, INode } from 'n8n-workflow';
import type { Lifelog } from '../../../lifelog/api.ts';
import { nodeOperations, operationsById, withId } from '../faults/parameters.mts';
import { loadPackage, type RunOptions } from '../../support/engine.mts';
import { engineAt, type Lab, startLab } from '../../support/lab.mts';
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
	await sandbox.control.reset({ days: 3 });
});

async function run(parameters: IDataObject, options?: RunOptions, more?: Partial<INode>) {
	await sandbox.control.clearRequests();
	const result = await engine.runWorkflow(workflowWith('lifelog', parameters, more), options);
	return {
		...result,
		json: result.items('Node').map(({ json }) => json),
		requests: await sandbox.control.requests(),
		hint: result.hints('Node').map(({ message }) => message)[0],
		description: (result.error as { description?: string } | undefined)?.description,
	};
}

const anyLifelog = async () => (await sandbox.control.lifelogs())[20];

describe('Search', () => {
	const search = async (parameters: IDataObject) =>
		await run({
			operation: 'search',
			query: 'call OR dinner OR work OR plans',
			limit: 50,
			output: 'raw',
			...parameters,
		});

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
});

describe('Get', () => {
	test('returns the API’s object unchanged and complete', async () => {
		const { id } = await anyLifelog();
		const { json } = await run({ operation: 'get', lifelogId: byId(id), output: 'raw' });
		const response = await fetch(
			`${sandbox.url}/v1/lifelogs/${id}?includeContents=true&timezone=UTC`,
			{ headers: { 'x-api-key': sandbox.apiKey } },
		);
		const { data } = (await response.json()) as { data: { lifelog: Lifelog } };
		expect(json).toEqual([data.lifelog]);
		expect(data.lifelog.contents.length).toBeGreaterThan(0);
	});

	test("leaves out the parts that aren't requested, and returns times in the time zone", async () => {
		const { id } = await anyLifelog();
		const options = {
			includeMarkdown: false,
			includeHeadings: false,
			includeContents: false,
			timezone: 'Asia/Tokyo',
		};
		const { json } = await run({ operation: 'get', lifelogId: byId(id), output: 'raw', options });
		expect(json[0]).not.toHaveProperty('markdown');
		expect(json[0]).not.toHaveProperty('contents');
		expect(json[0].startTime).toContain('+09:00');
	});

	test.each(['404', 'null'] as const)(
		"names the ID that wasn't found, answered by %s",
		async (missing) => {
			await sandbox.control.dialect({ missing });
			const { error, description } = await run({ operation: 'get', lifelogId: byId('nobody') });
			expect(error?.message).toBe('No lifelog with the ID "nobody" was found');
			expect(description).toContain('Check the ID');
		},
	);
});

describe('Get Transcript', () => {
	const transcript = async (parameters: IDataObject = {}) => {
		const { id } = await anyLifelog();
		return await run({ operation: 'getTranscript', lifelogId: byId(id), ...parameters });
	};

	test('returns one item for each utterance', async () => {
		const lifelog = await anyLifelog();
		const { json, requests } = await transcript();
		expect(json.length).toBeGreaterThan(1);
		expect(json.map(({ index }) => index)).toEqual(json.map((_, index) => index));
		expect(Object.keys(json[0])).toEqual([
			'speaker',
			'text',
			'startTime',
			'endTime',
			'startOffsetMs',
			'endOffsetMs',
			'speakerIdentifier',
			'index',
			'lifelogId',
		]);
		expect(json[0]).toMatchObject({
			lifelogId: lifelog.id,
			speaker: expect.any(String),
			text: expect.any(String),
			startOffsetMs: expect.any(Number),
		});
		expect(requests[0].query).toMatchObject({ includeContents: 'true', includeMarkdown: 'false' });
	});

	test('returns only the chosen speakers', async () => {
		const everyone = await transcript();
		const { json } = await transcript({ options: { speakers: ' USER, nobody ' } });
		const byUser = everyone.json.filter(({ speakerIdentifier }) => speakerIdentifier === 'user');
		expect(json).toEqual(byUser);
		expect(json.length).toBeGreaterThan(0);
		expect(json.length).toBeLessThan(everyone.json.length);
	});

	test('as text is one item', async () => {
		const spoken = await transcript();
		const { json } = await transcript({ outputAs: 'text' });
		const lines = spoken.json.map(({ speaker, text }) => `${speaker}: ${text}`);
		expect(json).toEqual([
			{
				lifelogId: spoken.json[0].lifelogId,
				title: (await anyLifelog()).title,
				text: lines.join('\n'),
			},
		]);
	});

	test('without contents is empty, and says so', async () => {
		const lifelog = { ...(await anyLifelog()), contents: [] };
		await sandbox.control.faults([{ body: { data: { lifelog } } }]);
		const { json, hint } = await transcript();
		expect(json).toEqual([]);
		expect(hint).toContain('no contents');
	});
});

describe('Delete', () => {
	const remove = async (id: unknown) =>
		await run({ operation: 'delete', lifelogIdToDelete: byId(id) });
	const exists = async (id: string) =>
		(await sandbox.control.lifelogs()).some((lifelog) => lifelog.id === id);

	test.each(['top', 'data'] as const)('confirms the deletion, success at the %s', async (shape) => {
		await sandbox.control.dialect({ deleteShape: shape });
		const { id } = await anyLifelog();
		const { json } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(await exists(id)).toBe(false);
	});

	test.each([
		[{ success: false }, 'it says that the lifelog was not deleted'],
		[{ data: { success: false } }, 'it says that the lifelog was not deleted'],
		[{ ok: 1 }, 'it does not say whether the lifelog was deleted'],
		['', 'it is empty'],
	])('the answer %p is an error', async (body, problem) => {
		const { id } = await anyLifelog();
		await sandbox.control.faults([{ status: 200, body }]);
		const { error } = await remove(id);
		expect(error?.message).toContain(problem);
	});

	test('an ID that does not exist is an error', async () => {
		const { error } = await remove('nobody');
		expect(error?.message).toBe('No lifelog with the ID "nobody" was found');
	});

	test("isn't retried if the service failed", async () => {
		const { id } = await anyLifelog();
		await sandbox.control.faults([{ status: 500, body: { error: 'out of order' } }]);
		const { error, description, requests } = await remove(id);
		expect(error?.message).toBe(`The service failed (500): lifelog "${id}"`);
		expect(description).toContain('out of order');
		expect(requests).toHaveLength(1);
		expect(await exists(id)).toBe(true);
	});

	test.each(['before', 'after'] as const)(
		'is retried once if the connection broke %s it took effect',
		async (reset) => {
			const { id } = await anyLifelog();
			await sandbox.control.faults([{ reset }]);
			const { json, requests } = await remove(id);
			expect(json).toEqual([{ deleted: true, id }]);
			expect(requests).toHaveLength(2);
			expect(await exists(id)).toBe(false);
		},
	);

	test("isn't retried twice, and says that the outcome isn't known", async () => {
		const { id } = await anyLifelog();
		await sandbox.control.faults([{ reset: 'before', times: 5 }]);
		const { error, description, requests } = await remove(id);
		expect(error?.message).toContain('the connection was interrupted');
		expect(description).toContain('The lifelog may or may not have been deleted');
		expect(requests).toHaveLength(2);
	});

	test('is not counted as done if a proxy answers "not found"', async () => {
		const { id } = await anyLifelog();
		await sandbox.control.faults([
			{ reset: 'before' },
			{ status: 404, body: '404 page not found' },
		]);
		const { json, error, requests } = await remove(id);
		expect(json).toEqual([]);
		expect(error?.message).toContain('No lifelog with the ID');
		expect(requests).toHaveLength(2);
		expect(await exists(id)).toBe(true);
	});

	test('waits for the rate limit and then takes effect once', async () => {
		const { id } = await anyLifelog();
		await sandbox.control.faults([{ status: 429, body: { error: 'slow', retryAfter: '1' } }]);
		const { json, requests } = await remove(id);
		expect(json).toEqual([{ deleted: true, id }]);
		expect(requests.map(({ status }) => status)).toEqual([429, 200]);
	});

	test('no other operation sends DELETE', async () => {
		const { id } = await anyLifelog();
		const others = nodeOperations().filter(
			({ node, operation }) => node === 'lifelog' && operation !== 'delete',
		);
		for (const operation of others) {
			const { requests } = await run(withId(operation, id));
			expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
		}
	});
});

describe('an ID', () => {
	const byAnId = operationsById('lifelog').map(
		(operation) => [operation.operation, operation] as const,
	);

	test.each(byAnId)("for %s can't change the path of the request", async (_name, operation) => {
		for (const [id, path] of [
			['a&b=c;d', '/v1/lifelogs/a%26b%3Dc%3Bd'],
			['a:b@c+d', '/v1/lifelogs/a%3Ab%40c%2Bd'],
			[' spaced ', '/v1/lifelogs/spaced'],
			['ünï', '/v1/lifelogs/%C3%BCn%C3%AF'],
		]) {
			const { error, requests } = await run(withId(operation, id));
			expect(error?.message).toContain('No lifelog with the ID');
			expect(requests.map((request) => request.path)).toEqual([path]);
		}
	});

	test.each(byAnId)(
		"for %s that isn't valid is refused before any request",
		async (_name, operation) => {
			const none = [
				'',
				'   ',
				'.',
				'..',
				'={{ null }}',
				'={{ ["a"] }}',
				'={{ ({}) }}',
				'={{ true }}',
			];
			for (const id of none) {
				const { error, requests } = await run(withId(operation, id));
				expect(error).toBeDefined();
				expect(requests).toEqual([]);
			}
		},
	);

	test('can come from an expression', async () => {
		const { id } = await anyLifelog();
		const options = { input: [{ json: { id } }] };
		const { json } = await run({ operation: 'get', lifelogId: byId('={{ $json.id }}') }, options);
		expect(json[0].id).toBe(id);
	});
});

describe('an error of one item', () => {
	const threeItems = async () => {
		const [first, , last] = await sandbox.control.lifelogs();
		return {
			input: [
				{ json: { id: first.id } },
				{ json: { id: 'nobody', note: 'keep' } },
				{ json: { id: last.id } },
			],
		};
	};
	const parameters = { operation: 'get', lifelogId: byId('={{ $json.id }}') };
	const message = 'No lifelog with the ID "nobody" was found';

	test('stops the node and names the item', async () => {
		const { error, status } = await run(parameters, await threeItems());
		expect(status).toBe('error');
		expect(error?.message).toBe(message);
		expect((error as unknown as { context: IDataObject }).context.itemIndex).toBe(1);
	});

	test('with "continue" is returned with its input, and the other items continue', async () => {
		const items = await threeItems();
		const { json, ...result } = await run(parameters, items, { onError: 'continueRegularOutput' });
		expect(json.map(({ id }) => id)).toEqual(items.input.map((item) => item.json.id));
		expect(json[1]).toEqual({
			id: 'nobody',
			note: 'keep',
			error: message,
			errorDetails: { code: '404', description: expect.stringContaining('Check the ID') },
		});
		expect(result.items('Node')[1].pairedItem).toEqual({ item: 1 });
	});

	test('with the error output is returned there with its input, and the other items continue', async () => {
		const items = await threeItems();
		const result = await run(parameters, items, { onError: 'continueErrorOutput' });
		expect(result.json.map(({ id }) => id)).toEqual([
			items.input[0].json.id,
			items.input[2].json.id,
		]);
		expect(result.items('Node', 1).map(({ json }) => json)).toEqual([
			{ id: 'nobody', note: 'keep', error: message },
		]);
	});

	test('an unsafe Base URL is an error of each item', async () => {
		const unsafe = await engineAt({ url: 'http://example.com' });
		const workflow = workflowWith('lifelog', parameters, { onError: 'continueRegularOutput' });
		const result = await unsafe.runWorkflow(workflow, await threeItems());
		const errors = result.items('Node').map(({ json }) => json.error);
		expect(errors).toHaveLength(3);
		expect(errors[0]).toContain('must start with https://');
		await unsafe.close();
	});
});

/** What an n8n that was told nothing has. */
const INSTANCE_ZONE = 'America/New_York';

describe('the list of the parameter Lifelog', () => {
	const list = async (filter?: string, token?: string, options: IDataObject = {}) => {
		const [, node] = workflowWith('lifelog', { operation: 'get', options }).nodes;
		return await engine.loadOptions(node, 'searchLifelogs', filter, token);
	};

	test('shows the newest, page by page', async () => {
		await sandbox.control.reset({ days: 3, perDay: 40 });
		const all = (await sandbox.control.lifelogs()).reverse();
		const first = await list();
		const { title, startTime } = all[0];
		const begin = DateTime.fromISO(startTime, { zone: INSTANCE_ZONE });
		const shown = `${begin.toFormat('d LLL yyyy, HH:mm')} (${INSTANCE_ZONE})`;
		expect(first.results[0].name).toBe(`${title} · ${shown}`);
		const second = await list(undefined, first.paginationToken as string);
		const values = [...first.results, ...second.results].map(({ value }) => value);
		expect(values).toEqual(all.map(({ id }) => id).slice(0, values.length));
		expect(second.paginationToken).toBeUndefined();
		expect((await list(' ')).results).toEqual(first.results);
	});

	test('continues if the service allows only 10 a page', async () => {
		await sandbox.control.reset({ days: 3, perDay: 40 });
		await sandbox.control.dialect({ limit: { max: 10, above: 'reject' } });
		const all = (await sandbox.control.lifelogs()).reverse();
		const first = await list();
		const second = await list(undefined, first.paginationToken as string);
		const values = [...first.results, ...second.results].map(({ value }) => value);
		expect(values).toEqual(all.slice(0, 20).map(({ id }) => id));
	});

	test.each([
		['the option Time Zone', 'Asia/Kathmandu', '22 Nov 2026, 00:12 (Asia/Kathmandu)'],
		['its proper case', 'europe/berlin', '21 Nov 2026, 19:27 (Europe/Berlin)'],
		['that of the instance with an offset', '+02:00', `21 Nov 2026, 13:27 (${INSTANCE_ZONE})`],
		['that of the instance without the option', '', `21 Nov 2026, 13:27 (${INSTANCE_ZONE})`],
		[
			'that of the instance with one half typed',
			'Asia/Kath',
			`21 Nov 2026, 13:27 (${INSTANCE_ZONE})`,
		],
		[
			'that of the instance with an expression',
			'={{ "UTC+1" }}',
			`21 Nov 2026, 13:27 (${INSTANCE_ZONE})`,
		],
	])('shows times in %s, and names it', async (_zone, timezone, shown) => {
		await sandbox.control.reset({ empty: true });
		const title = 'Call about the family party';
		await sandbox.control.addLifelog({ title, startTime: '2026-11-21T18:27:00Z' });
		const { results } = await list(undefined, undefined, { timezone });
		expect(results.map(({ name }) => name)).toEqual([`${title} · ${shown}`]);
	});

	test('searches for the words that you type', async () => {
		const { title, id } = await anyLifelog();
		const { results, paginationToken } = await list(title);
		expect(results.map(({ value }) => value)).toContain(id);
		expect(paginationToken).toBeUndefined();
	});

	test('requests no more than it shows', async () => {
		await sandbox.control.clearRequests();
		await list();
		expect((await sandbox.control.requests())[0].query).toMatchObject({
			includeMarkdown: 'false',
			includeHeadings: 'false',
			includeContents: 'false',
		});
	});
});

test('the tool description says what each operation does, and that a delete is permanent', async () => {
	const { NodeHelpers } = await import('n8n-workflow');
	const type = loadPackage().nodeTypes['n8n-nodes-lifelog.lifelog'] as Parameters<
		typeof NodeHelpers.getVersionedNodeType
	>[0];
	const { description } = NodeHelpers.getVersionedNodeType(type);
	expect(description.usableAsTool).toBe(true);
	const told = (operation: string) => {
		const node = workflowWith('lifelog', { operation, resource: 'lifelog' }).nodes[1];
		return NodeHelpers.getToolDescriptionForNode(node, NodeHelpers.getVersionedNodeType(type));
	};
	expect(told('search')).toBe('Search lifelogs in Lifelog');
	expect(told('delete')).toBe('Delete lifelog permanently in Lifelog');
});
