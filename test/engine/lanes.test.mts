import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import { createEngine, type Engine, loadPackage } from '../support/engine.mts';
import { type LoggedRequest, type SpawnedSandbox, startSandbox } from '../support/sandbox.mts';
import { workflowWith } from '../support/workflow.mts';

// All of a range is read in lanes, as much as a limit asks for page after page: what the second
// gives is what the first has to give.

const LANES = 6;
const EVERYTHING = 1_000_000;

let sandbox: SpawnedSandbox;
let engine: Engine;

beforeAll(async () => {
	sandbox = await startSandbox(['--days', '1']);
	engine = await createEngine({
		...loadPackage(),
		credentials: { lifelogApi: { apiKey: sandbox.apiKey, baseUrl: sandbox.url } },
	});
});

afterAll(async () => {
	await engine.close();
	await sandbox.close();
});

const getAll = (parameters: IDataObject) =>
	workflowWith('lifelog', { operation: 'getAll', ...parameters });

async function read(parameters: IDataObject) {
	await sandbox.control.clearRequests();
	const result = await engine.runWorkflow(getAll(parameters));
	const requests = await sandbox.control.requests();
	return { ids: result.items('Node').map(({ json }) => json.id), error: result.error, requests };
}

/** What lanes give and what page after page gives, of the same range. */
async function readBothWays(filters: IDataObject, options: IDataObject = {}) {
	const lanes = await read({ returnAll: true, filters, options });
	const sequential = await read({ limit: EVERYTHING, filters, options });
	return { lanes, sequential };
}

/** The ranges asked for: that of the first page, and that of each lane. */
const ranges = (requests: LoggedRequest[]) =>
	new Set(requests.map(({ query }) => `${query.start} ${query.end}`));

const month = { start: '2026-02-01T00:00:00', end: '2026-03-03T00:00:00' };

describe('a range of 30 days', () => {
	const dialects = [
		['100 a page', {}],
		['clamped to 10', { limit: { max: 10, above: 'clamp' } }],
		['400 above 10', { limit: { max: 10, above: 'reject' } }],
		['short pages', { pages: 'short' }],
		['an empty page between any two', { pages: 'emptyBetween' }],
		['end includes its second', { endInclusive: true }],
	] as const;

	describe.each(dialects)('%s', (_name, dialect) => {
		test.each(['asc', 'desc'])('%s: each lifelog once, in order', async (direction) => {
			const now = '2026-03-03T00:00:00Z';
			await sandbox.control.reset({ now, days: 30, lifelogs: 1000, dialect });
			await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
			const { lanes, sequential } = await readBothWays(month, { direction });
			expect(lanes.error).toBeUndefined();
			expect(sequential.ids.length).toBeGreaterThan(950);
			expect(lanes.ids).toEqual(sequential.ids);
			expect(ranges(lanes.requests).size).toBe(1 + LANES);
			expect(lanes.requests.length).toBeLessThanOrEqual(sequential.requests.length + LANES);
		});
	});

	test('without end is read in lanes too, and what is to come with it', async () => {
		await sandbox.control.reset({ now: '2026-03-03T00:00:00Z', days: 30, lifelogs: 500 });
		await sandbox.control.addLifelog({ id: 'ahead', startTime: '2026-03-03T06:00:00Z' });
		const { start } = month;
		for (const direction of ['asc', 'desc']) {
			const { lanes, sequential } = await readBothWays({ start }, { direction });
			expect(lanes.ids).toContain('ahead');
			expect(lanes.ids).toEqual(sequential.ids);
			expect(ranges(lanes.requests).size).toBeGreaterThan(2);
		}
	});

	test.each([
		[100, {}, 1],
		[105, {}, 2],
		[25, { includeContents: true }, 1],
		[30, { includeContents: true }, 2],
	])('%i lifelogs, %j: %i requests, as without lanes', async (lifelogs, options, count) => {
		await sandbox.control.reset({ now: '2026-03-02T22:00:00Z', days: 30, lifelogs });
		const { lanes, sequential } = await readBothWays(month, options);
		expect(lanes.ids).toHaveLength(lifelogs);
		expect(lanes.requests).toHaveLength(count);
		expect(sequential.requests).toHaveLength(count);
	});

	test('a limit, a date and a list without start are read page after page', async () => {
		await sandbox.control.reset({ now: '2026-03-02T22:00:00Z', days: 3, lifelogs: 900 });
		for (const parameters of [
			{ limit: 900, filters: month },
			{ returnAll: true, filters: { date: '2026-03-01' } },
			{ returnAll: true, filters: { end: month.end } },
			{ returnAll: true },
		]) {
			const { ids, requests } = await read(parameters);
			expect(requests).toHaveLength(Math.ceil(ids.length / 100));
			expect(ids.length).toBeGreaterThan(250);
		}
	});

	test('the rate limit: all arrives, and fewer are refused than lanes × windows', async () => {
		const windowMs = 2000;
		await sandbox.control.reset({ now: '2026-03-03T00:00:00Z', days: 30, lifelogs: 1000 });
		await sandbox.control.dialect({
			limit: { max: 10 },
			rateLimit: { max: 40, windowMs },
			latencyMs: 5,
		});
		const { ids, requests } = await read({ returnAll: true, filters: month });
		expect(ids.length).toBeGreaterThan(950);
		expect(new Set(ids).size).toBe(ids.length);
		const refused = requests.filter(({ status }) => status === 429);
		const windows = Math.ceil((requests.length - refused.length) / 40);
		expect(refused.length).toBeGreaterThanOrEqual(windows - 1);
		expect(refused.length).toBeLessThan(LANES * windows);
	});
});

