import { startSandbox, type TestSandbox } from '../../support/sandbox.mts';
import { clientOf, type Client, type Query } from './client.mts';

let sandbox: TestSandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox();
	client = clientOf(sandbox);
});
afterAll(() => sandbox.close());

const hour = 3_600_000;

/** Fills the sandbox with one lifelog an hour whose ids are their UTC begin. */
async function fill(from: number, hours: number) {
	await sandbox.control.reset({ empty: true, now: '2026-12-31T00:00:00Z' });
	for (let index = 0; index < hours; index += 1) {
		const startTime = new Date(from + index * hour).toISOString();
		await sandbox.control.addLifelog({ id: startTime.slice(5, 13), startTime });
	}
}

async function ids(query: Query) {
	const pages = await client.pages('/v1/lifelogs', { direction: 'asc', limit: 100, ...query });
	return pages.flat();
}

const offsetsOf = async (query: Query) => {
	const { body } = await client.get('/v1/lifelogs', { direction: 'asc', limit: 100, ...query });
	return body.data.lifelogs.map(({ startTime }) => startTime.slice(11, 13) + startTime.slice(23));
};

describe.each([
	['Europe/Berlin', '2026-03-29', '03-28T23', '03-29T21', 23, '+01:00', '+02:00'],
	['Europe/Berlin', '2026-10-25', '10-24T22', '10-25T22', 25, '+02:00', '+01:00'],
	['America/New_York', '2026-03-08', '03-08T05', '03-09T03', 23, '-05:00', '-04:00'],
	['America/New_York', '2026-11-01', '11-01T04', '11-02T04', 25, '-04:00', '-05:00'],
])('%s on %s', (timezone, date, first, last, hours, morning, evening) => {
	beforeAll(() => fill(Date.parse(date) - 24 * hour, 72));

	test(`the date has ${hours} hours`, async () => {
		const found = await ids({ timezone, date });
		expect(found).toHaveLength(hours);
		expect([found.at(0), found.at(-1)]).toEqual([first, last]);
		const next = new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
		expect(await ids({ timezone, start: date, end: next })).toEqual(found);
	});

	test('times have the offset of their hour', async () => {
		const offsets = await offsetsOf({ timezone, date });
		expect(offsets.at(0)).toBe(`00${morning}`);
		expect(offsets.at(-1)).toBe(`23${evening}`);
		expect(new Set(offsets).size).toBe(hours);
	});
});

describe('ranges', () => {
	beforeAll(() => fill(Date.parse('2026-10-24T22:00:00Z'), 25));

	test('the repeated hour of autumn is the first or the second one', async () => {
		const query = {
			timezone: 'Europe/Berlin',
			start: '2026-10-25 02:00:00',
			end: '2026-10-25 04:00',
		};
		expect(await ids(query)).toEqual(['10-25T00', '10-25T01', '10-25T02']);
		await sandbox.control.dialect({ ambiguousHour: 'second' });
		expect(await ids(query)).toEqual(['10-25T01', '10-25T02']);
		await sandbox.control.dialect({ ambiguousHour: 'first' });
	});

	test('start is inclusive, and end is exclusive, or inclusive in a dialect', async () => {
		const query = { start: '2026-10-25 08:00:00', end: '2026-10-25 10:00:00' };
		expect(await ids(query)).toEqual(['10-25T08', '10-25T09']);
		await sandbox.control.dialect({ endInclusive: true });
		expect(await ids(query)).toEqual(['10-25T08', '10-25T09', '10-25T10']);
		await sandbox.control.dialect({ endInclusive: false });
	});

	test.each([
		'2026-10-25 08:00:00',
		'2026-10-25T08:00:00',
		'2026-10-25T08:00',
		'2026-10-25T08:00:00Z',
		'2026-10-25T08:00:00.000+05:00',
		'2026-10-25 08:00:00 05:00',
		'2026-10-25 08:00:00-0500',
	])('an offset in the value is ignored: %s', async (start) => {
		const found = await ids({ start, end: '2026-10-25 10:00:00' });
		expect(found).toEqual(['10-25T08', '10-25T09']);
	});

	test('start or end override date', async () => {
		const found = await ids({ date: '2020-01-01', start: '2026-10-25 20:00:00' });
		expect(found).toEqual(['10-25T20', '10-25T21', '10-25T22']);
		expect(await ids({ date: '2020-01-01' })).toEqual([]);
		expect(await ids({ end: '2026-10-25' })).toEqual(['10-24T22', '10-24T23']);
	});

	test('UTC is the default time zone', async () => {
		const { body } = await client.get('/v1/lifelogs', { limit: 1 });
		expect(body.data.lifelogs[0].startTime).toBe('2026-10-25T22:00:00.000Z');
	});
});
