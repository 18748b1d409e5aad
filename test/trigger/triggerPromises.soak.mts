// What the trigger promises where days, entries, clocks, limits and time fail it. More is in the known
// histories of the model (test/trigger/promises/known.mts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { type LabAt, startLabAt } from '../support/lab.mts';
import { serve, type Served } from '../support/serve.mts';
import { workflowWith } from '../support/workflow.mts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DURABLE_MS = 36_000;

interface Request {
	path: string;
	query: URLSearchParams;
}

let lab: LabAt<Served>;
let engine: typeof lab.engine;
let staticData: IDataObject;
let lifelogs: IDataObject[];
let chats: IDataObject[];
let requests: Request[];
let warnings: string[];
/** What time it is, by the service and by n8n, and how the two are wrong. */
let now: number;
let serviceError: number | undefined;
let ownError: number;
/** How long a request takes. */
let latencyMs: number;
let pageSize: number;
/** The status that a request is answered with instead. */
let fault: (request: Request) => number | undefined;
/** How an entry that is read on its own differs. */
let ofOne: (lifelog: IDataObject) => IDataObject;
let refusesLargePages: boolean;
/** Whether a list goes on for ever, with the same page again and again. */
let isEndless: (request: Request) => boolean;
const realNow = Date.now;
const steady = performance.now.bind(performance);
const iso = (instant: number) => new Date(instant).toISOString();
const dayOf = (instant: number) => iso(instant).slice(0, 10);

beforeEach(async () => {
	[staticData, lifelogs, chats, requests, warnings] = [{}, [], [], [], []];
	now = Date.parse('2026-03-20T12:00:00.000Z');
	[serviceError, ownError, latencyMs, pageSize] = [0, 0, 0, 100];
	[fault, ofOne, refusesLargePages] = [() => undefined, (lifelog) => lifelog, false];
	isEndless = () => false;
	Date.now = () => now + ownError;
	const begin = now;
	performance.now = () => now - begin;
	const onWarning = (message: string) => warnings.push(message);
	lab = await startLabAt(await serve(answer), { onWarning });
	({ engine } = lab);
});

afterEach(async () => {
	Date.now = realNow;
	performance.now = steady;
	await lab.close();
});

function answer({ url }: IncomingMessage, response: ServerResponse): void {
	const { pathname: path, searchParams: query } = new URL(url!, 'http://localhost');
	now += latencyMs;
	requests.push({ path, query });
	response.sendDate = false;
	if (serviceError !== undefined) {
		response.setHeader('date', new Date(now + serviceError).toUTCString());
	}
	response.setHeader('content-type', 'application/json');
	const isTooLarge = refusesLargePages && Number(query.get('limit') ?? 0) > 10;
	response.statusCode = fault({ path, query }) ?? (isTooLarge ? 400 : 200);
	const { statusCode } = response;
	const body = statusCode === 200 ? contentOf(path, query) : { error: 'no', retryAfter: '130' };
	response.end(JSON.stringify(body));
}

function contentOf(path: string, query: URLSearchParams): object {
	const [, , kind, id] = path.split('/');
	const all = kind === 'chats' ? chats : lifelogs;
	if (id !== undefined) {
		const one = all.find((entry) => entry.id === id);
		return { data: { [kind.slice(0, -1)]: one ? ofOne(one) : null } };
	}
	const date = query.get('date') ?? '';
	const listed = all.filter(({ startTime }) => String(startTime ?? date).startsWith(date));
	const from = Number(query.get('cursor') ?? 0);
	const to = from + Math.min(pageSize, Number(query.get('limit')));
	const isLast = to >= listed.length && !isEndless({ path, query });
	const nextCursor = isLast ? null : String(to);
	const page = isEndless({ path, query }) ? listed : listed.slice(from, to);
	return { data: { [kind]: page }, meta: { [kind]: { nextCursor, count: page.length } } };
}

function add(id: string, start = now, more: IDataObject = {}): void {
	const startTime = iso(start);
	const endTime = iso(start + MINUTE);
	const content = { markdown: `# ${id}`, contents: [], isStarred: false };
	lifelogs.push({ id, title: id, startTime, endTime, updatedAt: iso(now), ...content, ...more });
}

