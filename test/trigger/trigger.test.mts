// The trigger on n8n's real polling code, against the sandbox.
import type { IDataObject, INodeExecutionData, NodeApiError } from 'n8n-workflow';
import type { LifelogList } from '../../lifelog/api.ts';
import type { PollOptions, WorkflowJson } from '../support/engine.mts';
import { type Lab, startLab } from '../support/lab.mts';
import type { DialectChange } from '../support/sandbox.mts';

const NOW = '2026-03-20T12:00:00.000Z';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];
let clock: number;
/** By how much n8n's clock differs from that of this machine. */
let ownClock = 0;
const realNow = Date.now;
/** The state as n8n has it; polls change it like n8n's in-memory engine. */
let staticData: IDataObject;

beforeAll(async () => {
	lab = await startLab();
	({ sandbox, engine } = lab);
});

afterAll(async () => await lab.close());

afterEach(() => {
	Date.now = realNow;
});

beforeEach(async () => {
	clock = Date.parse(NOW);
	ownClock = clock - realNow();
	Date.now = () => realNow() + ownClock;
	staticData = {};
	await reset({ empty: true });
});

async function reset(
	data: { empty?: boolean; days?: number; perDay?: number },
	dialect: DialectChange = {},
) {
	const rateLimit = { max: 1_000_000, windowMs: 1000 };
	await sandbox.control.reset({ ...data, now: NOW, dialect: { rateLimit, ...dialect } });
}

/** Time passes, for the service and for n8n. */
async function pass(ms: number) {
	clock += ms;
	ownClock += ms;
	await sandbox.control.clock(new Date(clock).toISOString());
}

const ago = (ms: number) => new Date(clock - ms).toISOString();
const add = async (id: string, startTime: string, updatedAt = ago(0)) =>
	await sandbox.control.addLifelog({ id, title: `About ${id}`, startTime, updatedAt });

function workflow(given: IDataObject = {}, credential = '1'): WorkflowJson {
	const isOfChats = given.event === 'scheduledChatCreated';
	const parameters = isOfChats ? given : { output: 'raw', ...given };
	return {
		nodes: [
			{
				id: 'trigger',
				name: 'Lifelog Trigger',
				type: 'n8n-nodes-lifelog.lifelogTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: parameters as WorkflowJson['nodes'][0]['parameters'],
				credentials: { lifelogApi: { id: credential, name: 'Lifelog' } },
			},
		],
		connections: {},
	};
}

async function poll(parameters: IDataObject = {}, options: PollOptions = {}, credential?: string) {
	const json = workflow(parameters, credential);
	return (await engine.runPoll(json, { staticData, timezone: 'UTC', ...options })).output;
}

const events = (output: INodeExecutionData[][] | null) =>
	output?.[0].map(({ json }) => `${json.id} ${json.changeType}`) ?? null;
const keys = (output: INodeExecutionData[][] | null) =>
	output?.[0].map(({ json }) => json.eventKey) ?? null;
const savedState = () => (staticData['node:Lifelog Trigger'] as IDataObject).state as IDataObject;
const failureOf = async (polling: Promise<unknown>) =>
	await polling.then(
		() => undefined,
		(error: unknown) => error as NodeApiError,
	);

