import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { connect } from '../../../nodes/shared/auth/connection.ts';
import type { Lifelog } from '../../../lifelog/api.ts';
import { firstEntries } from '../../../nodes/shared/transport/pagination.ts';
import { nodeOperations } from '../faults/parameters.mts';
import { startAnyService } from '../../support/anyService.mts';
import { standIn } from '../../support/engine.mts';
import { startLabAt } from '../../support/lab.mts';
import type { DialectChange, LoggedRequest } from '../../support/sandbox.mts';
import { skipPauses } from '../../support/skipPauses.mts';
import { type NodeRun, useNode } from '../../support/useNode.mts';
import { within, workflowWith } from '../../support/workflow.mts';
import { TOO_SLOW } from '../../support/messages.mts';

const pauses = skipPauses();
afterAll(() => pauses.stop());

const { sandbox, run } = useNode('lifelog', { usual: { operation: 'getMany', output: 'raw' } });

async function getMany(parameters: IDataObject, options?: NodeRun) {
	const result = await run(parameters, options);
	return { ...result, lifelogs: result.json as unknown as Lifelog[] };
}

const newestFirst = (lifelogs: Lifelog[]) => lifelogs.map(({ id }) => id).reverse();

describe('Return All', () => {
	const dialects: Array<[string, DialectChange, number]> = [
		['400 above 10', { limit: { max: 10, above: 'reject' } }, 26],
		['400 above 100', { limit: { max: 100, above: 'reject' } }, 3],
		['an empty page between any two', { pages: 'emptyBetween' }, 5],
		['a null cursor at the end', { lastCursor: 'null' }, 3],
		['an empty cursor at the end', { lastCursor: 'empty' }, 3],
		['no contents by default', { includeContentsDefault: false }, 3],
	];

	test.each(dialects)(
		'returns 250 lifelogs in order, each once: %s',
		async (_name, dialect, count) => {
			await sandbox.control.reset({ days: 5, lifelogs: 250, dialect });
			const all = newestFirst(await sandbox.control.lifelogs());
			const { lifelogs, requests } = await getMany({ returnAll: true });
			expect(all).toHaveLength(250);
			expect(lifelogs.map(({ id }) => id)).toEqual(all);
			expect(requests).toHaveLength(count);
		},
	);

	test('a long run reports its number of requests and their wait', async () => {
		await sandbox.control.reset({
			days: 20,
			lifelogs: 200,
			dialect: { limit: { max: 10, above: 'clamp' } },
		});
		expect((await getMany({ limit: 200 })).hint).toBe('This run made 20 requests.');
		await sandbox.control.dialect({ rateLimit: { max: 5, windowMs: 4000 } });
		expect((await getMany({ limit: 60 })).hint).toMatch(
			/^This run made \d+ requests, which waited [1-9]\d* s in total for the rate limit\.$/,
		);
		await sandbox.control.dialect({ rateLimit: { max: 1000 } });
		expect((await getMany({ limit: 60 })).hint).toBeUndefined();
	});

	test.each([
		['true', 120],
		[' False ', 50],
	])('as the text %p is read as true or false', async (returnAll, count) => {
		await sandbox.control.reset({ days: 20, lifelogs: 120 });
		const { lifelogs } = await getMany({ returnAll: `={{ "${returnAll}" }}`, limit: 50 });
		expect(lifelogs).toHaveLength(count);
	});

	test.each([
		['"yes"', `'Return All' must be true or false, not "yes"`],
		['1', `'Return All' must be true or false, not "1"`],
		['[true]', "'Return All' must be a single value, not a list"],
		['Object.create(null)', "'Return All' must be a single value, not an object"],
	])('as %s is refused', async (returnAll, message) => {
		const { error, requests } = await getMany({ returnAll: `={{ ${returnAll} }}` });
		expect(error?.message).toBe(message);
		expect(requests).toEqual([]);
	});

	test.each(['null', 'undefined', '""'])('as %s counts as off', async (returnAll) => {
		await sandbox.control.reset({ days: 5, lifelogs: 60 });
		const { lifelogs } = await getMany({ returnAll: `={{ ${returnAll} }}`, limit: 5 });
		expect(lifelogs).toHaveLength(5);
	});

	test("a page size that was refused once isn't requested again in the same run", async () => {
		const dialect: DialectChange = { limit: { max: 10, above: 'reject' } };
		await sandbox.control.reset({ days: 1, lifelogs: 20, dialect });
		const twoItems = { input: [{ json: {} }, { json: {} }] };
		const { lifelogs, requests } = await getMany({ returnAll: true }, twoItems);
		expect(lifelogs).toHaveLength(40);
		const [refused, ...others] = requests.map(({ status }) => status);
		expect(refused).toBe(400);
		expect(others).not.toContain(400);
	});

	test('a page size that failed once is requested again for the next list', async () => {
		await sandbox.control.reset({ days: 1, lifelogs: 20 });
		await sandbox.control.faults([{ path: '/v1/lifelogs', status: 500, times: 4 }]);
		const twoItems = { input: [{ json: {} }, { json: {} }] };
		const { lifelogs, requests } = await getMany({ returnAll: true }, twoItems);
		expect(lifelogs).toHaveLength(40);
		const sizes = requests.map(({ query }) => Number(query.limit));
		expect(sizes).toEqual([100, 100, 100, 100, 10, 10, 100]);
	});

	test('a cursor is sent with the same query', async () => {
		await sandbox.control.reset({ days: 20, lifelogs: 250 });
		const { requests } = await getMany({ limit: 250, filters: { isStarred: false } });
		const [first, ...others] = requests.map(({ query }) => query);
		expect(first).toEqual({
			timezone: 'UTC',
			isStarred: 'false',
			includeMarkdown: 'true',
			includeHeadings: 'true',
			includeContents: 'false',
			limit: '100',
		});
		for (const { cursor, ...query } of others) {
			expect(cursor).toEqual(expect.any(String));
			expect(query).toEqual(first);
		}
	});
});