const change = (id: string, more: IDataObject = {}) =>
	Object.assign(
		lifelogs.find((one) => one.id === id)!,
		{ updatedAt: iso(now), ...more },
	);

/** One poll. @returns `<id> <changeType>` of what came. */
async function poll(parameters: IDataObject = {}, budgetMs?: number): Promise<string[]> {
	const event = 'lifelogCreatedOrUpdated';
	const [, node] = workflowWith('lifelogTrigger', { event, ...parameters }).nodes;
	// The durable engine hands on a copy, and keeps nothing of a poll that throws.
	const data = budgetMs ? (JSON.parse(JSON.stringify(staticData)) as IDataObject) : staticData;
	const run = { staticData: data, timezone: 'Europe/Berlin', budgetMs };
	const { items } = await engine.runPoll({ nodes: [node], connections: {} }, run);
	staticData = data;
	return (items ?? []).map(({ json }) => {
		keys.push(String(json.eventKey));
		return `${json.id} ${json.changeType ?? ''}`.trim();
	});
}

const keys: string[] = [];
const orFailed = (polling: Promise<string[]>) =>
	polling.catch((error: unknown) => [`failed ${(error as NodeApiError).httpCode}`]);
/** Polls so often, so far apart. @returns All that came, sorted, failures left out. */
async function polls(times: number, everyMs: number, parameters?: IDataObject, budgetMs?: number) {
	const came: string[] = [];
	for (let nth = 0; nth < times; nth++) {
		now += everyMs;
		came.push(...(await orFailed(poll(parameters, budgetMs))));
	}
	return came.filter((one) => !one.startsWith('failed')).sort();
}
const restart = () => {
	staticData = JSON.parse(JSON.stringify(staticData)) as IDataObject;
};
const state = () => (Object.values(staticData)[0] as IDataObject).state as IDataObject;

describe("a day whose list can't be read", () => {
	const isDay =
		(ago: number) =>
		({ query }: Request) =>
			query.get('date') === dayOf(Date.parse('2026-03-20') - ago * DAY);

	test('that is today is retried less and less often, and reported when it can be read', async () => {
		await poll();
		fault = (request) => (isDay(0)(request) ? 500 : undefined);
		add('a');
		requests = [];
		const results: string[] = [];
		for (let nth = 0; nth < 64; nth++) {
			now += MINUTE;
			results.push(...(await orFailed(poll())));
		}
		expect(new Set(results)).toEqual(new Set(['failed 500']));
		// A try is a request for 100 entries, and one for 10.
		expect(requests.filter(isDay(0))).toHaveLength(2 * results.length);
		expect(results.length).toBeLessThan(10);
		fault = () => undefined;
		expect(await polls(40, MINUTE)).toEqual(['a created']);
	});

	test('in the durable engine keeps what other days returned, and no poll throws', async () => {
		await poll({}, DURABLE_MS);
		fault = (request) => (isDay(1)(request) ? 500 : undefined);
		now += MINUTE;
		expect(await poll({}, DURABLE_MS)).toEqual([]);
		add('a');
		expect(await poll({}, DURABLE_MS)).toEqual(['a created']);
		expect(await poll({}, DURABLE_MS)).toEqual([]);
	});

	test("because of an entry without an ID doesn't delay the other entries", async () => {
		await poll();
		add('a');
		lifelogs.push({ ...lifelogs[0], id: undefined });
		expect(await poll()).toEqual(['a created']);
		expect(await orFailed(poll())).toEqual(['failed 200']);
		add('b');
		expect(await poll()).toEqual(['b created']);
		lifelogs[1].id = 'c';
		expect(await polls(3, MINUTE)).toEqual(['c created']);
	});
});

test('after more than 31 days the last 31 are reported, and the log names the others', async () => {
	await poll();
	now += 10 * DAY;
	add('older');
	now += 20 * DAY;
	add('newer');
	now += 20 * DAY;
	expect(await polls(3, MINUTE)).toEqual(['newer created']);
	expect(warnings).toEqual([
		'Lifelog Trigger: the last poll was more than 31 days ago; the days from 2026-03-21 to 2026-04-08 are skipped',
	]);
});

