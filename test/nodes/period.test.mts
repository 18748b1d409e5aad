// Period of Get Many, Search and Export, and Day of Download Audio: which days they choose.
import { DateTime } from 'luxon';
import type { IDataObject } from 'n8n-workflow';
import { useNode } from '../support/useNode.mts';

/** 25 hours apart, so that it's never the same day in both. */
const [ZONE_OF_WORKFLOW, ZONE_OF_OPTION] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
const ZONES: Array<[of: string, zone: string, parameters: IDataObject]> = [
	['the workflow', ZONE_OF_WORKFLOW, {}],
	['the option Time Zone', ZONE_OF_OPTION, { options: { timezone: ZONE_OF_OPTION } }],
];
const OPERATIONS = ['getMany', 'search', 'export'];
const WORD = 'lighthouse';
/** How many days ago the days are that have lifelogs: the edges of periods and the days beside them. */
const DAYS_AGO = [0, 1, 2, 3, 6, 7, 29, 30];
const UNLIMITED = { rateLimit: { max: 10_000 } };

const { sandbox, run: runNode } = useNode('lifelog');

const day = (ago: number, zone: string) => DateTime.now().setZone(zone).minus({ days: ago });
const dateOf = (ago: number, zone: string) => day(ago, zone).toFormat('yyyy-MM-dd');

/** Adds a lifelog at the first and at the last second of each of the days, in both zones. */
async function addDays(): Promise<void> {
	await sandbox.control.reset({ empty: true, dialect: UNLIMITED });
	const days = [ZONE_OF_WORKFLOW, ZONE_OF_OPTION].flatMap((zone) =>
		DAYS_AGO.map((ago) => day(ago, zone)),
	);
	const times = days
		.flatMap((each) => [each.startOf('day'), each.endOf('day').startOf('second')])
		.filter((time) => time <= DateTime.now())
		.map((time) => time.toUTC().toISO()!);
	for (const time of times) {
		await sandbox.control.addLifelog({ title: WORD, startTime: time, endTime: time });
	}
}

async function run(operation: string, parameters: IDataObject, type = 'lifelog') {
	const all = operation === 'search' ? { query: WORD, limit: 100 } : { returnAll: true };
	const options = { type, timezone: ZONE_OF_WORKFLOW };
	const result = await runNode({ operation, ...all, ...parameters }, options);
	const ids = result.json.map(({ id, lifelogId }) => lifelogId ?? id).sort();
	return { ...result, ids };
}

/** The lifelogs that begin on these days and on those between them. */
async function lifelogsOf(oldest: number, newest: number, zone: string): Promise<string[]> {
	const [first, last] = [dateOf(oldest, zone), dateOf(newest, zone)];
	const all = await sandbox.control.lifelogs();
	return all
		.filter(({ startTime }) => {
			const date = DateTime.fromISO(startTime, { zone }).toFormat('yyyy-MM-dd');
			return first <= date && date <= last;
		})
		.map(({ id }) => id)
		.sort();
}

/** A period with the days that it begins and ends on, and what it asks the service for. */
interface Case {
	period: string;
	oldest: number;
	newest: number;
	parameters?: (zone: string) => IDataObject;
	asks: (zone: string) => IDataObject;
}

const midnight = (ago: number, zone: string) => `${dateOf(ago, zone)} 00:00:00`;
const PERIODS: Case[] = [
	{ period: 'any', oldest: 40, newest: -1, asks: () => ({}) },
	{ period: 'today', oldest: 0, newest: 0, asks: (zone) => ({ date: dateOf(0, zone) }) },
	{ period: 'yesterday', oldest: 1, newest: 1, asks: (zone) => ({ date: dateOf(1, zone) }) },
	{ period: 'last7Days', oldest: 6, newest: 0, asks: (zone) => ({ start: midnight(6, zone) }) },
	{ period: 'last30Days', oldest: 29, newest: 0, asks: (zone) => ({ start: midnight(29, zone) }) },
	{
		period: 'date',
		oldest: 2,
		newest: 2,
		parameters: (zone) => ({ date: dateOf(2, zone) }),
		asks: (zone) => ({ date: dateOf(2, zone) }),
	},
	{
		period: 'range',
		oldest: 6,
		newest: 2,
		parameters: (zone) => ({ start: dateOf(6, zone), end: dateOf(2, zone) }),
		// The service knows whole seconds, so its last one of a day is the next day's first.
		asks: (zone) => ({ start: midnight(6, zone), end: midnight(1, zone) }),
	},
];