describe('a page that is too large for the service', () => {
	const sizes = (requests: LoggedRequest[]) => requests.map(({ query }) => Number(query.limit));

	beforeEach(async () => {
		await sandbox.control.reset({ days: 5, lifelogs: 60 });
	});

	test.each([
		['400', { status: 400, times: 1 }, [100, 10]],
		['413', { status: 413, times: 1 }, [100, 10]],
		['422', { status: 422, times: 1 }, [100, 10]],
		['500', { status: 500, times: 4 }, [100, 100, 100, 100, 10]],
		['504', { status: 504, times: 4 }, [100, 100, 100, 100, 10]],
	])(
		'%s: is requested again with 10 entries, and so are the next pages',
		async (_name, fault, asked) => {
			await sandbox.control.faults([{ path: '/v1/lifelogs', ...fault }]);
			const { lifelogs, requests, error } = await getMany({ returnAll: true });
			expect(error).toBeUndefined();
			expect(lifelogs).toHaveLength(60);
			expect(sizes(requests)).toEqual([...asked, 10, 10, 10, 10, 10]);
		},
	);

	test.each([
		[500, { status: 500 }, [100, 100, 100, 100, 10]],
		[422, { status: 422 }, [100, 10]],
		[503, { status: 503 }, [100, 100, 100, 100]],
	])('%i each time: an error, after few requests', async (status, fault, asked) => {
		await sandbox.control.faults([{ path: '/v1/lifelogs', ...fault, times: 20 }]);
		const { error, requests } = await getMany({ returnAll: true });
		expect(error).toMatchObject({ httpCode: String(status) });
		expect(sizes(requests)).toEqual(asked);
	});

	test.each([
		['as long as it is larger than 10', (limit: number) => limit > 10, 5],
		['whatever its size', () => true, undefined],
	])('no answer %s: is requested again once with 10 entries', async (_name, isSilent, count) => {
		const begin = Date.parse('2026-03-01T12:00:00Z');
		const entries = Array.from({ length: 45 }, (_, nth) => {
			const time = begin + nth * 1000;
			return { id: `${nth}`, begin: time, end: time, updated: time, created: time };
		});
		const service = await startAnyService();
		service.is = {
			...{
				entries,
				range: 'begins',
				edges: 'start',
				sort: 'begin',
				turnsTies: true,
				maxPageSize: 10,
			},
			...{ cursor: 'position', isBound: true, hour: 'first', offsets: true },
			answer: (query) => (isSilent(Number(query.get('limit'))) ? undefined : 200),
		};
		const probe = standIn('probe');
		probe.description.credentials = [{ name: 'lifelogApi', required: true }];
		probe.execute = async function (this: IExecuteFunctions) {
			const api = await connect(this, { maxWaitMs: 0, retries: 3, timeoutMs: 2000 });
			const listing = { name: 'lifelogs' as const, query: { timezone: 'UTC' } };
			const found = await firstEntries<Lifelog>(api, listing, Infinity);
			return [found.map(({ id }) => ({ json: { id } }))];
		};
		const nodeTypes = { 'n8n-nodes-lifelog.probe': probe };
		const own = await startLabAt(service, { nodeTypes });
		const { error, items } = await own.engine.runWorkflow(workflowWith('probe', {}));
		const limits = service.served.map((query) => Number(query.get('limit')));
		expect(limits.filter((limit) => limit !== 10)).toEqual([100, 100]);
		expect(limits.filter((limit) => limit === 10)).toHaveLength(count ?? 1);
		if (count === undefined) expect(error?.message).toContain(TOO_SLOW);
		else expect(items('Node')).toHaveLength(45);
		await own.close();
	});

	test("a search isn't requested with another page size, because it has no next page", async () => {
		await sandbox.control.faults([{ path: '/v1/lifelogs', status: 504, times: 4 }]);
		const { error, requests } = await getMany({ operation: 'search', query: 'garden', limit: 50 });
		expect(error).toMatchObject({ httpCode: '504' });
		expect(sizes(requests)).toEqual([50, 50, 50, 50]);
	});

	test("a later page isn't requested with another size, because its cursor is bound to the size", async () => {
		await sandbox.control.dialect({ limit: { max: 10 } });
		await sandbox.control.faults([{ path: '/v1/lifelogs', skip: 1, status: 504, times: 9 }]);
		const { error, requests } = await getMany({ limit: 60 });
		expect(error).toMatchObject({ httpCode: '504' });
		expect(new Set(sizes(requests))).toEqual(new Set([60]));
	});
});