describe('in the night when clocks are turned back', () => {
	test.each([
		['first', 'asc'],
		['first', 'desc'],
		['second', 'asc'],
		['second', 'desc'],
	] as const)('the service means the %s hour, %s', async (ambiguousHour, direction) => {
		const now = '2026-10-26T00:00:00Z';
		await sandbox.control.reset({ now, empty: true, dialect: { ambiguousHour } });
		await sandbox.control.dialect({ limit: { max: 10 }, rateLimit: { max: 10_000 } });
		for (let minute = 0; minute < 300; minute += 2) {
			const begin = new Date(Date.parse('2026-10-24T22:00:00Z') + minute * 60_000).toISOString();
			await sandbox.control.addLifelog({ startTime: begin });
		}
		const options = { timezone: 'Europe/Berlin', direction };
		for (const filters of [
			{ start: '2026-10-25T00:00:00', end: '2026-10-25T04:00:00' },
			{ start: '2026-10-25T02:10:00+02:00', end: '2026-10-25T02:50:00+01:00' },
		]) {
			const { lanes, sequential } = await readBothWays(filters, options);
			expect(lanes.ids.length).toBeGreaterThan(49);
			expect(lanes.ids).toEqual(sequential.ids);
		}
	});
});

/** A service that lists 10 a page, and what a test makes of it. */
interface Service {
	/** Begins and ends, epoch ms; ids are their places in this list. */
	entries: Array<{ begin: number; end: number }>;
	/** Which entries it takes for those of a range. */
	range: 'begin' | 'begin, end included' | 'overlap';
	/** Lists them as they stand. */
	isUnordered?: boolean;
	/** Answers of its own: a status, or nothing for an answer that never comes. */
	answer?: (query: URLSearchParams, nth: number) => Promise<number> | number | undefined;
}

let service: Service;
let served: URLSearchParams[];
let listed = 0;
let gone: number;
let server: Server;
let own: Engine;