describe('lifelogs', () => {
	test('the first poll emits nothing, and then new and changed lifelogs are emitted once', async () => {
		await add('old', ago(3 * DAY));
		expect(await poll()).toBeNull();
		expect(await poll()).toBeNull();

		await pass(MINUTE);
		await add('late', ago(2 * DAY));
		await add('new', ago(10 * MINUTE));
		await sandbox.control.updateLifelog('old', { title: 'Another title' });
		const output = await poll();
		expect(events(output)).toEqual(['new created']);
		expect(output?.[0][0].json).toMatchObject({
			id: 'new',
			title: 'About new',
			markdown: expect.stringContaining('# About new'),
			eventKey: 'new:2026-03-20T12:01:00.000Z',
		});
		expect(output?.[0][0].json).not.toHaveProperty('contents');
		const older: unknown[] = [];
		for (let polls = 0; polls < 5; polls++) older.push(...((await poll())?.[0] ?? []));
		expect(events([older as INodeExecutionData[]])?.sort()).toEqual([
			'late created',
			'old updated',
		]);
	});

	test('a changed star has its own key, also if it changes again', async () => {
		await add('a', ago(MINUTE), ago(MINUTE));
		await poll();
		const seen: unknown[] = [];
		for (const isStarred of [true, false, true, false]) {
			await sandbox.control.updateLifelog('a', { isStarred, updatedAt: ago(MINUTE) });
			seen.push(...(keys(await poll()) ?? []));
		}
		const key = `a:${ago(MINUTE)}`;
		expect(seen).toEqual([
			`${key}:starred`,
			`${key}:unstarred`,
			`${key}:starred:2`,
			`${key}:unstarred:2`,
		]);
	});

	test("a lifelog that can't be read is pending, then recorded with its version, then with its star", async () => {
		const at = (time: string) => Date.parse(`2026-03-20T${time}Z`);
		const known = () => (savedState().days as Record<string, IDataObject>)['2026-03-20'].entries;
		await poll();

		await pass(6 * MINUTE);
		await add('a', ago(10 * MINUTE), ago(MINUTE));
		await sandbox.control.faults([{ path: '/v1/lifelogs/a', status: 500 }]);
		expect(await failureOf(poll())).toMatchObject({ httpCode: '500' });
		const retry = { times: 1, poll: 2, at: at('12:06'), since: at('12:06') };
		expect(known()).toEqual({ a: { pending: true, retry } });

		await pass(5 * MINUTE);
		await sandbox.control.updateLifelog('a', { updatedAt: ago(MINUTE) });
		const created = await poll();
		expect(events(created)).toEqual(['a created']);
		expect(keys(created)).toEqual(['a:2026-03-20T12:10:00.000Z']);
		expect(known()).toEqual({ a: at('12:10') });

		await pass(5 * MINUTE);
		await sandbox.control.updateLifelog('a', { isStarred: true, updatedAt: ago(6 * MINUTE) });
		const updated = await poll();
		expect(events(updated)).toEqual(['a updated']);
		expect(keys(updated)).toEqual(['a:2026-03-20T12:10:00.000Z:starred']);
		expect(known()).toEqual({ a: { at: at('12:10'), starred: true, starToggles: 1 } });
	});

	test('items are sorted by start, in the chosen time zone, with the chosen parts', async () => {
		await poll();
		await add('b', ago(5 * MINUTE));
		await add('a', ago(5 * MINUTE));
		await add('c', ago(50 * MINUTE));
		const options = { timezone: 'Asia/Tokyo', includeContents: true, includeMarkdown: false };
		const output = await poll({ options });
		expect(events(output)).toEqual(['c created', 'a created', 'b created']);
		const { json } = output![0][0];
		expect(json).not.toHaveProperty('markdown');
		expect(json.contents).not.toHaveLength(0);
		expect(json.startTime).toContain('+09:00');
		expect(json.eventKey).toBe(`c:${ago(0)}`);
	});

	test('the event and the filter choose the reported lifelogs, and lose none when they change', async () => {
		await add('a', ago(MINUTE));
		await poll({ event: 'lifelogCreated' });
		await pass(MINUTE);
		await add('b', ago(0));
		await sandbox.control.updateLifelog('a', { title: 'Changed' });
		expect(events(await poll({ event: 'lifelogCreated' }))).toEqual(['b created']);
		await pass(MINUTE);
		await sandbox.control.updateLifelog('a', { title: 'Changed again' });
		const starred = { event: 'lifelogUpdated', filters: { isStarred: true } };
		expect(await poll(starred)).toBeNull();
		await sandbox.control.updateLifelog('b', { isStarred: true });
		expect(events(await poll(starred))).toEqual(['b updated']);
		expect(await poll()).toBeNull();
	});

	test('a lifelog that keeps changing is postponed until it settles', async () => {
		const options = { settleMinutes: 10 };
		await poll({ options });
		await add('a', ago(0));
		expect(await poll({ options })).toBeNull();
		await pass(8 * MINUTE);
		await sandbox.control.updateLifelog('a', { title: 'Longer' });
		await pass(8 * MINUTE);
		expect(await poll({ options })).toBeNull();
		await pass(2 * MINUTE);
		const output = await poll({ options });
		expect(events(output)).toEqual(['a created']);
		expect(output?.[0][0].json.title).toBe('Longer');
		expect(await poll({ options })).toBeNull();
	});

	test('with one poll a day, the next polls report late uploads', async () => {
		const options = { lookbackDays: 31 };
		await poll({ options });
		await pass(DAY);
		for (let days = 3; days < 31; days++) await add(`d${days}`, ago(days * DAY));
		const reported: unknown[] = [];
		for (let polls = 0; polls < 2; polls++) {
			reported.push(...((await poll({ options }))?.[0] ?? []));
			await pass(DAY);
		}
		expect(reported).toHaveLength(28);
	});

	test('a postponed lifelog is reported even after the look-back', async () => {
		const options = { settleMinutes: 1440, lookbackDays: 2 };
		await poll({ options });
		await add('a', ago(DAY));
		await add('other', ago(DAY + MINUTE), ago(DAY));
		expect(events(await poll({ options }))).toEqual(['other created']);
		await pass(2 * DAY);
		expect(events(await poll({ options }))).toEqual(['a created']);
		expect(await poll({ options })).toBeNull();
	});

	test("a changed start isn't a new lifelog, and a deleted lifelog isn't an event", async () => {
		await add('moved', ago(DAY), ago(DAY));
		await add('deleted', ago(2 * MINUTE));
		await poll();
		await pass(MINUTE);
		await sandbox.control.updateLifelog('moved', { startTime: ago(MINUTE) });
		await sandbox.control.deleteLifelog('deleted');
		expect(events(await poll())).toEqual(['moved updated']);
		expect(await poll()).toBeNull();
	});

	test('more than 50 changes are reported 50 a poll, oldest first', async () => {
		await poll();
		for (let index = 0; index < 60; index++) {
			await add(`e${String(index).padStart(2, '0')}`, ago((60 - index) * MINUTE));
		}
		const ids = Array.from({ length: 60 }, (_, n) => `e${String(n).padStart(2, '0')} created`);
		expect(events(await poll())).toEqual(ids.slice(0, 50));
		expect(events(await poll())).toEqual(ids.slice(50));
		expect(await poll()).toBeNull();
	});

	test('a larger or smaller look-back reports no old lifelogs', async () => {
		await add('older', ago(9 * DAY), ago(9 * DAY));
		await add('newer', ago(2 * DAY), ago(2 * DAY));
		const days = (lookbackDays: number) => ({ options: { lookbackDays } });
		expect(await poll(days(3))).toBeNull();
		for (const lookbackDays of [31, 31, 3, 31, 2, 31]) {
			await pass(MINUTE);
			expect(await poll(days(lookbackDays))).toBeNull();
		}
		await sandbox.control.updateLifelog('older', { title: 'Changed' });
		const seen: unknown[] = [];
		for (let polls = 0; polls < 29; polls++) seen.push(...(events(await poll(days(31))) ?? []));
		expect(seen).toEqual(['older updated']);
	});

	test('an activation after an absence reports what was missed', async () => {
		await add('known', ago(DAY));
		await poll({}, { activation: 'activate' });
		await pass(5 * DAY);
		await add('a', ago(4 * DAY));
		await add('b', ago(MINUTE));
		expect(events(await poll({}, { activation: 'activate' }))).toEqual(['a created', 'b created']);
	});

	test('another credential is a new baseline', async () => {
		await poll();
		await add('a', ago(MINUTE));
		expect(await poll({}, {}, '2')).toBeNull();
		expect(await poll({}, {}, '2')).toBeNull();
		expect(savedState().credential).toBe('2');
	});

	test('if several polls run at once, each event is emitted by one of them', async () => {
		await poll();
		await add('a', ago(MINUTE));
		await add('b', ago(2 * MINUTE));
		const outputs = await Promise.all([poll(), poll(), poll()]);
		expect(outputs.flatMap((output) => events(output) ?? [])).toEqual(['b created', 'a created']);
		expect(await poll()).toBeNull();
	});

	test('a restart continues with the saved state', async () => {
		await poll();
		await add('a', ago(MINUTE));
		staticData = JSON.parse(JSON.stringify(staticData)) as IDataObject;
		expect(events(await poll())).toEqual(['a created']);
		staticData = JSON.parse(JSON.stringify(staticData)) as IDataObject;
		expect(await poll()).toBeNull();
	});
});

