// The trigger at services that write and do what the specification does not rule out.
import type { IDataObject } from 'n8n-workflow';
import { workflowWith } from '../support/workflow.mts';
import { DAY, DURABLE_MS, HOUR, iso, MINUTE, TriggerLab } from './lab.mts';

let lab: TriggerLab;
beforeEach(async () => (lab = await TriggerLab.start()));
afterEach(() => lab.close());

/** The lifelogs of the tests with many. */
const IDS = Array.from({ length: 60 }, (_, nth) => `lifelog-${nth + 10}`);
/** The page sizes that were asked for. */
const sizes = () =>
	lab.requests.map(({ query }) => Number(query.get('limit'))).filter((size) => size > 0);
const failAbove10 =
	(status: number): TriggerLab['fault'] =>
	({ query }) =>
		Number(query.get('limit')) > 10 ? status : undefined;

test('a lifelog whose time has full seconds only when read by ID is emitted once', async () => {
	await lab.poll();
	lab.now += 1000;
	const second = iso(lab.now).slice(0, 19);
	for (const id of IDS) lab.add(id, { updatedAt: `${second}.777Z` });
	lab.ofOne = (lifelog) => ({ ...lifelog, updatedAt: `${second}Z` });
	expect(await lab.polls(4, 0)).toEqual(IDS.map((id) => `${id} created`));
	lab.requests = [];
	expect(await lab.polls(2, 0)).toEqual([]);
	expect(lab.requests).toHaveLength(sizes().length);
});

test("a lifelog that stays older when read by ID doesn't delay others, and is emitted later", async () => {
	await lab.poll();
	lab.now += 1000;
	const updatedAt = iso(lab.now);
	for (const id of IDS) lab.add(id);
	expect(await lab.polls(2, 0)).toHaveLength(60);
	lab.now += 20_000;
	for (const id of IDS) lab.change(id);
	lab.ofOne = (lifelog) => (lifelog.id === 'new' ? lifelog : { ...lifelog, updatedAt });
	expect(await lab.polls(1, 0)).toEqual([]);
	lab.add('new');
	expect(await lab.poll()).toEqual(['new created']);
	expect(await lab.polls(10, 6 * HOUR)).toEqual(IDS.map((id) => `${id} updated`));
});

test.each([
	['updatedAt', '1969-12-31T23:59:59.000Z'],
	['updatedAt', '0001-01-01T00:00:00Z'],
	['updatedAt', '+010000-01-01T00:00:00Z'],
	['startTime', '+010000-01-01T00:00:00Z'],
])("a lifelog whose %s is %s doesn't delay others", async (field, time) => {
	await lab.poll();
	lab.now += 1000;
	lab.add('odd', { [field]: time });
	await lab.poll();
	lab.add('new');
	expect(await lab.poll()).toContain('new created');
	expect(await lab.poll()).toEqual([]);
});

const CHATS = { event: 'scheduledChatCreated' };
const chatOf = (id: string, more: IDataObject): IDataObject => ({
	...{ id, createdAt: iso(lab.now), startedAt: iso(lab.now) },
	...more,
});

test.each<[string, unknown]>([
	['an object', {}],
	['a text', 'none'],
	['a list of odd things', [null, 5, { user: { role: 'assistant' }, text: 5 }]],
])('a chat whose messages are %s counts as not answered', async (_what, messages) => {
	await lab.poll(CHATS);
	lab.now += 1000;
	lab.chats = [chatOf('odd', { messages: messages as IDataObject })];
	expect(await lab.poll(CHATS)).toEqual([]);
	const answer = { user: { role: 'assistant' }, text: 'Yes.', createdAt: iso(lab.now) };
	lab.chats.unshift(chatOf('new', { messages: [answer] }));
	expect(await lab.poll(CHATS)).toEqual(['new']);
});

test.each(['lifelogCreatedOrUpdated', 'scheduledChatCreated'])(
	'an entry without an ID is reported less and less often (%s)',
	async (event) => {
		await lab.poll({ event });
		lab.add('odd', { id: undefined });
		lab.chats = lab.lifelogs;
		const failed: number[] = [];
		for (let nth = 1; nth <= 16; nth++) await lab.poll({ event }).catch(() => failed.push(nth));
		expect(failed).toEqual([1, 2, 4, 8, 16]);
	},
);

test('the list to choose a lifelog from also shows lifelogs without a title or time', async () => {
	lab.add('a', { title: null });
	lab.add('b', { startTime: undefined, title: 'B' });
	const [, node] = workflowWith('lifelog', { operation: 'get' }).nodes;
	const { results } = await lab.engine.loadOptions(node, 'searchLifelogs');
	expect(results.map(({ name }) => name)).toEqual([expect.stringMatching(/^Untitled · /), 'B']);
});

test("a day whose pages never end doesn't delay others, however slow they are", async () => {
	const few = { options: { lookbackDays: 4 } };
	const durable = { budgetMs: DURABLE_MS };
	await lab.poll(few, durable);
	[lab.latencyMs, lab.pageSize] = [2800, 10];
	const endless = iso(lab.now - DAY).slice(0, 10);
	lab.isEndless = ({ query }) => query.get('date') === endless;
	lab.now += HOUR;
	const days = [0, 1, 2, 3];
	for (const ago of days) lab.add(`e${ago}`, {}, lab.now - ago * DAY);
	expect(await lab.polls(16, 15 * MINUTE, few, durable)).toEqual(
		days.map((ago) => `e${ago} created`),
	);
});

test('a page size that was refused is requested again after a day', async () => {
	lab.fault = failAbove10(400);
	await lab.poll();
	lab.fault = () => undefined;
	const asked = async () => {
		lab.requests = [];
		await lab.poll();
		return new Set(sizes());
	};
	lab.now += HOUR;
	expect(await asked()).toEqual(new Set([10]));
	lab.now += DAY;
	expect(await asked()).toEqual(new Set([100]));
	expect(await asked()).toEqual(new Set([100]));
});

describe('a service that fails at pages of 100, but not at pages of 10', () => {
	test('each list is requested again with 10 entries, in every poll', async () => {
		lab.fault = failAbove10(504);
		await lab.poll();
		lab.now += 1000;
		lab.add('new');
		lab.requests = [];
		expect(await lab.poll()).toEqual(['new created']);
		expect(sizes()).toEqual([100, 10, 100, 10, 100, 10]);
		lab.fault = () => undefined;
		lab.requests = [];
		await lab.poll();
		expect(sizes()).toEqual([100, 100, 100]);
	});

	test('a test event and the list to choose a lifelog from work, too', async () => {
		lab.fault = failAbove10(500);
		lab.add('a');
		expect(await lab.poll({ event: 'lifelogCreated' }, { mode: 'manual' })).toHaveLength(1);
		const [, node] = workflowWith('lifelog', { operation: 'get' }).nodes;
		const { results } = await lab.engine.loadOptions(node, 'searchLifelogs');
		expect(results.map(({ value }) => value)).toEqual(['a']);
		expect(sizes()).toEqual([25, 10, 100, 10]);
	});
});
