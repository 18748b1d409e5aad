import { splitAtPauses } from '../../server/recordings/conversations.mts';
import { startOf } from '../../server/recordings/startTime.mts';

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
		expect(startBy({ given: Date.parse('2027-01-01T00:00:00Z') })).toEqual([last, 'upload']);
		expect(startBy({ fileName: '20270101 000000.m4a' })).toEqual([last, 'fileName']);
		expect(startBy({ createdMs: Date.parse('2030-01-01') })).toEqual([last, 'container']);
		expect(startBy({ modifiedMs: Date.parse('2030-01-01') })).toEqual([last, 'modified']);
		for (const year of ['1904', '1970', '1980']) {
			expect(startBy({ createdMs: Date.parse(year) + 1000 })[1]).toBe('modified');
		}
		expect(startBy({ modifiedMs: 0 })).toEqual([last, 'modified']);
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