describe('scheduled chats', () => {
	const event = 'scheduledChatCreated';
	const chats = { event };
	const question = (at: string) => ({
		id: 'q',
		text: 'How was the day?',
		createdAt: at,
		user: { role: 'user' as const },
	});
	const answer = (at: string) => ({
		id: 'a',
		text: 'A good one.',
		createdAt: at,
		user: { role: 'assistant' as const },
	});
	const ask = async (id: string, at: string, isAnswered = true, globalPromptId = 'daily') =>
		await sandbox.control.addChat({
			id,
			createdAt: at,
			globalPromptId,
			messages: isAnswered ? [question(at), answer(at)] : [question(at)],
		});
	const reply = async (id: string) => {
		const at = ago(0);
		await sandbox.control.updateChat(id, { messages: [question(at), answer(at)] });
	};
	const ids = (output: INodeExecutionData[][] | null) => output?.[0].map(({ json }) => json.id);

	test('that were answered since the baseline are emitted once, simplified or raw', async () => {
		await ask('known', ago(DAY));
		await sandbox.control.addChat({ id: 'own', createdAt: ago(0), globalPromptId: null });
		expect(await poll(chats)).toBeNull();
		await pass(MINUTE);
		await ask('new', ago(0));
		const output = await poll(chats);
		expect(output?.[0].map(({ json }) => json)).toMatchObject([
			{ id: 'new', prompt: 'How was the day?', response: 'A good one.', eventKey: 'new' },
		]);
		expect(output?.[0][0].json).not.toHaveProperty('messages');
		expect(await poll(chats)).toBeNull();
		await ask('raw', ago(0));
		expect((await poll({ ...chats, output: 'raw' }))?.[0][0].json.messages).toHaveLength(2);
	});

	test('without an answer are postponed until they are answered, deleted, or 31 days old', async () => {
		const options = { lookbackDays: 2 };
		await ask('before', ago(DAY), false);
		await poll({ ...chats, options });
		await ask('gone', ago(0), false);
		await ask('silent', ago(0), false);
		expect(await poll({ ...chats, options })).toBeNull();
		await pass(10 * DAY);
		await reply('before');
		await sandbox.control.deleteChat('gone');
		expect(ids(await poll({ ...chats, options }))).toEqual(['before']);
		expect(Object.keys(savedIds()).sort()).toEqual(['before', 'silent']);
		await pass(22 * DAY);
		expect(await poll({ ...chats, options })).toBeNull();
		await sandbox.control.clearRequests();
		await reply('silent');
		expect(await poll({ ...chats, options })).toBeNull();
		expect((await sandbox.control.requests()).map(({ path }) => path)).toEqual(['/v1/chats']);
	});

	test("that wait for an answer aren't given up if the clock is ahead for one poll", async () => {
		const waiting = { ...chats, options: { lookbackDays: 2 } };
		await ask('waits', ago(0), false);
		for (let days = 0; days < 20; days++) {
			await poll(waiting);
			await pass(DAY);
		}
		await pass(20 * DAY);
		await poll(waiting);
		await pass(-20 * DAY);
		await reply('waits');
		expect(ids(await poll(waiting))).toEqual(['waits']);
	});

	const savedIds = () =>
		Object.assign(
			{},
			...Object.values(savedState().days as Record<string, { entries: object }>).map(
				({ entries }) => entries,
			),
		) as object;

	test('days that have left the look-back are not listed again and again', async () => {
		const options = { lookbackDays: 2 };
		for (let day = 0; day < 24; day++) {
			await ask(`${day}`, ago(0));
			await poll({ ...chats, options });
			await pass(DAY);
		}
		expect(Object.keys(savedState().days as object).length).toBeLessThanOrEqual(14);
	});

	test('a larger look-back records the days that it adds', async () => {
		await ask('old', ago(9 * DAY));
		await ask('open', ago(9 * DAY), false);
		expect(await poll({ ...chats, options: { lookbackDays: 2 } })).toBeNull();
		expect(await poll({ ...chats, options: { lookbackDays: 31 } })).toBeNull();
		await pass(MINUTE);
		await reply('open');
		expect(ids(await poll({ ...chats, options: { lookbackDays: 31 } }))).toEqual(['open']);
	});

	test('another kind of event or another prompt is a new baseline', async () => {
		await poll();
		await ask('a', ago(0));
		await ask('b', ago(0), true, 'weekly');
		expect(await poll(chats)).toBeNull();
		expect(await poll({ ...chats, filters: { globalPromptId: 'weekly' } })).toBeNull();
		await pass(MINUTE);
		await ask('c', ago(0));
		await ask('d', ago(0), true, 'weekly');
		expect(ids(await poll({ ...chats, filters: { globalPromptId: 'weekly' } }))).toEqual(['d']);
		expect(await poll()).toBeNull();
	});

	test('if two polls run at once, each chat is emitted by one, and only needed pages are read', async () => {
		await poll(chats);
		await pass(MINUTE);
		for (let index = 0; index < 120; index++) await ask(`c${index}`, ago(index * 1000));
		// The third page has only these, and a fourth isn't needed.
		for (let index = 0; index < 220; index++) await ask(`old${index}`, ago(40 * DAY));
		const outputs = await Promise.all([poll(chats), poll(chats)]);
		expect(outputs.map((output) => output?.[0].length ?? 0).sort()).toEqual([0, 120]);
		await sandbox.control.clearRequests();
		expect(await poll(chats)).toBeNull();
		expect(await sandbox.control.requests()).toHaveLength(3);
	});

	test("a postponed chat that can't be read doesn't delay others", async () => {
		const options = { lookbackDays: 2 };
		await ask('held', ago(DAY), false);
		await poll({ ...chats, options });
		await pass(3 * DAY);
		await ask('new', ago(0));
		const list = { data: { chats: [] }, meta: { chats: { count: 0 } } };
		await sandbox.control.faults([
			{ path: '/v1/chats/held', status: 500, times: 2 },
			{ path: '/v1/chats?', body: list, skip: 1, times: 2 },
		]);
		expect(ids(await poll({ ...chats, options }))).toEqual(['new']);
		await pass(60 * MINUTE);
		expect(await failureOf(poll({ ...chats, options }))).toMatchObject({ httpCode: '500' });
		await reply('held');
		await sandbox.control.faults([{ path: '/v1/chats/held', status: 500 }]);
		expect(ids(await poll({ ...chats, options }))).toEqual(['held']);
	});
});

