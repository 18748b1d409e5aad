import { DateTime } from 'luxon';
import { toDate, toInstant, toRange } from '../../../lifelog/times.ts';

const utc = (text: string) => Date.parse(`${text}Z`);

describe('toInstant', () => {
	const instant = utc('2026-03-29T08:00:00');

	test.each([
		['an ISO string with an offset', '2026-03-29T10:00:00+02:00'],
		['an ISO string in UTC', '2026-03-29T08:00:00.000Z'],
		['the editor picker’s value, wall-clock', '2026-03-29T10:00:00'],
		['a space instead of the T', '2026-03-29 10:00:00'],
		['epoch milliseconds', instant],
		['epoch milliseconds as text', String(instant)],
		['a luxon DateTime of another zone', DateTime.fromMillis(instant, { zone: 'Asia/Tokyo' })],
		['a Date', new Date(instant)],
	])('reads %s', (_kind, value) => {
		expect(toInstant(value, 'Europe/Berlin', 'start')).toBe(instant);
	});

	test.each([
		'',
		'tomorrow',
		'10:00',
		'2026',
		'2026-02-30',
		'20260301',
		'20260301120000',
		20_260_301_120_000,
		1_772_366_400_000_000,
		'1772366400000000000',
		0,
		1_774_771_200,
		NaN,
		Infinity,
		true,
		null,
		undefined,
		[],
		{},
		DateTime.invalid('no'),
		new Date(NaN),
		'-000001-12-31T23:59:59.000Z',
		'+010000-01-01T00:00:00.000Z',
		'2026-02-30T09:00:00.000Z',
	])("doesn't read %p as a date-time", (value) => {
		expect(toInstant(value, 'Europe/Berlin', 'start')).toBeUndefined();
	});

	test('a wall-clock time in the repeated hour is the earlier one as start, the later one as end', () => {
		expect(toInstant('2026-10-25T02:30:00', 'Europe/Berlin', 'start')).toBe(
			utc('2026-10-25T00:30:00'),
		);
		expect(toInstant('2026-10-25T02:30:00', 'Europe/Berlin', 'end')).toBe(
			utc('2026-10-25T01:30:00'),
		);
	});

	test('a wall-clock time in the skipped hour makes the range wider', () => {
		expect(toInstant('2026-03-29T02:30:00', 'Europe/Berlin', 'start')).toBe(
			utc('2026-03-29T00:30:00'),
		);
		expect(toInstant('2026-03-29T02:30:00', 'Europe/Berlin', 'end')).toBe(
			utc('2026-03-29T01:30:00'),
		);
	});
});

describe('a date without a time', () => {
	const hoursOf = (day: string, zone: string) => {
		const [start, end, until] = (['start', 'end', 'until'] as const).map((edge) =>
			toInstant(day, zone, edge),
		) as [number, number, number];
		expect(end).toBe(until - 1);
		const dates = [start - 1, start, end, until].map((instant) => toDate(instant, zone));
		expect(dates.slice(1, 3)).toEqual([day, day]);
		expect([dates[0], dates[3]]).not.toContain(day);
		return (until - start) / 3_600_000;
	};

	test.each([
		['an ordinary one', '2026-03-28', 'Europe/Berlin', 24],
		['of spring', '2026-03-29', 'Europe/Berlin', 23],
		['of autumn', '2026-10-25', 'Europe/Berlin', 25],
		['whose last hour comes twice', '2026-04-04', 'America/Santiago', 25],
		['after it', '2026-04-05', 'America/Santiago', 24],
		['before one without midnight', '2026-09-05', 'America/Santiago', 24],
		['without midnight', '2026-09-06', 'America/Santiago', 23],
		['with two midnights', '2026-11-01', 'America/Havana', 25],
		['before one with two midnights', '2026-10-31', 'America/Havana', 24],
		['that changes by half an hour', '2026-04-05', 'Australia/Lord_Howe', 24.5],
	])('means the whole day: %s', (_kind, day, zone, hours) => {
		expect(hoursOf(day, zone)).toBe(hours);
	});

	test.each(['2026-03-28T00:00:00', '2026-03-28 00:00', '2026-03-28T00:00:00.000'])(
		'is not %s',
		(value) => {
			const midnight = utc('2026-03-27T23:00:00');
			expect(toInstant(value, 'Europe/Berlin', 'end')).toBe(midnight);
			expect(toInstant(value, 'Europe/Berlin', 'until')).toBe(midnight);
		},
	);
});