describe('a clock that is wrong for one poll', () => {
	const jumps: Array<[string, number, () => void, () => void]> = [];
	for (const [name, jump] of [
		['a day', DAY],
		['8 days', 8 * DAY],
		['a year', 365 * DAY],
	] as const) {
		jumps.push([
			`the service's, ${name} ahead`,
			jump,
			() => (serviceError = jump),
			() => (serviceError = 0),
		]);
		jumps.push([
			`the service's, ${name} back`,
			-jump,
			() => (serviceError = -jump),
			() => (serviceError = 0),
		]);
		jumps.push([`n8n's, ${name} ahead`, jump, () => (ownError = jump), () => (ownError = 0)]);
		jumps.push([
			`n8n's without the service's, ${name} ahead`,
			jump,
			() => ([ownError, serviceError] = [jump, undefined]),
			() => (ownError = 0),
		]);
		jumps.push([
			`both, ${name} ahead`,
			jump,
			() => ([ownError, serviceError] = [jump, jump]),
			() => ([ownError, serviceError] = [0, 0]),
		]);
	}

	test.each(jumps)('%s: nothing is lost or repeated', async (_, _ms, jump, back) => {
		for (let ago = 0; ago < 9; ago++) add(`known${ago}`, now - ago * DAY - HOUR);
		now += HOUR;
		await poll();
		await polls(8, MINUTE);
		now += MINUTE;
		jump();
		await orFailed(poll());
		restart();
		back();
		now += MINUTE;
		for (let ago = 0; ago < 7; ago++) add(`new${ago}`, now - ago * DAY - HOUR);
		change('known6', { title: 'Changed' });
		const created = Array.from({ length: 7 }, (_one, ago) => `new${ago} created`);
		expect(await polls(12, MINUTE)).toEqual(['known6 updated', ...created]);
		now += 12 * HOUR;
		add('tomorrow');
		expect(await polls(2, MINUTE)).toEqual(['tomorrow created']);
		expect(await polls(8, DAY)).toEqual([]);
		// The look-back, and ten days beyond.
		expect(Object.keys(state().days as object).length).toBeLessThanOrEqual(18);
	});
});