describe('a manual test', () => {
	const manual = { mode: 'manual' } as const;

	test("returns the newest items with the same filters, and doesn't change the state", async () => {
		for (const hours of [1, 2, 3, 4, 5]) await add(`h${hours}`, ago(hours * 60 * MINUTE));
		expect(events(await poll({}, manual))).toEqual(['h3 created', 'h2 created', 'h1 created']);
		await sandbox.control.updateLifelog('h5', { isStarred: true });
		const starred = { event: 'lifelogUpdated', filters: { isStarred: true } };
		expect(events(await poll(starred, manual))).toEqual(['h5 updated']);
		await sandbox.control.addChat({ id: 'c', globalPromptId: 'daily' });
		const output = await poll({ event: 'scheduledChatCreated' }, manual);
		expect(output?.[0].map(({ json }) => json.eventKey)).toEqual(['c']);
		expect(staticData).toEqual({ 'node:Lifelog Trigger': {} });
	});

	test("a lifelog without the star's field counts as not starred", async () => {
		await add('plain', ago(0));
		const [plain] = await sandbox.control.lifelogs();
		const { isStarred, ...others } = plain;
		const body = { data: { lifelogs: [others] }, meta: { lifelogs: { count: 1 } } };
		await sandbox.control.faults([{ path: '/v1/lifelogs', body, times: 1 }]);
		expect(isStarred).toBe(false);
		expect(events(await poll({ filters: { isStarred: false } }, manual))).toEqual([
			'plain created',
		]);
	});

	test('fails when there is nothing to show', async () => {
		await expect(poll({}, manual)).rejects.toThrow('There is no lifelog to show');
		await expect(poll({ event: 'scheduledChatCreated' }, manual)).rejects.toThrow(
			'There is no answered scheduled chat to show',
		);
	});
});

