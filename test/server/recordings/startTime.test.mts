import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { splitAtPauses } from '../../../server/recordings/conversations.mts';
import { startOf } from '../../../server/recordings/startTime.mts';
import { seededRandom } from '../../support/seededRandom.mts';

const iso = (ms: number) => new Date(ms).toISOString();
const MINUTE_MS = 60_000;
const known = {
	modifiedMs: Date.parse('2026-03-02T10:00:00Z'),
	durationMs: 10 * MINUTE_MS,
	timezone: 'Europe/Berlin',
	nowMs: Date.parse('2026-11-23T12:00:00Z'),
};
const startBy = (more: Partial<Parameters<typeof startOf>[0]>) => {
	const { startMs, from } = startOf({ ...known, ...more });
	return [iso(startMs), from];
};

describe('the start of a recording', () => {
	const createdMs = Date.parse('2026-03-01T09:30:00Z');
	const fileName = '20260301 090412.m4a';

	test('comes from the best source', () => {
		const given = Date.parse('2026-02-01T08:00:00Z');
		expect(startBy({ given, fileName, createdMs })).toEqual(['2026-02-01T08:00:00.000Z', 'upload']);
		expect(startBy({ fileName, createdMs })).toEqual(['2026-03-01T08:04:12.000Z', 'fileName']);
		expect(startBy({ fileName: 'note.m4a', createdMs })).toEqual([
			...['2026-03-01T09:20:00.000Z', 'container'],
		]);
		expect(startBy({ fileName: 'note.m4a' })).toEqual(['2026-03-02T09:50:00.000Z', 'modified']);
	});

	test.each([
		['20260301 090412.m4a', '2026-03-01T08:04:12.000Z'],
		['20260301 090412-0430AB12.m4a', '2026-03-01T08:04:12.000Z'],
		['2026-03-01 09-04-12.wav', '2026-03-01T08:04:12.000Z'],
		['2026-03-01 09-04-12-0001.wav', '2026-03-01T08:04:12.000Z'],
		['2026-03-01T09:04:12+01:00.ogg', '2026-03-01T08:04:12.000Z'],
		['2026-03-01T09_04_12+05_30.ogg', '2026-03-01T03:34:12.000Z'],
		['2026-03-01T09:04:12-0330.ogg', '2026-03-01T12:34:12.000Z'],
		['2026-03-01T09:04:12.500Z.ogg', '2026-03-01T09:04:12.000Z'],
		['2026-03-01T09:04:12.500+01:00.ogg', '2026-03-01T08:04:12.000Z'],
		['2026-03-01T09-04-12-500Z.ogg', '2026-03-01T09:04:12.000Z'],
		['2026-03-01 09-04-12-500.ogg', '2026-03-01T08:04:12.000Z'],
		['audio_20260301T090412Z_kitchen.ogg', '2026-03-01T09:04:12.000Z'],
		['REC_2026_03_01_09_04_12.mp3', '2026-03-01T08:04:12.000Z'],
		['Zoom 20260301-090412.wav', '2026-03-01T08:04:12.000Z'],
		// The hour that spring leaves out is read as the one after it, of the hour that autumn repeats
		// the first counts.
		['20260329 023000.m4a', '2026-03-29T01:30:00.000Z'],
		['20261025 023000.m4a', '2026-10-25T00:30:00.000Z'],
		['20261340 090412 and 20260301 090412.m4a', '2026-03-01T08:04:12.000Z'],
	])('comes from the file name %s', (name, expected) => {
		expect(startBy({ fileName: name, createdMs })).toEqual([expected, 'fileName']);
	});

	test.each([
		'20260229 090412.m4a',
		'20260301 250412.m4a',
		'20260301 096012.m4a',
		'2026-03-01.m4a',
		'2026-0301 090412.m4a',
		'120260301 0904123.m4a',
		'19990301 090412.m4a',
		`${'x'.repeat(300)}20260301 090412.m4a`,
	])("doesn't come from the file name %s", (name) => {
		expect(startBy({ fileName: name })[1]).toBe('modified');
	});

	test('is never in the future, or before such recorders existed', () => {
		const last = '2026-11-23T11:50:00.000Z';
		const modified = ['2026-03-02T09:50:00.000Z', 'modified'];
		expect(startBy({ given: Date.parse('2027-01-01T00:00:00Z') })).toEqual([last, 'upload']);
		expect(startBy({ fileName: '20270101 000000.m4a' })).toEqual(modified);
		expect(startBy({ fileName: '20270101 000000 20260301 090412.m4a' })[1]).toBe('fileName');
		for (const year of ['1904', '1970', '1980', '2027', '2030', '2100']) {
			expect(startBy({ createdMs: Date.parse(year) + 1000 })).toEqual(modified);
		}
		expect(startBy({ modifiedMs: Date.parse('2030-01-01') })).toEqual([last, 'modified']);
		expect(startBy({ modifiedMs: 0 })).toEqual([last, 'modified']);
	});
});

