import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { LANES, mostRequests, PAGES_IN_A_ROW } from '../../bench/request-cases.mts';
import {
	type AnyService,
	type Entry,
	type Service,
	startAnyService,
} from '../support/any-service.mts';
import { type Lab, type LabAt, startLab, startLabAt } from '../support/lab.mts';
import type { LoggedRequest } from '../support/sandbox.mts';
import { endsSoon } from '../support/soon.mts';
import { workflowWith } from '../support/workflow.mts';

// All of a list is read in lanes, as much as a limit asks for page after page: what the second
// gives is what the first has to give. any-list.test.mts shows it of every reading of a range.

const EVERYTHING = 1_000_000;

let lab: Lab;
let sandbox: Lab['sandbox'];
let engine: Lab['engine'];

beforeAll(async () => {
	lab = await startLab(1);
	({ sandbox, engine } = lab);
});

afterAll(async () => await lab.close());

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
		['100 a page', 4000, {}],
		['clamped to 10', 1000, { limit: { max: 10, above: 'clamp' } }],
		['400 above 10', 1000, { limit: { max: 10, above: 'reject' } }],
		['short pages', 2000, { pages: 'short' }],
		['an empty page between any two', 2500, { pages: 'emptyBetween' }],
		['end includes its second', 4000, { endInclusive: true }],
	] as const;

	describe.each(dialects)('%s', (_name, lifelogs, dialect) => {
		test.each(['asc', 'desc'])('%s: each lifelog once, in order', async (direction) => {
			const now = '2026-03-03T00:00:00Z';
			await sandbox.control.reset({ now, days: 30, lifelogs, dialect });
			await sandbox.control.dialect({ rateLimit: { max: 10_000 } });
			const { lanes, sequential } = await readBothWays(month, { direction });
			expect(lanes.error).toBeUndefined();
			expect(sequential.ids.length).toBeGreaterThan(0.95 * lifelogs);
			expect(lanes.ids).toEqual(sequential.ids);
			expect(ranges(lanes.requests).size).toBeGreaterThan(LANES);
			expect(lanes.requests.length).toBeLessThanOrEqual(mostRequests(sequential.requests.length));
		});
	});

	test('without end is read in lanes too, and what is to come with it', async () => {
		await sandbox.control.reset({ now: '2026-03-03T00:00:00Z', days: 30, lifelogs: 3000 });
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
		[200, {}, PAGES_IN_A_ROW],
		[25, { includeContents: true }, 1],
		[50, { includeContents: true }, PAGES_IN_A_ROW],
	])(
		'%i lifelogs, %j: as many requests as page after page, %i',
		async (lifelogs, options, count) => {
			await sandbox.control.reset({ now: '2026-03-02T22:00:00Z', days: 30, lifelogs });
			const { lanes, sequential } = await readBothWays(month, options);
			expect(lanes.ids).toHaveLength(lifelogs);
			expect(lanes.requests).toHaveLength(count);
			expect(sequential.requests).toHaveLength(count);
		},
	);

	test('a limit is read page after page, a date from both its ends', async () => {
		await sandbox.control.reset({ now: '2026-03-02T22:00:00Z', days: 3, lifelogs: 3900 });
		const limited = await read({ limit: 900, filters: month });
		expect(limited.requests).toHaveLength(9);
		const { ids, requests } = await read({ returnAll: true, filters: { date: '2026-03-01' } });
		expect(ids.length).toBeGreaterThan(1100);
		expect(new Set(requests.map(({ query }) => query.direction)).size).toBe(2);
		expect(requests.length).toBeLessThanOrEqual(Math.ceil(ids.length / 100) + 2);
		expect(ranges(requests).size).toBe(1);
	});

	test('the rate limit: all arrives, and none of the lanes is refused twice in a second', async () => {
		await sandbox.control.reset({ now: '2026-03-03T00:00:00Z', days: 30, lifelogs: 700 });
		await sandbox.control.dialect({
			limit: { max: 10 },
			rateLimit: { max: 40, windowMs: 4000 },
			latencyMs: 5,
		});
		const { ids, requests } = await read({ returnAll: true, filters: month });
		expect(ids.length).toBeGreaterThan(660);
		expect(new Set(ids).size).toBe(ids.length);
		const refused = requests.filter(({ status }) => status === 429).map(({ at }) => at);
		expect(refused).not.toHaveLength(0);
		const inItsSecond = refused.map((at) =>
			refused.filter((other) => other >= at && other < at + 1000),
		);
		expect(Math.max(...inItsSecond.map(({ length }) => length))).toBeLessThanOrEqual(LANES);
	});
});