describe('Limit', () => {
	beforeAll(async () => {
		await sandbox.control.reset({ days: 5, lifelogs: 250 });
	});

	test.each([
		[1, [1]],
		[50, [50]],
		[100, [100]],
		[150, [100, 100]],
		['60', [60]],
	])('%p requests pages of %p', async (limit, pages) => {
		const { lifelogs, requests } = await getMany({ limit });
		expect(lifelogs).toHaveLength(Number(limit));
		expect(requests.map(({ query }) => Number(query.limit))).toEqual(pages);
	});

	test.each([0, -1, 1.5, '={{ NaN }}', 'ten'])('%p is refused', async (limit) => {
		const { error, requests } = await getMany({ limit });
		expect(error?.message).toMatch(/'Limit' must be a whole number|Limit/);
		expect(requests).toEqual([]);
	});
});

test('filters and options also accept texts from an expression', async () => {
	await sandbox.control.reset({ days: 3 });
	const { requests } = await getMany({
		limit: 5,
		filters: { isStarred: '={{ "false" }}', isScheduled: '={{ "TRUE" }}' },
		options: {
			includeContents: '={{ "true" }}',
			includeMarkdown: '={{ "false" }}',
		},
	});
	expect(requests[0].query).toMatchObject({
		isStarred: 'false',
		isScheduled: 'true',
		includeContents: 'true',
		includeMarkdown: 'false',
	});
	const { error } = await getMany({ filters: { isStarred: '={{ ["true"] }}' } });
	expect(error?.message).toBe("'Is Starred' must be a single value, not a list");
});

test('a parameter that the service refuses is reported with its reason and the request', async () => {
	await sandbox.control.faults([{ status: 400, body: { error: 'bad date' }, times: 9 }]);
	const { error } = await getMany({ limit: 10, filters: { isStarred: true } });
	await sandbox.control.faults([]);
	expect(error?.message).toBe('The service refused a parameter: bad date (starred lifelogs)');
	expect(error?.description).toMatch(/^Sent: timezone=UTC, .*isStarred=true.*limit=10\. /);
	expect(error?.description).not.toMatch(/undefined|bad date/);
});

test('an unknown operation is refused with a list of the operations', async () => {
	const { error } = await getMany({ operation: 'toString' });
	const [, offered] = /^'Operation' must be (.+), not "toString"$/.exec(error!.message)!;
	const operations = nodeOperations().filter(({ node }) => node === 'lifelog');
	expect(offered.split(/, | or /)).toEqual(operations.map(({ operation }) => operation).sort());
});

