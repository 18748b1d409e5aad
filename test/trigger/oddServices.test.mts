import type { IDataObject } from 'n8n-workflow';
import { type LabAt, startLabAt } from '../support/lab.mts';
import { serve, type Served } from '../support/serve.mts';
import { workflowWith } from '../support/workflow.mts';

// The trigger at services that write what the specification does not rule out.

let lab: LabAt<Served>;
let engine: typeof lab.engine;
let staticData: IDataObject;
let lifelogs: IDataObject[];
let chats: IDataObject[];
/** How the read of one lifelog differs from the list. */
let ofOne: (lifelog: IDataObject) => IDataObject;
let reads = 0;
/** The status of the answer to a list, by its page size, and the page sizes requested. */
let statusOf: (size: number) => number;
let sizes: number[];
/** By how much all clocks have been moved on, in ms. */
let passed = 0;
const realNow = Date.now;

beforeEach(async () => {
	[staticData, lifelogs, chats, reads, passed] = [{}, [], [], 0, 0];
	Date.now = () => realNow() + passed;
	ofOne = (lifelog) => lifelog;
	[statusOf, sizes] = [() => 200, []];
	const service = await serve((request, response) => {
		const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
		const [, , kind, id] = pathname.split('/');
		const all = { lifelogs, chats }[kind]!;
		const date = searchParams.get('date') ?? '';
		const listed = all.filter(({ startTime }) => String(startTime ?? date).startsWith(date));
		if (id !== undefined) reads++;
		const one = id === undefined ? undefined : all.find((entry) => entry.id === id);
		const data = one ? { [kind.slice(0, -1)]: ofOne(one) } : { [kind]: listed };
		response.setHeader('date', new Date(Date.now()).toUTCString());
		response.setHeader('content-type', 'application/json');
		if (id === undefined) {
			const size = Number(searchParams.get('limit'));
			sizes.push(size);
			response.statusCode = statusOf(size);
		}
		response.end(JSON.stringify({ data, meta: { [kind]: { count: listed.length } } }));
	});
	lab = await startLabAt(service);
	({ engine } = lab);
});

afterEach(async () => {
	Date.now = realNow;
	await lab.close();
});

/** An entry from the next second on, so that it counts as later than the first poll. */
function entry(id: string, more: IDataObject = {}): IDataObject {
	const now = new Date(Date.now() + 1000);
	const startTime = `${now.toISOString().slice(0, 10)}T00:00:00.000Z`;
	return { id, title: id, startTime, updatedAt: now.toISOString(), contents: [], ...more };
}

async function poll(event = 'lifelogCreatedOrUpdated'): Promise<unknown[]> {
	const [, node] = workflowWith('lifelogTrigger', { event }).nodes;
	const { items } = await engine.runPoll({ nodes: [node], connections: {} }, { staticData });
	return (items ?? []).map(({ json }) => `${json.id} ${json.changeType}`);
}

test('a lifelog whose time has full seconds only when read by ID is emitted once', async () => {
	await poll();
	const second = new Date(Date.now() + 1000).toISOString().slice(0, 19);
	lifelogs = Array.from({ length: 60 }, (_, nth) =>
		entry(`lifelog-${nth + 10}`, { updatedAt: `${second}.777Z` }),
	);
	ofOne = (lifelog) => ({ ...lifelog, updatedAt: `${second}Z` });
	const emitted = [await poll(), await poll(), await poll(), await poll()].flat();
	expect(emitted.sort()).toEqual(lifelogs.map(({ id }) => `${id} created`).sort());
	reads = 0;
	expect([await poll(), await poll()]).toEqual([[], []]);
	expect(reads).toBe(0);
});

test("a lifelog that stays older when read by ID doesn't delay others, and is emitted later", async () => {
	await poll();
	const updatedAt = new Date(Date.now() + 1000).toISOString();
	lifelogs = Array.from({ length: 60 }, (_, nth) => entry(`lifelog-${nth + 10}`, { updatedAt }));
	expect([...(await poll()), ...(await poll())]).toHaveLength(60);
	const later = new Date(Date.now() + 20_000).toISOString();
	for (const lifelog of lifelogs) lifelog.updatedAt = later;
	ofOne = (lifelog) => (lifelog.id === 'new' ? lifelog : { ...lifelog, updatedAt });
	await poll().catch(() => []);
	lifelogs.push(entry('new', { startTime: `${later.slice(0, 10)}T00:00:01.000Z` }));
	expect(await poll()).toEqual(['new created']);
	const rest: unknown[] = [];
	for (let hours = 0; hours < 60; hours += 6) {
		passed += 6 * 3_600_000;
		rest.push(...(await poll().catch(() => [])));
	}
	expect(rest.sort()).toEqual(
		Array.from({ length: 60 }, (_, nth) => `lifelog-${nth + 10} updated`),
	);
});