describe.each(OPERATIONS)('%s', (operation) => {
	beforeAll(addDays);

	// They all read periods in the same way.
	const isFirst = operation === OPERATIONS[0];
	const zones = isFirst ? ZONES : ZONES.slice(1);
	const periods = PERIODS.filter(
		({ period }) => isFirst || ['last7Days', 'range'].includes(period),
	);

	describe.each(zones)('in the time zone of %s', (_of, zone, options) => {
		test.each(periods.map((each) => [each.period, each] as const))(
			'%s asks for its days and returns their lifelogs',
			async (period, { oldest, newest, parameters, asks }) => {
				const { ids, requests } = await run(operation, {
					period,
					...parameters?.(zone),
					...options,
				});
				const { date, start, end, timezone } = requests[0].query;
				expect({ date, start, end, timezone }).toEqual({ ...asks(zone), timezone: zone });
				const expected = await lifelogsOf(oldest, newest, zone);
				expect(expected.length).toBeGreaterThan(0);
				expect(ids).toEqual(expected);
			},
		);
	});

	test('a range without start and end is any time', async () => {
		const { ids, requests } = await run(operation, { period: 'range', start: '', end: ' ' });
		for (const name of ['date', 'start', 'end']) expect(requests[0].query).not.toHaveProperty(name);
		expect(ids).toHaveLength((await sandbox.control.lifelogs()).length);
	});

	test.each([
		[{ period: 'date', date: '2020-01-01' }, 'lifelogs', 'on 2020-01-01 in Europe/Berlin'],
		[
			{ period: 'date', date: '2020-01-01', filters: { isStarred: true } },
			'starred lifelogs',
			'on 2020-01-01 in Europe/Berlin',
		],
		[
			{ period: 'range', start: '2020-01-01', end: '2020-01-02T10:30' },
			'lifelogs',
			'from 2020-01-01 00:00:00 to 2020-01-02 10:30:00 in Europe/Berlin',
		],
		[
			{ period: 'range', end: '2020-01-02T10:30' },
			'lifelogs',
			'to 2020-01-02 10:30:00 in Europe/Berlin',
		],
	])('says in a hint that %j has no lifelogs', async (parameters, name, period) => {
		const { ids, hint } = await run(operation, {
			...parameters,
			options: { timezone: 'Europe/Berlin' },
		});
		expect(ids).toEqual([]);
		const found = operation === 'search' ? ` found for "${WORD}"` : '';
		const advice = operation === 'search' ? '. Use fewer words, or OR between alternatives.' : '';
		expect(hint).toBe(`No ${name}${found} ${period}${advice}`);
	});

	test('the output names the days and their time zone, unless no day was chosen', async () => {
		const { hint } = await run(operation, { period: 'yesterday' });
		const yesterday = dateOf(1, ZONE_OF_WORKFLOW);
		expect(hint).toBe(`Lifelogs on ${yesterday} in ${ZONE_OF_WORKFLOW}`);
		expect((await run(operation, { period: 'any' })).hint).toBeUndefined();
	});
});

test('a daily summary without lifelogs says so in a hint', async () => {
	const { hint } = await run('getDailySummary', {
		day: 'date',
		date: '2020-01-01',
		options: { timezone: 'Europe/Berlin' },
	});
	expect(hint).toBe('No lifelogs on 2020-01-01 in Europe/Berlin');
});