describe('when something fails', () => {
	test('an interrupted first poll reports nothing, but later changes are reported', async () => {
		await add('known', ago(DAY), ago(DAY));
		await sandbox.control.faults([{ status: 503, skip: 2 }]);
		expect(await poll()).toBeNull();
		await pass(MINUTE);
		await add('new', ago(0));
		await sandbox.control.updateLifelog('known', { title: 'Changed' });
		expect(events(await poll())).toEqual(['known updated', 'new created']);
	});

	test('the stored state contains no key, no title and no words', async () => {
		const words = { title: 'Saffron harvest', markdown: '# Saffron\n\n> Marlene: saffron' };
		const start = [{ ...words, id: 'known', startTime: ago(DAY), updatedAt: ago(DAY) }];
		for (const lifelog of start) await sandbox.control.addLifelog(lifelog);
		await sandbox.control.addChat({ id: 'c', summary: 'Saffron', globalPromptId: 'daily' });
		const event = 'scheduledChatCreated';
		const ofChats = { staticData: {} };
		await poll();
		await poll({ event }, ofChats);
		await pass(MINUTE);
		await sandbox.control.addLifelog({ ...words, id: 'new', startTime: ago(0) });
		await sandbox.control.updateLifelog('known', { isStarred: true });
		expect(events(await poll())).toHaveLength(2);
		await poll({ event }, ofChats);
		await sandbox.control.faults([{ status: 400 }, { status: 503, skip: 1 }]);
		for (const failing of [poll(), poll({ event }, ofChats)]) await failing.catch(() => {});
		const stored = JSON.stringify([staticData, ofChats]);
		expect(stored).toContain('known');
		expect(stored).toContain('"c"');
		expect(stored).not.toMatch(/saffron|marlene/i);
		expect(stored).not.toContain(sandbox.apiKey);
	});

	test('a first poll with a refused key fails and saves nothing', async () => {
		await sandbox.control.faults([{ status: 401 }]);
		const error = await failureOf(poll({}, { activation: 'activate' }));
		expect(error).toMatchObject({ httpCode: '401', message: 'The API key was refused' });
		expect(staticData).toEqual({ 'node:Lifelog Trigger': {} });
	});

	const durable = { budgetMs: 36_000 };

	test.each([
		[
			'the rate limit',
			{ status: 429, body: { error: 'slow', retryAfter: '1' } },
			'rate-limited',
			1,
		],
		// Each list is requested again with 10 entries.
		['a failing service', { status: 500 }, 'temporarily-unavailable', 6],
		['a broken connection', { reset: 'before' as const }, 'temporarily-unavailable', 3],
		['a refused key', { status: 401 }, 'credential-invalid', 1],
	])(
		"%s for every request doesn't change the state, and makes no wait or retry",
		async (_, fault, cause, requests) => {
			await poll();
			await pass(MINUTE);
			await add('a', ago(0));
			const before = JSON.stringify(staticData);
			await sandbox.control.clearRequests();
			await sandbox.control.faults([{ ...fault, times: 100 }]);
			expect(await failureOf(poll({}, durable))).toMatchObject({ failure: { cause } });
			expect(await sandbox.control.requests()).toHaveLength(requests);
			expect(JSON.stringify(staticData)).toBe(before);
			await sandbox.control.faults([]);
			if (cause === 'rate-limited') await closedGate();
			expect(events(await poll())).toEqual(['a created']);
		},
	);

	/** While the gate is shut a poll of the durable engine sends nothing and says how long to wait. */
	async function closedGate() {
		await sandbox.control.clearRequests();
		expect(await failureOf(poll({}, durable))).toMatchObject({
			failure: { cause: 'rate-limited', retryAfterMs: expect.any(Number) },
		});
		expect(await sandbox.control.requests()).toEqual([]);
	}

	test('lifelogs that were read before the rate limit are reported, and the rest later', async () => {
		await poll();
		for (const minutes of [9, 8, 7, 6, 5, 4, 3, 2, 1])
			await add(`m${minutes}`, ago(minutes * MINUTE));
		const limit = { status: 429, body: { error: 'slow', retryAfter: '1' } };
		await sandbox.control.faults([{ ...limit, path: '/v1/lifelogs/', skip: 5, times: 4 }]);
		const first = events(await poll({}, durable)) ?? [];
		expect(first).toHaveLength(5);
		await sandbox.control.faults([]);
		const all = [...first, ...(events(await poll()) ?? [])];
		expect(new Set(all).size).toBe(9);
		expect(await poll()).toBeNull();
	});

	test('with n8n in memory, a poll waits for the rate limit, except at activation', async () => {
		const limit = { status: 429, body: { error: 'slow', retryAfter: '1' } };
		await poll({}, { activation: 'activate' });
		await add('a', ago(0));
		await sandbox.control.faults([limit]);
		expect(events(await poll())).toEqual(['a created']);
		await add('b', ago(0));
		staticData = JSON.parse(JSON.stringify(staticData)) as IDataObject;
		await sandbox.control.faults([limit]);
		expect(await poll({}, { activation: 'activate' })).toBeNull();
		expect(events(await poll())).toEqual(['b created']);
	});

	test('a poll that could read nothing in full fails, and everything is reported later', async () => {
		await add('known', ago(MINUTE));
		await poll();
		await add('a', ago(0));
		await sandbox.control.faults([{ path: '/v1/lifelogs/', status: 500, times: 2 }]);
		expect(await failureOf(poll())).toMatchObject({ httpCode: '500' });
		expect(await failureOf(poll())).toMatchObject({ httpCode: '500' });
		const seen: unknown[] = [];
		for (let polls = 0; polls < 2; polls++) seen.push(...(events(await poll()) ?? []));
		expect(seen).toEqual(['a created']);
	});

	test("a lifelog that can't be read for a day is reported incomplete, and complete when it can be read", async () => {
		await add('known', ago(MINUTE));
		await poll();
		await add('broken', ago(2 * MINUTE));
		await sandbox.control.faults([{ path: '/v1/lifelogs/broken', status: 503, times: 1000 }]);
		expect(await failureOf(poll())).toMatchObject({ httpCode: '503' });
		await add('fine', ago(0));
		expect(events(await poll())).toEqual(['fine created']);
		// Twelve minutes of an outage, a poll a minute.
		for (let minutes = 0; minutes < 12; minutes++) {
			await pass(MINUTE);
			expect(await poll().catch(() => null)).toBeNull();
		}
		const emitted: INodeExecutionData[] = [];
		for (let hours = 0; hours < 36; hours++) {
			await pass(60 * MINUTE);
			emitted.push(...((await poll().catch(() => null))?.[0] ?? []));
		}
		const version = (emitted[0].json.eventKey as string).replace(/:incomplete$/, '');
		expect(emitted.map(({ json }) => json)).toMatchObject([
			{ id: 'broken', title: 'About broken', changeType: 'created', incomplete: true },
		]);
		expect(emitted[0].json.eventKey).toBe(`${version}:incomplete`);
		await sandbox.control.faults([]);
		const later: INodeExecutionData[] = [];
		for (let hours = 0; hours < 12; hours++) {
			await pass(60 * MINUTE);
			later.push(...((await poll())?.[0] ?? []));
		}
		expect(later.map(({ json }) => json)).toMatchObject([
			{ id: 'broken', changeType: 'updated', eventKey: version, markdown: expect.any(String) },
		]);
		expect(later[0].json).not.toHaveProperty('incomplete');
	});

	test('a lifelog that is deleted before it is read is skipped', async () => {
		await poll();
		await add('a', ago(MINUTE));
		await add('b', ago(0));
		await sandbox.control.faults([
			{ path: '/v1/lifelogs/a', body: { data: { lifelog: null } }, times: 1 },
		]);
		expect(events(await poll())).toEqual(['b created']);
	});

	test('parameters out of bounds are refused before any request', async () => {
		await expect(poll({ options: { lookbackDays: 32 } })).rejects.toThrow("'Look-Back' must be");
		await expect(poll({ options: { settleMinutes: -1 } })).rejects.toThrow("'Settle' must be");
		await expect(poll({ options: { timezone: 'Mars/Base' } })).rejects.toThrow('no time zone');
		const daily = { event: 'scheduledChatCreated', filters: { globalPromptId: 'Daily recap' } };
		await expect(poll(daily)).rejects.toThrow('"Daily recap" is not the ID of a scheduled prompt');
		expect(await sandbox.control.requests()).toEqual([]);
	});

	test.each([
		['unknown version', { version: 1 }],
		['damaged', { version: 3, days: { monday: {} } }],
		['no state at all', 'nonsense'],
	])('a saved state that is unusable (%s) is replaced and reported', async (_, state) => {
		await add('a', ago(0));
		staticData = { 'node:Lifelog Trigger': { state } };
		expect(await poll({}, { activation: 'activate' })).toBeNull();
		expect(savedState().version).toBe(3);
		const after = JSON.stringify(staticData);
		await add('b', ago(0));
		await expect(poll()).rejects.toThrow('could not be read and was replaced');
		expect(JSON.stringify(staticData)).toBe(after);
		expect(events(await poll())).toEqual(['b created']);
	});

	test('the state of a poll with a clock at the start of 1970 is usable', async () => {
		await pass(-Date.parse(NOW));
		expect(await poll({}, { activation: 'activate' })).toBeNull();
		expect(await poll()).toBeNull();
		expect(savedState()).toMatchObject({ since: 0, polls: 2 });
	});

	test('in the durable engine, an unusable state is only logged', async () => {
		staticData = { 'node:Lifelog Trigger': { state: { version: 1 } } };
		const durablePoll = async () => {
			staticData = JSON.parse(JSON.stringify(staticData)) as IDataObject;
			return await poll({}, { budgetMs: 36_000 });
		};
		expect(await durablePoll()).toBeNull();
		expect(savedState().version).toBe(3);
		await add('a', ago(0));
		expect(events(await durablePoll())).toEqual(['a created']);
	});

	test('a refused page size is remembered', async () => {
		await reset({ empty: true }, { limit: { max: 10, above: 'reject' } });
		await poll();
		await sandbox.control.clearRequests();
		await poll();
		const requests = await sandbox.control.requests();
		expect(requests.map(({ status }) => status)).toEqual([200, 200, 200]);
		expect(requests.map(({ query }) => query.limit)).toEqual(['10', '10', '10']);
	});

	test('a first poll stays within the rate limit, and the next ones read the rest', async () => {
		const limit = { max: 10 as const };
		await reset({ days: 31, perDay: 60 }, { limit, rateLimit: { max: 180, windowMs: 60_000 } });
		const options = { lookbackDays: 31 };
		expect(await poll({ options })).toBeNull();
		await sandbox.control.dialect({ rateLimit: { max: 1_000_000 } });
		expect(await poll({ options })).toBeNull();
		const days = Object.values(savedState().days as Record<string, { read: number }>);
		expect(days.filter(({ read }) => read > 0)).toHaveLength(31);
		await sandbox.control.clearRequests();
		expect(await poll({ options })).toBeNull();
		expect(await sandbox.control.requests()).toHaveLength(18);
	});

	test('a poll ends within its time, and the next polls continue', async () => {
		await reset({ empty: true }, { latencyMs: 300 });
		for (let days = 0; days < 31; days++) await add(`d${days}`, ago(days * DAY), ago(days * DAY));
		const options = { lookbackDays: 31 };
		const daysRead = () => {
			const days = Object.values(savedState().days as Record<string, { read: number }>);
			return days.filter(({ read }) => read > 0).length;
		};
		await sandbox.control.clearRequests();
		expect(await poll({ options }, { budgetMs: 6000 })).toBeNull();
		// One after the other, no more of 300 ms fit into its time.
		expect((await sandbox.control.requests()).length).toBeLessThanOrEqual(20);
		expect(daysRead()).toBeLessThan(31);
		for (let polls = 0; polls < 20 && daysRead() < 31; polls++) {
			expect(await poll({ options }, { budgetMs: 6000 })).toBeNull();
		}
		expect(daysRead()).toBe(31);
	});
});