describe('too little time or room', () => {
	test("a day whose pages never end doesn't delay others, however slow they are", async () => {
		const few = { options: { lookbackDays: 4 } };
		await poll(few, DURABLE_MS);
		[latencyMs, pageSize] = [2800, 10];
		const endless = dayOf(now - DAY);
		isEndless = ({ query }) => query.get('date') === endless;
		now += HOUR;
		for (let ago = 0; ago < 4; ago++) add(`e${ago}`, now - ago * DAY);
		const came = await polls(16, 15 * MINUTE, few, DURABLE_MS);
		expect(came).toEqual([0, 1, 2, 3].map((ago) => `e${ago} created`));
	});

	test('while others use the key, a larger look-back is read step by step', async () => {
		pageSize = 10;
		for (let nth = 0; nth < 31 * 20; nth++) add(`known${nth}`, now - nth * 70 * MINUTE);
		now += 1000;
		await poll({ options: { lookbackDays: 2 } });
		const options = { lookbackDays: 31 };
		let left = 0;
		fault = () => (left-- > 0 ? undefined : 429);
		const daysRead = () =>
			Object.values(state().days as Record<string, IDataObject>).filter(
				({ read }) => Number(read) > 0,
			).length;
		for (let nth = 0, before = daysRead(); nth < 12; nth++) {
			now += 3 * MINUTE;
			left = 12;
			await orFailed(poll({ options }));
			if (before < 31) expect(daysRead()).toBeGreaterThan(before);
			before = daysRead();
		}
		expect(daysRead()).toBe(31);
	});

	test('a page size that was refused is requested again after a day', async () => {
		refusesLargePages = true;
		await poll();
		refusesLargePages = false;
		const limits = async () => {
			requests = [];
			await poll();
			return new Set(requests.map(({ query }) => query.get('limit')));
		};
		now += HOUR;
		expect(await limits()).toEqual(new Set(['10']));
		now += DAY;
		expect(await limits()).toEqual(new Set(['100']));
		expect(await limits()).toEqual(new Set(['100']));
	});

	test('a slow service that fails at large pages: a long day is read in several polls', async () => {
		await poll();
		for (let nth = 0; nth < 250; nth++) add(`m${nth}`, now - nth * MINUTE);
		fault = ({ query }) => (Number(query.get('limit') ?? 0) > 10 ? 504 : undefined);
		latencyMs = 15_000;
		const read = () => (state().days as Record<string, { read: number }>)[dayOf(now)].read;
		expect(read()).toBe(1);
		await polls(6, MINUTE);
		expect(read()).toBeGreaterThan(1);
	});

	test('10,000 uploads at once are reported once, 50 a poll, in few requests', async () => {
		await poll();
		now += MINUTE;
		for (let nth = 0; nth < 10_000; nth++) add(`m${nth}`, now - (nth % 7) * DAY - nth);
		const came = new Set<string>();
		let stateSize = 0;
		for (let nth = 0; nth < 200; nth++) {
			now += 5 * MINUTE;
			requests = [];
			const output = await poll();
			expect(output).toHaveLength(50);
			for (const one of output) came.add(one);
			expect(requests.length).toBeLessThanOrEqual(250);
			stateSize = Math.max(stateSize, JSON.stringify(state()).length);
		}
		expect(came.size).toBe(10_000);
		expect(stateSize).toBeLessThan(1_000_000);
		expect(await polls(3, MINUTE)).toEqual([]);
	});

	test("120 lifelogs that keep changing don't delay new ones or each other", async () => {
		for (let nth = 0; nth < 120; nth++) add(`m${nth}`, now - nth * MINUTE);
		now += 1000;
		await poll();
		const came = new Set<string>();
		for (let nth = 0; nth < 6; nth++) {
			now += MINUTE;
			for (const { id } of [...lifelogs]) change(String(id));
			add(`new${nth}`);
			const output = await poll();
			expect(output).toContain(`new${nth} created`);
			for (const one of output) came.add(one);
		}
		expect([...came].filter((one) => one.startsWith('m'))).toHaveLength(120);
	});
});

describe('missing times and fields', () => {
	test.each(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'])(
		'without an offset in the repeated hour of autumn (%s), the key and the last version are right',
		async (time) => {
			now = Date.parse(time) - MINUTE;
			await poll();
			now += MINUTE;
			const local = (text: unknown) =>
				iso(
					Date.parse(String(text)) + (now < Date.parse('2026-10-25T01:00Z') ? 2 : 1) * HOUR,
				).slice(0, -1);
			ofOne = (one) => ({
				...one,
				updatedAt: local(one.updatedAt),
				startTime: local(one.startTime),
			});
			add('a');
			keys.length = 0;
			expect(await poll()).toEqual(['a created']);
			expect(keys).toEqual([`a:${iso(now)}`]);
			now += 10 * MINUTE;
			change('a', { title: 'Last' });
			expect(await poll()).toEqual(['a updated']);
			expect(keys.at(-1)).toBe(`a:${iso(now)}`);
			expect(await poll()).toEqual([]);
		},
	);

	test('a lifelog that is read without its updatedAt has the key from the list', async () => {
		await poll();
		now += MINUTE;
		ofOne = (one) => ({ ...one, updatedAt: undefined, isStarred: undefined });
		add('a', now, { isStarred: true });
		keys.length = 0;
		expect(await poll()).toEqual(['a created']);
		expect(keys).toEqual([`a:${iso(now)}`]);
		expect(await poll()).toEqual([]);
	});
});