beforeAll(async () => {
	server = createServer((request, response) => {
		const query = new URL(request.url!, 'http://localhost').searchParams;
		const nth = served.push(query);
		response.once('close', () => (gone += response.writableEnded ? 0 : 1));
		void Promise.resolve(service.answer ? service.answer(query, nth) : 200).then((status) => {
			if (status === undefined) return;
			const body = status === 200 ? list(query) : { error: 'not this one' };
			response.writeHead(status, { 'content-type': 'application/json' });
			response.end(JSON.stringify(body));
		});
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	own = await createEngine({
		...loadPackage(),
		credentials: { lifelogApi: { apiKey: 'own', baseUrl } },
	});
});

beforeEach(() => {
	served = [];
	gone = 0;
});

afterAll(async () => {
	server.close().closeAllConnections();
	await own.close();
});

function list(query: URLSearchParams) {
	const at = (name: string) =>
		DateTime.fromSQL(query.get(name)!, { zone: query.get('timezone')! }).toMillis();
	const [from, to] = [
		at('start'),
		at('end') + (service.range === 'begin, end included' ? 999 : -1),
	];
	const sign = query.get('direction') === 'asc' ? 1 : -1;
	const found = service.entries
		.map((entry, id) => ({ ...entry, id: String(id) }))
		.filter(({ begin, end }) => (service.range === 'overlap' ? end : begin) >= from && begin <= to)
		.sort(
			(a, b) =>
				(service.isUnordered ? 0 : sign) * (a.begin - b.begin || Number(a.id) - Number(b.id)),
		);
	const after = Number(query.get('cursor') ?? 0);
	const lifelogs = found.slice(after, after + 10).map(({ id, begin }) => ({
		id,
		startTime: DateTime.fromMillis(begin, { zone: query.get('timezone')! }).toISO(),
	}));
	listed += lifelogs.length;
	const nextCursor = after + 10 < found.length ? String(after + 10) : null;
	return { data: { lifelogs }, meta: { lifelogs: { nextCursor, count: lifelogs.length } } };
}

const HOUR = 3_600_000;
const NOON = Date.parse('2026-03-01T12:00:00Z');
const hourOf = { start: '2026-03-01T12:00:00Z', end: '2026-03-01T13:00:00Z' };
const everySixSeconds = Array.from({ length: 600 }, (_, nth) => {
	const begin = NOON + nth * 6000;
	return { begin, end: begin + 5000 };
});

test('whatever range a service means, lanes give what page after page gives', async () => {
	const entry = fc.record({
		begin: fc.integer({ min: NOON - HOUR / 4, max: NOON + HOUR * 1.25 }),
		lasts: fc.constantFrom(0, 1000, 600_000),
		isWhole: fc.boolean(),
	});
	const services = fc.record({
		entries: fc.array(entry, { minLength: 20, maxLength: 120 }),
		range: fc.constantFrom<Service['range']>('begin', 'begin, end included', 'overlap'),
	});
	const zones = fc.constantFrom('UTC', 'America/New_York');
	let inLanes = 0;
	await fc.assert(
		fc.asyncProperty(
			services,
			zones,
			fc.constantFrom('asc', 'desc'),
			async (made, timezone, direction) => {
				const entries = made.entries.map(({ begin, lasts, isWhole }) => {
					const from = isWhole ? Math.floor(begin / 300_000) * 300_000 : begin;
					return { begin: from, end: from + lasts };
				});
				service = { entries, range: made.range };
				const options = { timezone, direction };
				const ids = async (parameters: IDataObject) => {
					const result = await own.runWorkflow(getAll({ ...parameters, filters: hourOf, options }));
					expect(result.error).toBeUndefined();
					return result.items('Node').map(({ json }) => json.id);
				};
				const sequential = await ids({ limit: EVERYTHING });
				served = [];
				listed = 0;
				expect(await ids({ returnAll: true })).toEqual(sequential);
				// What a service lists on both sides of a seam counts twice.
				const least = Math.max(1, Math.ceil(listed / 10));
				const lanes =
					new Set(served.map((query) => query.get('start')! + query.get('end')!)).size - 1;
				expect(served.length).toBeLessThanOrEqual(least + lanes);
				if (lanes > 1) inLanes++;
			},
		),
		{ numRuns: 100 },
	);
	expect(inLanes).toBeGreaterThan(20);
}, 120_000);

test('entries in no order of time are read page after page', async () => {
	const swapped = everySixSeconds.map((_, nth) => everySixSeconds[nth ^ 1]);
	const workflow = getAll({ returnAll: true, filters: hourOf, options: { direction: 'asc' } });
	service = { entries: swapped, range: 'begin' };
	await own.runWorkflow(workflow);
	expect(served.length).toBeGreaterThan(60);

	served = [];
	service.isUnordered = true;
	const { items } = await own.runWorkflow(workflow);
	expect(items('Node').map(({ json }) => json.id)).toEqual(swapped.map((_, id) => String(id)));
	expect(served).toHaveLength(60);
});

describe('when one lane fails', () => {
	/** The other lanes wait for an answer, or for the rate limit, while this one is refused. */
	const failing = (others: () => Promise<number> | number | undefined): Service => ({
		entries: everySixSeconds,
		range: 'begin',
		answer: (query, nth) => {
			if (nth === 1) return 200;
			if (query.get('end') !== '2026-03-01 13:00:00') return others();
			return sleep(100).then(() => 400);
		},
	});

	test.each([
		['wait for an answer', () => undefined],
		['read on', () => sleep(20).then(() => 200)],
	])('while others %s: one clear error, and no further request', async (_name, others) => {
		service = failing(others);
		const options = { direction: 'asc' };
		const workflow = getAll({ returnAll: true, filters: hourOf, options });
		const began = Date.now();
		const { error, items } = await own.runWorkflow(workflow);
		expect(error?.message).toBe('The service refused a parameter: not this one');
		expect(Date.now() - began).toBeLessThan(1500);
		expect(items('Node')).toEqual([]);
		await sleep(50);
		const { length } = served;
		await sleep(300);
		expect(served).toHaveLength(length);
		expect(length).toBeLessThan(60);
	});

	test('its requests under way are ended', async () => {
		service = failing(() => undefined);
		await own.runWorkflow(
			getAll({ returnAll: true, filters: hourOf, options: { direction: 'asc' } }),
		);
		await sleep(50);
		expect(gone).toBe(LANES - 1);
	});

	test('with continue on fail the other items go on', async () => {
		service = failing(() => 200);
		const parameters = {
			operation: 'getAll',
			returnAll: true,
			filters: { start: hourOf.start, end: '={{ $json.end }}' },
			options: { direction: 'asc' },
		};
		const workflow = workflowWith('lifelog', parameters, { onError: 'continueRegularOutput' });
		const input = [{ json: { end: hourOf.end } }, { json: { end: '2026-03-01T12:30:00Z' } }];
		const { items } = await own.runWorkflow(workflow, { input });
		const [failed, ...others] = items('Node');
		expect(failed.json.error).toContain('not this one');
		expect(others).toHaveLength(300);
	});
});

test('cancelling ends the requests of all lanes at once', async () => {
	service = {
		entries: everySixSeconds,
		range: 'begin',
		answer: (_query, nth) => (nth === 1 ? 200 : undefined),
	};
	const running = own.startWorkflow(getAll({ returnAll: true, filters: hourOf }));
	while (served.length < 1 + LANES) await sleep(10);
	const began = Date.now();
	running.cancel();
	expect((await running.done).status).toBe('canceled');
	expect(Date.now() - began).toBeLessThan(1000);
	await sleep(50);
	expect(gone).toBe(LANES);
	expect(served).toHaveLength(1 + LANES);
});