test('where the limit could not be waited for, all is read as page after page reads it, which does not reach it', async () => {
	await sandbox.control.reset({ now: '2026-03-03T00:00:00Z', days: 30, lifelogs: 300 });
	await sandbox.control.dialect({
		limit: { max: 10 },
		rateLimit: { max: 12, windowMs: 1000 },
		latencyMs: 100,
	});
	for (const maxWait of [0, 59, 119]) {
		const { ids, error, requests } = await read({ returnAll: true, options: { maxWait } });
		expect(error).toBeUndefined();
		expect(ids.length).toBeGreaterThan(290);
		expect(requests.filter(({ status }) => status === 429)).toEqual([]);
	}
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

let service: AnyService;
let ownLab: LabAt<AnyService>;
let own: typeof ownLab.engine;

const NOON = Date.parse('2026-03-01T12:00:00Z');
const hourOf = { start: '2026-03-01T12:00:00Z', end: '2026-03-01T13:00:00Z' };
const everySixSeconds = Array.from({ length: 600 }, (_, nth): Entry => {
	const begin = NOON + nth * 6000;
	const end = begin + 20_000;
	return { id: String(nth).padStart(3, '0'), begin, end, updated: end, created: end };
});
const everyTenMinutes = (count: number) =>
	Array.from({ length: count }, (_, nth): Entry => {
		const begin = NOON + nth * 600_000;
		const end = begin + 300_000;
		return { id: String(nth).padStart(4, '0'), begin, end, updated: end, created: end };
	});
/** The pages read in a row, one more, the end of the list, and what a range means. */
const BEFORE_LANES = PAGES_IN_A_ROW + 3;

beforeAll(async () => {
	ownLab = await startLabAt(await startAnyService());
	({ service, engine: own } = ownLab);
});

beforeEach(() => {
	service.served = [];
	service.gone = 0;
});

afterAll(async () => await ownLab.close());

const answering = (answer: Service['answer']): Service => ({
	...{ entries: everySixSeconds, range: 'begins', edges: 'start', sort: 'begin', turnsTies: true },
	...{ cursor: 'position', isBound: true, most: 10, hour: 'first', offsets: true },
	answer,
});

test.each(['asc', 'desc'] as const)(
	'a range with one end alone lasts ten minutes there, %s: no lifelog is lost',
	async (direction) => {
		service.is = { ...answering(undefined), openRange: 600_000 };
		const { items, error } = await own.runWorkflow(
			getAll({ returnAll: true, options: { direction } }),
		);
		expect(error).toBeUndefined();
		expect(items('Node')).toHaveLength(everySixSeconds.length);
	},
);

test('a range with one end alone lasts half an hour there: what is listed is what page after page lists', async () => {
	service.is = { ...answering(undefined), openRange: 1_800_000 };
	const filters = { end: hourOf.end };
	const { items, error } = await own.runWorkflow(getAll({ returnAll: true, filters }));
	expect(error).toBeUndefined();
	const ids = everySixSeconds.slice(300).map(({ id }) => id);
	expect(items('Node').map(({ json }) => json.id)).toEqual(ids.reverse());
});

test('a range with one end alone lasts two days there, in a list sorted by change: no lifelog is lost', async () => {
	const hours = (from: number, to: number) =>
		Array.from({ length: Math.abs(to - from) + 1 }, (_, nth) => from + nth * Math.sign(to - from));
	// In the order in which they were changed.
	const begins = [-77, ...hours(248, 49), ...hours(-70, 47)];
	const entries = begins.map((hour, nth): Entry => {
		const begin = NOON + hour * 3_600_000;
		const end = begin + 1_200_000;
		return { id: `${hour}`, begin, end, updated: NOON + nth * 1000, created: end };
	});
	const openRange = 48 * 3_600_000;
	service.is = { ...answering(undefined), entries, openRange, sort: 'updated', edges: 'both' };
	const { items, error } = await own.runWorkflow(getAll({ returnAll: true }));
	expect(error).toBeUndefined();
	expect(items('Node').map(({ json }) => json.id)).toEqual(entries.map(({ id }) => id).reverse());
});

test('a list without bounds that is too short for lanes: three requests more at the most', async () => {
	for (let pages = 3; pages <= 10; pages++) {
		service.served = [];
		service.is = { ...answering(undefined), entries: everyTenMinutes(pages * 10) };
		const { items } = await own.runWorkflow(getAll({ returnAll: true }));
		expect(items('Node')).toHaveLength(pages * 10);
		expect(service.served.length).toBeLessThanOrEqual(pages + 3);
	}
});

test('what was last in the list goes while it is read: few requests more', async () => {
	const entries = everyTenMinutes(600);
	const ids = entries.slice(1).map(({ id }) => id);
	const before = (nth: number) => {
		if (nth === 12) entries.shift();
	};
	service.is = { ...answering(undefined), entries, before };
	const { items, error } = await own.runWorkflow(getAll({ returnAll: true }));
	expect(error).toBeUndefined();
	expect(items('Node').map(({ json }) => json.id)).toEqual(ids.reverse());
	expect(service.served.length).toBeLessThanOrEqual(mostRequests(60));
});

test('a service that makes only small pages from the other end: the list keeps its large ones', async () => {
	const entries = everyTenMinutes(6000);
	const isTooLarge = (query: URLSearchParams) =>
		query.get('direction') === 'asc' && Number(query.get('limit')) > 10;
	const is = answering((query) => (isTooLarge(query) ? 400 : 200));
	service.is = { ...is, entries, most: 100 };
	const { items, error } = await own.runWorkflow(getAll({ returnAll: true }));
	expect(error).toBeUndefined();
	expect(items('Node')).toHaveLength(entries.length);
	expect(service.served.length).toBeLessThanOrEqual(2 * mostRequests(60));
});

test.each([
	['the other direction', 400, (query: URLSearchParams) => query.get('direction') === 'asc'],
	['the other direction', 500, (query: URLSearchParams) => query.get('direction') === 'asc'],
	['ranges', 400, (query: URLSearchParams) => query.has('start') || query.has('end')],
	['one bound alone', 400, (query: URLSearchParams) => query.has('start') !== query.has('end')],
	[
		'the other direction of ranges',
		400,
		(query: URLSearchParams) =>
			query.get('direction') === 'asc' && (query.has('start') || query.has('end')),
	],
	[
		'the other direction of ranges with both bounds',
		400,
		(query: URLSearchParams) =>
			query.get('direction') === 'asc' && query.has('start') && query.has('end'),
	],
] as const)(
	'%s: a %i whenever asked for, and all is read as page after page reads it',
	async (_name, status, isRefused) => {
		service.is = answering((query) => (isRefused(query) ? status : 200));
		for (const node of ['lifelog', 'lifelogChat'] as const) {
			const parameters = { operation: 'getAll', returnAll: true, simplify: false };
			const { items, error } = await own.runWorkflow(workflowWith(node, parameters));
			expect(error).toBeUndefined();
			expect(items('Node')).toHaveLength(everySixSeconds.length);
		}
	},
);

test.each([
	['lifelog', { filters: { date: '2026-03-01' } }],
	['lifelogChat', {}],
] as const)(
	'%s: the other direction answers, but not when asked once more at the end',
	async (node, filters) => {
		let begun = 0;
		service.is = answering((query) => {
			const isFarEnd = query.get('direction') === 'asc' && !query.has('cursor');
			return isFarEnd && ++begun > 1 ? 400 : 200;
		});
		const parameters = { operation: 'getAll', returnAll: true, simplify: false, ...filters };
		const { items, error } = await own.runWorkflow(workflowWith(node, parameters));
		expect(error).toBeUndefined();
		expect(items('Node')).toHaveLength(everySixSeconds.length);
		expect(begun).toBeGreaterThan(1);
	},
);

test('a lane whose first page comes late, behind what another has read, is given up', async () => {
	const entries = everyTenMinutes(600);
	const late = answering(async (query, nth) => {
		const isFirst = nth > BEFORE_LANES && !query.has('cursor') && query.get('direction') !== 'asc';
		await sleep(isFirst ? 400 : 20);
		return 200;
	});
	service.is = { ...late, entries };
	const { items, error } = await own.runWorkflow(getAll({ returnAll: true }));
	expect(error).toBeUndefined();
	expect(items('Node')).toHaveLength(entries.length);
	expect(service.served.length).toBeLessThanOrEqual(mostRequests(entries.length / 10));
});

describe('a service that filters a page after cutting it, so that pages come empty', () => {
	const rare = (nth: number) => nth % 300 === 0;
	const kept: Array<[string, (nth: number) => boolean]> = [
		['one in 10', (nth) => nth % 10 === 0],
		['one in 60', (nth) => nth % 60 === 0],
		['one in 400', (nth) => nth % 400 === 399],
		['nothing between a begin and an end', (nth) => nth < 1000 || nth >= 5000],
		['next to nothing between them', (nth) => nth < 400 || nth > 5600 || rare(nth)],
		['bursts', (nth) => nth < 400 || nth > 5600 || nth % 900 < 100],
		['nothing for long at one end', (nth) => nth >= 4500],
		['pairs behind a begin', (nth) => nth > 5800 || rare(nth) || rare(nth - 1)],
	];

	test.each(kept)('%s: all is listed, for few requests more', async (_name, isKept) => {
		const entries = everyTenMinutes(6000);
		const kept = ({ id }: Entry) => isKept(Number(id));
		service.is = { ...answering(undefined), entries, most: 100, isKept: kept };
		for (const direction of ['asc', 'desc']) {
			service.served = [];
			const { items, error } = await own.runWorkflow(
				getAll({ returnAll: true, options: { direction } }),
			);
			expect(error).toBeUndefined();
			const ids = entries.filter(kept).map(({ id }) => id);
			if (direction === 'desc') ids.reverse();
			expect(items('Node').map(({ json }) => json.id)).toEqual(ids);
			// Two more for a list without bounds, of which nothing is saved where lanes are given up.
			expect(service.served.length).toBeLessThanOrEqual(mostRequests(entries.length / 100) + 2);
		}
	});
});

describe('when one lane fails', () => {
	/** The other lanes wait for an answer, or for the rate limit, while this one is refused. */
	const failing = (others: () => Promise<number> | number | undefined): Service => {
		let refused: string | undefined;
		return answering((query, nth) => {
			if (nth <= BEFORE_LANES) return 200;
			const start = query.get('start')!;
			if (start !== '2026-03-01 12:00:00') refused ??= start;
			return start === refused ? sleep(100).then(() => 400) : others();
		});
	};

	test.each([
		['wait for an answer', () => undefined],
		['read on', () => sleep(20).then(() => 200)],
	])('while others %s: one clear error, and no further request', async (_name, others) => {
		service.is = failing(others);
		const options = { direction: 'asc' };
		const workflow = getAll({ returnAll: true, filters: hourOf, options });
		const { done } = own.startWorkflow(workflow);
		expect(await endsSoon(done, 150)).toBe(true);
		const { error, items } = await done;
		expect(error?.message).toMatch(
			/^The service refused a parameter: not this one \(lifelogs from .* to .* in UTC\)$/,
		);
		expect(items('Node')).toEqual([]);
		await sleep(50);
		const { length } = service.served;
		await sleep(300);
		expect(service.served).toHaveLength(length);
		expect(length).toBeLessThan(60);
	});

	test('its requests under way are ended', async () => {
		service.is = failing(() => undefined);
		await own.runWorkflow(
			getAll({ returnAll: true, filters: hourOf, options: { direction: 'asc' } }),
		);
		await sleep(50);
		expect(service.gone).toBe(LANES - 1);
	});

	test('with continue on fail the other items go on', async () => {
		// Not so fast that they have read all of its part before it fails.
		service.is = failing(() => sleep(20).then(() => 200));
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
	service.is = answering((_query, nth) => (nth <= BEFORE_LANES ? 200 : undefined));
	const running = own.startWorkflow(getAll({ returnAll: true, filters: hourOf }));
	while (service.served.length < BEFORE_LANES + LANES) await sleep(10);
	running.cancel();
	expect(await endsSoon(running.done)).toBe(true);
	expect((await running.done).status).toBe('canceled');
	await sleep(50);
	expect(service.gone).toBe(LANES);
	expect(service.served).toHaveLength(BEFORE_LANES + LANES);
});