describe('the cost of a poll with nothing to report, 50 entries on each of 31 days', () => {
	const options = { lookbackDays: 31 };

	/** Bytes of the answers to a list request and to those for its further pages. */
	async function bytes(query: Record<string, unknown>): Promise<number> {
		const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
		const response = await fetch(`${sandbox.url}/v1/lifelogs?${new URLSearchParams(given)}`, {
			headers: { 'X-API-Key': sandbox.apiKey },
		});
		const text = await response.text();
		const { nextCursor: cursor } = (JSON.parse(text) as LifelogList).meta.lifelogs;
		return text.length + (cursor ? await bytes({ ...query, cursor }) : 0);
	}

	test.each([
		[100, 'clamp', 3],
		[10, 'clamp', 15],
		[10, 'reject', 15],
	] as const)('pages of %i (%s): %i requests, at every poll', async (max, above, expected) => {
		await reset({ days: 31, perDay: 50 }, { limit: { max, above } });
		expect(await poll({ options })).toBeNull();
		const costs: string[] = [];
		for (let polls = 0; polls < 10; polls++) {
			await sandbox.control.clearRequests();
			expect(await poll({ options })).toBeNull();
			const requests = await sandbox.control.requests();
			expect(requests).toHaveLength(expected);
			const dates = [...new Set(requests.map(({ query }) => query.date))];
			expect(dates).toHaveLength(3);
			const firstPages = requests.map(({ query }) => query).filter(({ cursor }) => !cursor);
			const light = await total(firstPages);
			const full = await total(
				dates.map((date) => ({ date, timezone: 'UTC', limit: Math.min(max, 25), ...everything })),
			);
			expect(light).toBeLessThan(full * 0.05);
			costs.push(`${light} of ${full} bytes (${((100 * light) / full).toFixed(1)} %)`);
		}
		const size = JSON.stringify(staticData).length;
		expect(size).toBeLessThan(120_000);
		process.stdout.write(
			`idle poll, pages of ${max} (${above}): ${expected} requests, ${costs[0]}; state ${size} bytes\n`,
		);
	});

	const everything = { includeMarkdown: true, includeHeadings: true, includeContents: true };

	async function total(queries: Array<Record<string, unknown>>): Promise<number> {
		let sum = 0;
		for (const query of queries) sum += await bytes(query);
		return sum;
	}
});