describe('contents', () => {
	test.each([
		[25, [25]],
		[60, [25, 25, 25]],
	])('%p lifelogs are returned with contents if requested', async (limit, pages) => {
		await sandbox.control.reset({ days: 3 });
		const { lifelogs, requests, hint } = await getMany({
			limit,
			options: { includeContents: true },
		});
		expect(lifelogs).toHaveLength(limit);
		expect(lifelogs.every(({ contents }) => contents.length > 0)).toBe(true);
		expect(requests.map(({ query }) => Number(query.limit))).toEqual(pages);
		expect(hint).toBeUndefined();
	});

	test("aren't requested by default, whatever the service’s default", async () => {
		await sandbox.control.reset({
			days: 1,
			lifelogs: 5,
			dialect: { includeContentsDefault: true },
		});
		const { lifelogs } = await getMany({ limit: 5 });
		expect(lifelogs).toHaveLength(5);
		for (const lifelog of lifelogs) expect(lifelog).not.toHaveProperty('contents');
		expect(lifelogs[0].markdown).toEqual(expect.any(String));
	});

	test('that are missing for several items are reported once', async () => {
		await sandbox.control.reset({ days: 1, lifelogs: 5 });
		const [lifelog] = await sandbox.control.lifelogs();
		const body = { data: { lifelogs: [{ ...lifelog, contents: [] }] }, meta: { lifelogs: {} } };
		await sandbox.control.faults([{ body, times: 3 }]);
		const parameters = { limit: '={{ $json.limit }}', options: { includeContents: true } };
		const input = [1, 2, 3].map((limit) => ({ json: { limit } }));
		const { hints, json } = await getMany(parameters, { input });
		expect(json).toHaveLength(3);
		expect(hints('Node')).toHaveLength(1);
	});

	test('that are missing although requested are reported in a hint', async () => {
		await sandbox.control.reset({ days: 1, lifelogs: 5 });
		const [lifelog] = await sandbox.control.lifelogs();
		const body = {
			data: { lifelogs: [{ ...lifelog, contents: [] }] },
			meta: { lifelogs: { count: 1 } },
		};
		await sandbox.control.faults([{ body }]);
		const { hint } = await getMany({ limit: 5, options: { includeContents: true } });
		expect(hint).toContain('no contents');
	});

	test('unknown fields and node types are returned unchanged', async () => {
		await sandbox.control.reset({ days: 1, lifelogs: 5 });
		const [known] = await sandbox.control.lifelogs();
		const lifelog = { ...known, mood: 'calm', contents: [{ type: 'drawing', content: '' }] };
		const body = { data: { lifelogs: [lifelog] }, meta: { lifelogs: { count: 1 } } };
		await sandbox.control.faults([{ body }]);
		const { lifelogs } = await getMany({ limit: 1, options: { includeContents: true } });
		expect(lifelogs).toEqual([lifelog]);
	});
});