describe('as a tool', () => {
	beforeAll(async () => {
		await sandbox.control.reset({ days: 20, lifelogs: 120, dialect: UNLIMITED });
	});

	test.each([
		['lifelogTool', 'getMany'],
		['lifelogTool', 'export'],
		['lifelogChatTool', 'getMany'],
	])('%s %s ignores Return All and uses Limit', async (type, operation) => {
		const { ids } = await run(operation, { returnAll: true, limit: 3 }, type);
		expect(ids).toHaveLength(3);
	});

	test.each(['getMany', 'export'])('%s returns at most 100', async (operation) => {
		const { ids } = await run(operation, { limit: 500 }, 'lifelogTool');
		expect(ids).toHaveLength(100);
	});

	test('a new tool searches for ten lifelogs at any time if the model sends no dates', async () => {
		const query = 'dinner OR plans OR work OR call OR meeting';
		const { error, json, requests } = await runNode({ query }, { type: 'lifelogTool' });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(10);
		expect(requests).toHaveLength(1);
		expect(requests[0].query).toMatchObject({ search: query, limit: '10' });
		for (const name of ['date', 'start', 'end']) expect(requests[0].query).not.toHaveProperty(name);
	});

	const choosesDate = { period: 'date' };
	test.each([
		['lifelogTool', 'getMany', choosesDate],
		['lifelogTool', 'search', choosesDate],
		['lifelogTool', 'export', choosesDate],
		['lifelogTool', 'getDailySummary', { day: 'date' }],
		['lifelogAudioTool', 'download', { source: 'day', day: 'date' }],
	])('%s %s refuses an empty Date and says what to enter', async (type, operation, chosen) => {
		const { message, requests } = await run(operation, { ...chosen, date: '={{ "" }}' }, type);
		expect(message).toMatch(
			/^'Date' is empty\. Enter a day such as 2026-11-25\. .*today or yesterday\. Or choose another '(Day|Period)'\.$/,
		);
		expect(requests).toEqual([]);
	});
});

describe('Download Audio of a day', () => {
	beforeAll(addDays);

	/** The first and the last instant asked for, in epoch ms. */
	async function asked(parameters: IDataObject, options: IDataObject) {
		const all = { source: 'day', ...parameters, options: { ifNoAudio: 'skip', ...options } };
		const { message, requests } = await run('download', all, 'lifelogAudio');
		const chunks = requests.filter(({ path }) => path === '/v1/download-audio');
		return {
			message,
			requests,
			from: Math.min(...chunks.map(({ query }) => Number(query.startMs))),
			to: Math.max(...chunks.map(({ query }) => Number(query.endMs))),
		};
	}

	describe.each(ZONES)('in the time zone of %s', (_of, zone, { options }) => {
		const ask = async (parameters: IDataObject) => await asked(parameters, options as IDataObject);

		test.each([
			['yesterday', 1],
			['date', 3],
		])('%s is the whole day', async (name, ago) => {
			const date = dateOf(ago, zone);
			const { from, to } = await ask({ day: name, ...(name === 'date' && { date }) });
			const begin = day(ago, zone).startOf('day');
			expect([from, to]).toEqual([begin.toMillis(), begin.plus({ days: 1 }).toMillis()]);
		});

		test('today ends now', async () => {
			const before = Date.now();
			const { from, to } = await ask({ day: 'today' });
			expect(from).toBe(day(0, zone).startOf('day').toMillis());
			expect(to).toBeGreaterThanOrEqual(before);
			expect(to).toBeLessThanOrEqual(Date.now());
		});

		test('tomorrow is refused before any request', async () => {
			const date = dateOf(-1, zone);
			const { message, requests } = await ask({ day: 'date', date });
			expect(message).toBe(`The day ${date} has not begun yet in ${zone}`);
			expect(requests).toEqual([]);
		});
	});
});

describe('a day in another order', () => {
	const isoOf = (written: string) => `Write it as ${written}\\.`;

	test.each([
		['25.11.2026', isoOf('2026-11-25')],
		['25.11.2026 09:30', isoOf('2026-11-25 09:30')],
		['26/11/2026', isoOf('2026-11-26')],
		['11/26/2026', isoOf('2026-11-26')],
		['2026/11/26', isoOf('2026-11-26')],
		// It may be either, or none.
		['05/11/2026', '^In the field, pick it'],
		['31.02.2026', '^In the field, pick it'],
		['last Monday', '^In the field, pick it'],
	])('%s is refused with how to write it', async (date, advice) => {
		const chosen = { period: 'date', date: `={{ "${date}" }}` };
		const { message, description } = await run('getMany', chosen);
		expect(message).toBe(`'Date' is not a date and time: "${date}"`);
		expect(description).toMatch(new RegExp(advice));
	});
});