test.each([
	['updatedAt', '1969-12-31T23:59:59.000Z'],
	['updatedAt', '0001-01-01T00:00:00Z'],
	['updatedAt', '+010000-01-01T00:00:00Z'],
	['startTime', '+010000-01-01T00:00:00Z'],
])("a lifelog whose %s is %s doesn't delay others", async (field, time) => {
	await poll();
	const odd = entry('odd');
	lifelogs = [{ ...odd, [field]: time }];
	await poll();
	lifelogs.push(entry('new'));
	expect(await poll()).toContain('new created');
	expect(await poll()).toEqual([]);
});

test.each<[string, unknown]>([
	['an object', {}],
	['a text', 'none'],
	['a list of odd things', [null, 5, { user: { role: 'assistant' }, text: 5 }]],
])('a chat whose messages are %s counts as not answered', async (_what, messages) => {
	const at = () => new Date(Date.now() + 1000).toISOString();
	const chat = (id: string, more: IDataObject) => ({
		id,
		createdAt: at(),
		startedAt: at(),
		...more,
	});
	await poll('scheduledChatCreated');
	chats = [chat('odd', { messages: messages as IDataObject })];
	expect(await poll('scheduledChatCreated')).toEqual([]);
	const answer = { user: { role: 'assistant' }, text: 'Yes.', createdAt: at() };
	chats.unshift(chat('new', { messages: [answer] }));
	expect(await poll('scheduledChatCreated')).toEqual(['new undefined']);
});

test.each(['lifelogCreatedOrUpdated', 'scheduledChatCreated'])(
	'an entry without an ID is reported less and less often (%s)',
	async (event) => {
		await poll(event);
		const without = entry('odd');
		delete without.id;
		lifelogs = [without];
		chats = [without];
		const failed: number[] = [];
		for (let nth = 1; nth <= 16; nth++) await poll(event).catch(() => failed.push(nth));
		expect(failed).toEqual([1, 2, 4, 8, 16]);
	},
);

test('the list to choose a lifelog from also shows lifelogs without a title or time', async () => {
	lifelogs = [entry('a', { title: null }), entry('b', { startTime: undefined, title: 'B' })];
	const [, node] = workflowWith('lifelog', { operation: 'get' }).nodes;
	const { results } = await engine.loadOptions(node, 'searchLifelogs');
	expect(results.map(({ name }) => name)).toEqual([expect.stringMatching(/^Untitled · /), 'B']);
});

describe('a service that fails at pages of 100, but not at pages of 10', () => {
	test('each list is requested again with 10 entries, in every poll', async () => {
		statusOf = (size) => (size > 10 ? 504 : 200);
		await poll();
		lifelogs = [entry('new')];
		sizes = [];
		expect(await poll()).toEqual(['new created']);
		expect(sizes).toEqual([100, 10, 100, 10, 100, 10]);
		statusOf = () => 200;
		sizes = [];
		await poll();
		expect(sizes).toEqual([100, 100, 100]);
	});

	test('a test event and the list to choose a lifelog from work, too', async () => {
		statusOf = (size) => (size > 10 ? 500 : 200);
		lifelogs = [entry('a')];
		const trigger = workflowWith('lifelogTrigger', { event: 'lifelogCreated' }).nodes[1];
		const json = { nodes: [trigger], connections: {} };
		const { items } = await engine.runPoll(json, { mode: 'manual' });
		expect(items).toHaveLength(1);
		const [, node] = workflowWith('lifelog', { operation: 'get' }).nodes;
		const { results } = await engine.loadOptions(node, 'searchLifelogs');
		expect(results.map(({ value }) => value)).toEqual(['a']);
		expect(sizes).toEqual([25, 10, 100, 10]);
	});
});