describe('filters', () => {
	test.each([
		['2026-03-29T10:00:00+02:00', 'Europe/Berlin', '2026-03-29 10:00:00'],
		['2026-03-29T10:00:00+02:00', 'America/New_York', '2026-03-29 04:00:00'],
		['2026-03-29T10:00:00', 'Europe/Berlin', '2026-03-29 10:00:00'],
		['2026-03-29T10:00:00', 'America/New_York', '2026-03-29 10:00:00'],
		['={{ 1774771200000 }}', 'Europe/Berlin', '2026-03-29 10:00:00'],
		['={{ DateTime.fromISO("2026-03-29T08:00:00Z") }}', 'Europe/Berlin', '2026-03-29 10:00:00'],
	])('start %s in %s is %s on the wire', async (start, timezone, wire) => {
		const byOption = await getMany({ ...within({ start }), options: { timezone } });
		expect(byOption.requests[0].query).toMatchObject({ timezone, start: wire });
		const byWorkflow = await getMany({ ...within({ start }) }, { timezone });
		expect(byWorkflow.requests[0].query).toMatchObject({ timezone, start: wire });
	});

	test('a date is the date in the time zone', async () => {
		const { requests } = await getMany({
			...within({ date: '2026-03-28T23:30:00Z' }),
			options: { timezone: 'Europe/Berlin' },
		});
		expect(requests[0].query).toMatchObject({ date: '2026-03-29', timezone: 'Europe/Berlin' });
	});

	test.each([
		['Europe/Berlin', '2026-03-29', 23],
		['Europe/Berlin', '2026-10-25', 25],
		['America/New_York', '2026-03-08', 23],
		['America/New_York', '2026-11-01', 25],
	])('the day of daylight saving in %s, %s, has %d hours', async (timezone, date, hours) => {
		await sandbox.control.reset({ empty: true, now: '2026-11-20T12:00:00Z' });
		const middle = Date.parse(`${date}T12:00:00Z`);
		const begins: string[] = [];
		for (let hour = -30; hour < 30; hour++) {
			const startTime = new Date(middle + hour * 3_600_000).toISOString();
			const endTime = new Date(middle + hour * 3_600_000 + 60_000).toISOString();
			begins.push((await sandbox.control.addLifelog({ startTime, endTime })).startTime);
		}
		const options = { timezone, direction: 'asc' };
		const day = await getMany({ returnAll: true, ...within({ date }), options });
		expect(day.lifelogs).toHaveLength(hours);
		const next = new Date(middle + 86_400_000).toISOString().slice(0, 10);
		const filters = { start: `${date}T00:00:00`, end: `${next}T00:00:00` };
		const range = await getMany({ returnAll: true, ...within(filters), options });
		expect(range.lifelogs.map(({ id }) => id)).toEqual(day.lifelogs.map(({ id }) => id));
		expect(begins).toContain(new Date(day.lifelogs[0].startTime).toISOString());
	});

	test.each(['first', 'second'] as const)(
		'each pass of the repeated hour returns its own lifelogs, if the service means the %s pass',
		async (ambiguousHour) => {
			await sandbox.control.reset({
				empty: true,
				now: '2026-11-20T12:00:00Z',
				dialect: { ambiguousHour },
			});
			for (const time of ['23:40', '00:10', '00:40', '01:10', '01:40', '02:10']) {
				const day = time.startsWith('23') ? '2026-10-24' : '2026-10-25';
				const startTime = `${day}T${time}:00.000Z`;
				await sandbox.control.addLifelog({ title: time, startTime, endTime: startTime });
			}
			const titles = async (start: string, end: string) => {
				const options = { timezone: 'Europe/Berlin', direction: 'asc' };
				const { lifelogs } = await getMany({ ...within({ start, end }), options });
				return lifelogs.map(({ title }) => title);
			};
			expect(await titles('2026-10-25T02:00:00+02:00', '2026-10-25T02:59:00+02:00')).toEqual([
				'00:10',
				'00:40',
			]);
			expect(await titles('2026-10-25T02:00:00+01:00', '2026-10-25T02:59:00+01:00')).toEqual([
				'01:10',
				'01:40',
			]);
			expect(await titles('2026-10-25T02:00:00', '2026-10-25T02:59:00')).toEqual([
				'00:10',
				'00:40',
				'01:10',
				'01:40',
			]);
		},
	);

	test.each([
		// n8n requires it only if it was chosen from the list.
		[{ period: 'date' }, "'Date' is empty"],
		[{ period: '={{ "date" }}' }, "'Date' is empty"],
		[{ period: 'date', date: ' ' }, "'Date' is empty"],
		[{ period: '={{ "week" }}' }, "'Period' must be any, today, yesterday, last7Days, "],
		[
			within({ start: '2026-03-02T00:00:00', end: '2026-03-01T00:00:00' }),
			"'Start' is later than 'End'",
		],
		[within({ start: 'last week' }), `'Start' is not a date and time: "last week"`],
		[within({ date: 'tomorrow' }), `'Date' is not a date and time: "tomorrow"`],
	])('%p is refused before any request', async (parameters, message) => {
		const { error, requests } = await getMany(parameters);
		expect(error?.message).toContain(message);
		expect(requests).toEqual([]);
	});

	test.each(['Mars/Olympus', '+02:00', 'UTC+2'])(
		'rejects %s, which is not a time zone, before any request',
		async (timezone) => {
			const { error, requests } = await getMany({ options: { timezone } });
			expect(error?.message).toBe(`There is no time zone "${timezone}"`);
			expect(requests).toEqual([]);
		},
	);

	test('a time zone is sent by its correct name, also if you type it in another case', async () => {
		const { requests } = await getMany({ options: { timezone: 'europe/berlin' } });
		expect(requests[0].query).toMatchObject({ timezone: 'Europe/Berlin' });
	});

	test('an End without a time means the end of that day', async () => {
		const [{ startTime }] = (await getMany({ limit: 1 })).lifelogs;
		const date = startTime.slice(0, 10);
		const range = await getMany({ returnAll: true, ...within({ start: date, end: date }) });
		const day = await getMany({ returnAll: true, ...within({ date }) });
		expect(range.lifelogs.length).toBeGreaterThan(1);
		expect(range.lifelogs.map(({ id }) => id)).toEqual(day.lifelogs.map(({ id }) => id));
	});

	test("blank filters aren't sent, but false is", async () => {
		await sandbox.control.reset({ days: 2 });
		const { requests, lifelogs } = await getMany({
			returnAll: true,
			...within({ start: '', end: ' ' }),
			filters: { globalPromptId: ' ', isScheduled: false, isStarred: false },
		});
		expect(requests[0].query).not.toHaveProperty('date');
		expect(requests[0].query).not.toHaveProperty('start');
		expect(requests[0].query).not.toHaveProperty('globalPromptId');
		expect(requests[0].query).toMatchObject({ isStarred: 'false', isScheduled: 'false' });
		expect(lifelogs.length).toBeGreaterThan(0);
		expect(lifelogs.some(({ isStarred }) => isStarred)).toBe(false);
	});
});