describe("the documentation's tables of file names", () => {
	const [, section] = readFileSync(
		join(process.cwd(), 'docs/reference/recordings.md'),
		'utf8',
	).split('## Times in file names');
	const rows = [...section.split('\n## ')[0].matchAll(/^\| `([^`]+)` +\| (.*?) +\|$/gm)];
	const times = rows.flatMap(([, name, start]) => (/^\d{4}-/.test(start) ? [[name, start]] : []));
	const others = rows.flatMap(([, name, start]) => (/^\d{4}-/.test(start) ? [] : [[name, start]]));

	test('have both kinds', () => {
		expect(times.length).toBeGreaterThan(20);
		expect(others.length).toBeGreaterThan(10);
	});

	test.each(times)('%s: %s', (fileName, start) => {
		const [, local, zone = known.timezone] = /^(.{19})(?: (.*))?$/.exec(start)!;
		const startMs = DateTime.fromSQL(local, { zone }).toMillis();
		expect(startBy({ fileName })).toEqual([iso(startMs), 'fileName']);
	});

	test.each(others)('%s: %s', (fileName) => {
		expect(startBy({ fileName })[1]).toBe('modified');
	});
});

describe('times of any day in a file name', () => {
	const random = seededRandom(55);
	const upTo = (most: number) => Math.floor(random() * most);
	const days = Array.from({ length: 200 }, () =>
		DateTime.fromMillis(Date.UTC(2003) + upTo(20 * 365 * 24 * 3600) * 1000, { zone: 'UTC' }),
	);
	const dates = ['yyyyMMdd', 'yyyy-MM-dd', 'yyyy_MM_dd', 'yyyy.MM.dd', 'yyyy MM dd'];
	const between = [' ', '_', '-', ' - ', ', ', ' at ', '_at_', ' um ', ' à ', "'T'", ' @ ', '] ['];
	const clocks = ['HHmmss', 'HH-mm-ss', 'HH.mm.ss', 'HH_mm_ss', 'HH mm ss', 'H.mm.ss', 'HH:mm:ss'];
	const spoken = ["HH'h'mm'm'ss's'", "H'h'mm'm'ss's'", 'h.mm.ss a', 'h-mm-ssa', 'h.mm.ss\u202fa'];
	const short = ['HH-mm', 'HH.mm', 'HH_mm', "HH'h'mm", "HH'h'mm'm'", 'h.mm a'];
	const zones: [string, number][] = [
		...([
			['-05_00', 5],
			['+00:00', 0],
			['_Z', 0],
			[' UTC', 0],
			['_GMT', 0],
		] as [string, number][]),
		...([
			[' (UTC)', 0],
			[' GMT-8', 8],
			[' GMT+5:30', -5.5],
		] as [string, number][]),
	];
	const frames = [
		'%',
		'REC_%',
		'Voice %_kitchen',
		'Anna(0123456789)_%',
		'[%]',
		'DJI_01_%_D',
		'%-1',
	];
	const quoted = (text: string) =>
		/[a-z]/i.test(text) && !text.includes("'") ? text.replace(/[a-zà]+/gi, "'$&'") : text;

	test.each(dates)('written as %s', (date) => {
		for (const day of days) {
			for (const clock of [...clocks, ...spoken, ...short]) {
				const join = quoted(between[upTo(between.length)]);
				// After minutes, a minus can also be before the seconds.
				const possible = zones.slice(short.includes(clock) ? 1 : 0);
				const [zone, behind] = random() < 0.5 ? possible[upTo(possible.length)] : ['', 0];
				const time = day.toFormat(`${date}${join}${clock}`, { locale: 'en-US' });
				// A suffix belongs to no offset.
				const frame = zone === '' ? frames[upTo(frames.length)] : '%';
				const fileName = `${frame.replace('%', `${time}${zone}`)}.m4a`;
				const inZone = day
					.setZone(zone === '' ? known.timezone : 'UTC', { keepLocalTime: true })
					.plus({ hours: behind });
				const expected = short.includes(clock) ? inZone.startOf('minute') : inZone;
				expect([fileName, ...startBy({ fileName })]).toEqual([
					...[fileName, iso(expected.toMillis()), 'fileName'],
				]);
			}
		}
	});

	test('without any sign between, or with a short year', () => {
		for (const day of days) {
			for (const form of ['yyyyMMddHHmmss', 'yyMMdd_HHmmss', 'yyMMdd-HHmmss', 'yyMMdd HHmmss']) {
				const fileName = `${day.toFormat(form)}.WAV`;
				const local = day.setZone(known.timezone, { keepLocalTime: true });
				expect([fileName, ...startBy({ fileName })]).toEqual([
					...[fileName, iso(local.toMillis()), 'fileName'],
				]);
			}
		}
	});

	test('are in no phone number and no counter', () => {
		const digits = (count: number) => Array.from({ length: count }, () => upTo(10)).join('');
		for (let n = 0; n < 500; n += 1) {
			for (const name of [
				...[`+${digits(12)}`, `+20${digits(12)}`, `0049${digits(10)}`, digits(10), digits(13)],
				...[`(${digits(3)}) ${digits(3)}-${digits(4)}`, `0${digits(4)}-${digits(6)}`],
				...[`REC${digits(4)}`, `DM${digits(6)}`, `ZOOM${digits(4)}`, `${digits(6)}_${digits(3)}`],
				...[`20260301_00${digits(2)}`, `260301_00${digits(2)}`, `20260301-WA${digits(4)}`],
			]) {
				const fileName = `${name}.m4a`;
				expect([fileName, startBy({ fileName })[1]]).toEqual([fileName, 'modified']);
			}
		}
	});
});

describe('a pause of ten minutes starts a new lifelog', () => {
	const said = (startMs: number, endMs: number) => ({ text: `At ${startMs}.`, startMs, endMs });

	test('which begins in the second of its first segment', () => {
		const first = [said(30_400, 32_000), said(40_000, 900_000)];
		const [a, b] = [said(1_500_700, 1_501_000), said(1_502_000, 1_503_000)];
		expect(splitAtPauses([...first, a, b])).toEqual([
			{
				startMs: 30_000,
				segments: [
					{ ...first[0], startMs: 400, endMs: 2000 },
					{ ...first[1], startMs: 10_000, endMs: 870_000 },
				],
			},
			{
				startMs: 1_500_000,
				segments: [
					{ ...a, startMs: 700, endMs: 1000 },
					{ ...b, startMs: 2000, endMs: 3000 },
				],
			},
		]);
	});

	test('a shorter pause, or one in which somebody else speaks, starts no new lifelog', () => {
		expect(splitAtPauses([said(0, 1000), said(600_999, 601_999)])).toHaveLength(1);
		expect(splitAtPauses([said(0, 1000), said(601_000, 602_000)])).toHaveLength(2);
		const long = [said(0, 700_000), said(1000, 2000), said(1_200_000, 1_201_000)];
		expect(splitAtPauses(long)).toHaveLength(1);
		expect(splitAtPauses([])).toEqual([]);
	});
});