describe("n8n's in-memory engine", () => {
	test("an update made while n8n was down is reported, also of a lifelog that wasn't saved", async () => {
		const event = { event: 'lifelogUpdated' };
		await poll(event);
		const saved = JSON.stringify(staticData);
		now += MINUTE;
		add('a');
		expect(await poll(event)).toEqual([]);
		staticData = JSON.parse(saved) as IDataObject;
		now += 2 * HOUR;
		change('a', { title: 'Changed' });
		add('b');
		expect(await poll(event)).toEqual(['a updated']);
		expect(await poll(event)).toEqual([]);
	});

	test.each<[string, number, string[]]>([
		['a change soon after the end is then taken for the upload', 20 * MINUTE, []],
		['and an upload long after it for a change', 3 * HOUR, ['a updated']],
	])('%s', async (_, afterStart, came) => {
		const event = { event: 'lifelogUpdated' };
		await poll(event);
		restart();
		const start = now;
		now += afterStart;
		add('a', start);
		expect(await poll(event)).toEqual(came);
	});

	test('publishing again with a refused key fails', async () => {
		await poll();
		restart();
		fault = () => 401;
		expect(await orFailed(poll())).toEqual(['failed 401']);
	});
});

describe('scheduled chats', () => {
	const event = { event: 'scheduledChatCreated' };
	const user = { id: 'u', text: 'And?', user: { role: 'user' } };
	const says = (text: string | null, more: IDataObject = {}) => ({
		id: 'a',
		text,
		createdAt: iso(now),
		user: { role: 'assistant' },
		...more,
	});
	const ask = (id: string, ...messages: IDataObject[]) =>
		chats.unshift({ id, createdAt: iso(now), startedAt: iso(now), messages: [user, ...messages] });
	const calls = { toolCalls: [{ id: 't', toolName: 'search' }] };
	const results = { id: 'r', toolResults: [{ toolCallId: 't' }], user: { role: 'tool' } };

	test("a text with a tool call isn't an answer, but the text after it is", async () => {
		await poll(event);
		ask('c', says('Let me look through your day.', calls));
		expect(await polls(30, MINUTE, event)).toEqual([]);
		(chats[0].messages as IDataObject[]).push(results);
		expect(await polls(3, MINUTE, event)).toEqual([]);
		(chats[0].messages as IDataObject[]).push(says('It was a good day.'));
		expect(await polls(2, MINUTE, event)).toEqual(['c']);
	});

	test('a text with a tool call is an answer after the results and 15 minutes without more', async () => {
		await poll(event);
		ask('c', says('I have noted it.', calls), results);
		expect(await polls(15, MINUTE, event)).toEqual([]);
		expect(await polls(2, MINUTE, event)).toEqual(['c']);
	});

	test('160 unanswered chats make at most 40 requests a poll, and none is forgotten', async () => {
		await poll(event);
		for (let nth = 0; nth < 160; nth++) ask(`c${nth}`);
		const options = { lookbackDays: 2 };
		await poll({ ...event, options });
		now += 3 * DAY;
		for (let nth = 0; nth < 160; nth++) ask(`new${nth}`, says('Yes.'));
		expect(await poll({ ...event, options })).toHaveLength(160);
		fault = ({ path }) => (/\/c1[0-4]\d$/.test(path) ? 500 : undefined);
		for (let nth = 0; nth < 10; nth++) {
			now += MINUTE;
			requests = [];
			await orFailed(poll({ ...event, options }));
			expect(requests.length).toBeLessThanOrEqual(40);
		}
		for (const chat of chats) (chat.messages as IDataObject[]).push(says('Yes.'));
		const came = await polls(30, MINUTE, { ...event, options });
		expect(came.length).toBeGreaterThanOrEqual(110);
		fault = () => undefined;
		came.push(...(await polls(30, MINUTE, { ...event, options })));
		expect(new Set(came).size).toBe(160);
		expect(came).toHaveLength(160);
	});

	test('an idle poll is one request for up to 100 chats in the look-back', async () => {
		for (let nth = 0; nth < 90; nth++) {
			now += 8 * HOUR;
			ask(`c${nth}`, says('Yes.'));
		}
		const options = { lookbackDays: 31 };
		await polls(2, MINUTE, { ...event, options });
		requests = [];
		expect(await poll({ ...event, options })).toEqual([]);
		expect(requests).toHaveLength(1);
	});
});