describe('toDate', () => {
	test.each([
		['2026-03-01', '2026-03-01'],
		['2026-03-01T00:00:00', '2026-03-01'],
		['2026-03-01T23:30:00Z', '2026-03-02'],
		[utc('2026-03-01T23:30:00'), '2026-03-02'],
		[DateTime.fromISO('2026-03-01T12:00:00Z'), '2026-03-01'],
	])('%p is the date %s in Berlin', (value, date) => {
		expect(toDate(value, 'Europe/Berlin')).toBe(date);
	});

	test('returns nothing for an invalid date', () => {
		expect(toDate('yesterday', 'UTC')).toBeUndefined();
	});
});

describe('toRange', () => {
	test('reads an entry’s time without offset in the zone, wherever the process runs', () => {
		const end = Date.parse('2026-10-25T02:30:00+02:00');
		const { includes } = toRange(undefined, end, 'Europe/Berlin');
		expect(includes('2026-10-25T01:50:00')).toBe(true);
		expect(includes('2026-10-25T02:20:00')).toBe(true);
		expect(includes('2026-10-25T02:40:00+02:00')).toBe(false);
		expect(includes('2026-10-25T02:40:00+01:00')).toBe(false);
	});

	test('sends times as wall-clock times of the time zone', () => {
		const start = utc('2026-03-29T08:00:00');
		expect(toRange(start, undefined, 'Europe/Berlin').query.start).toBe('2026-03-29 10:00:00');
		expect(toRange(start, undefined, 'America/New_York').query.start).toBe('2026-03-29 04:00:00');
		expect(toRange(undefined, start, 'Asia/Kolkata').query).toEqual({
			start: undefined,
			end: '2026-03-29 13:30:00',
		});
	});

	test.each([
		['spring, 23 hours', '2026-03-28T23:00:00', '2026-03-29T22:00:00', '2026-03-29', '2026-03-30'],
		['autumn, 25 hours', '2026-10-24T22:00:00', '2026-10-25T23:00:00', '2026-10-25', '2026-10-26'],
	])('a day of daylight saving: %s', (_name, start, end, from, to) => {
		const range = toRange(utc(start), utc(end), 'Europe/Berlin');
		expect(range.query).toEqual({ start: `${from} 00:00:00`, end: `${to} 00:00:00` });
	});

	test('both passes of the repeated hour request the wide range, and leave out other lifelogs', () => {
		const first = toRange(utc('2026-10-25T00:30:00'), utc('2026-10-25T00:45:00'), 'Europe/Berlin');
		const second = toRange(utc('2026-10-25T01:30:00'), utc('2026-10-25T01:45:00'), 'Europe/Berlin');
		const wire = { start: '2026-10-25 01:30:00', end: '2026-10-25 03:45:00' };
		expect(first.query).toEqual(wire);
		expect(second.query).toEqual(wire);
		expect(first.includes('2026-10-25T02:40:00+02:00')).toBe(true);
		expect(first.includes('2026-10-25T02:40:00+01:00')).toBe(false);
		expect(second.includes('2026-10-25T02:40:00+02:00')).toBe(false);
		expect(second.includes('2026-10-25T02:40:00+01:00')).toBe(true);
	});

	test('fractions of a second are widened, and lifelogs outside the exact range are left out', () => {
		const range = toRange(utc('2026-05-01T10:00:00.400'), utc('2026-05-01T23:59:59.999'), 'UTC');
		expect(range.query).toEqual({ start: '2026-05-01 10:00:00', end: '2026-05-02 00:00:00' });
		expect(range.includes('2026-05-01T10:00:00.300Z')).toBe(false);
		expect(range.includes('2026-05-01T10:00:00.400Z')).toBe(true);
		expect(range.includes('2026-05-01T23:59:59.999Z')).toBe(true);
		expect(range.includes('2026-05-02T00:00:00Z')).toBe(false);
	});

	test("if the range wasn't widened, all entries of the service are kept", () => {
		const range = toRange(utc('2026-05-01T10:00:00'), utc('2026-05-01T11:00:00'), 'UTC');
		expect(range.includes('2026-05-01T09:30:00Z')).toBe(true);
		expect(range.includes('2026-05-01T11:00:00Z')).toBe(true);
	});
});
