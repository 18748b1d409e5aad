// Times and days, in any form and zone.
import fc from 'fast-check';
import { DateTime, FixedOffsetZone } from 'luxon';
import { beginsOn } from '../../../lifelog/summary/summary.ts';
import {
	durationOf,
	instantOf,
	toDate,
	toInstant,
	toRange,
	wallClockOf,
} from '../../../lifelog/times.ts';
import { lifelogFiles } from '../../../server/archive/lifelogFiles.mts';
import { parseLifelog } from '../../../server/archive/entries.mts';
import { parseInstant } from '../../../server/util/times.mts';
import type { Lifelog } from '../../../lifelog/api.ts';

const ZONES = [
	...['UTC', 'Europe/Berlin', 'America/Vancouver', 'America/Havana', 'America/Santiago'],
	...['Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Kiritimati', 'Pacific/Apia'],
];
const zone = fc.constantFrom(...ZONES);
const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2035, 0) });
const second = instant.map((ms) => ms - (ms % 1000));

const DATES = ['yyyy-MM-dd', 'yyyyMMdd', "kkkk-'W'WW-c", "kkkk'W'WWc", 'yyyy-ooo', 'yyyyooo'];
const TIMES = ['HH:mm:ss', 'HHmmss', 'HH:mm:ss.SSS', 'HHmmss,SSS'];
/** Every way to write a time of ISO 8601, with an offset or without one. */
const form = fc
	.tuple(
		fc.constantFrom(...DATES),
		fc.constantFrom("'T'", ' '),
		fc.constantFrom(...TIMES),
		fc.constantFrom('', 'ZZ', 'ZZZ', ' ZZ'),
	)
	.map((parts) => parts.join(''));

const write = (ms: number, inZone: string, as: string) =>
	DateTime.fromMillis(ms, { zone: inZone, locale: 'en' }).toFormat(as);

test('everything reads the same forms: nodes, archive, its reader, and the server', () => {
	fc.assert(
		fc.property(second, zone, form, (ms, inZone, as) => {
			const hasOffset = as.includes('ZZ');
			const time = write(ms, hasOffset ? inZone : 'UTC', as);
			expect(instantOf(time, 'UTC')).toBe(ms);
			expect(toInstant(time, 'UTC', 'until')).toBe(ms);
			expect(durationOf({ startTime: time, endTime: time }, 'UTC')).toBe(0);
			expect(parseInstant('start', time, 'UTC')).toBe(ms);
			const lifelog = { id: 'a', title: 'A', contents: [], isStarred: false } as unknown as Lifelog;
			Object.assign(lifelog, { startTime: time, endTime: time, updatedAt: time });
			const written = JSON.parse(lifelogFiles(lifelog, 'UTC')!.json.content) as Lifelog;
			expect(written).toMatchObject({
				startTime: new Date(ms).toISOString(),
				endTime: new Date(ms).toISOString(),
			});
			expect(parseLifelog(JSON.stringify(lifelog), 'a')).toEqual(written);
		}),
		{ numRuns: 300 },
	);
});

test('what the clocks show at an instant is that instant again, to the second', () => {
	fc.assert(
		fc.property(second, fc.nat(999), zone, (ms, more, inZone) => {
			const { day, time, offset = '' } = wallClockOf(ms + more, inZone);
			expect(instantOf(`${day}T${time}${offset}`, inZone)).toBe(ms);
			expect(`${day} ${time}`).toBe(write(ms, inZone, 'yyyy-MM-dd HH:mm:ss'));
			if (offset) expect(offset).toBe(write(ms, inZone, 'ZZ'));
		}),
		{ numRuns: 1000 },
	);
	// Lord Howe's clocks go back by half an hour.
	const twice = Date.parse('2026-04-04T14:45:00Z');
	expect(wallClockOf(twice, 'Australia/Lord_Howe').offset).toBe('+11:00');
	expect(wallClockOf(twice + 1_800_000, 'Australia/Lord_Howe').offset).toBe('+10:30');
	expect(wallClockOf(twice + 3_600_000, 'Australia/Lord_Howe').offset).toBeUndefined();
});

test.each(['2026-03-01 10:00:00', '20260301T100000Z', '2026-W09-7T10:00:00Z', '2026-03-01t10:00z'])(
	'%s is a time',
	(time) => {
		expect(instantOf(time, 'UTC')).toBe(Date.parse('2026-03-01T10:00:00Z'));
	},
);

describe('a day', () => {
	/** A service whose rules for a zone are another offset from some instant on. */
	const rules = fc.record({
		zone,
		changeMs: instant,
		minutes: fc.integer({ min: -14 * 4, max: 14 * 4 }).map((quarters) => quarters * 15),
	});

	test('has the lifelogs that the service lists under it, whatever its rules for the zone', () => {
		fc.assert(
			fc.property(
				rules,
				fc.array(instant, { maxLength: 20 }),
				({ zone, changeMs, minutes }, starts) => {
					const timeOf = (ms: number) =>
						DateTime.fromMillis(ms, {
							zone: ms < changeMs ? zone : FixedOffsetZone.instance(minutes),
						});
					const near = starts.map((ms, nth) => (nth % 2 ? ms : changeMs + (ms % 864e5)));
					for (const ms of near) {
						const time = timeOf(ms);
						const startTime = time.toFormat("yyyy-MM-dd'T'HH:mm:ss.SSSZZ");
						const days = [-1, 0, 1].map((more) => time.plus({ days: more }).toISODate()!);
						expect(days.map((day) => beginsOn(startTime, day, zone))).toEqual([false, true, false]);
					}
				},
			),
		);
	});

	test('of Vancouver in November 2026 ends as the service says', () => {
		const at = '2026-11-15T23:30:00-08:00';
		const days = ['2026-11-14', '2026-11-15', '2026-11-16'];
		expect(days.map((day) => beginsOn(at, day, 'America/Vancouver'))).toEqual([false, true, false]);
	});

	test('as a range has no lifelog of the day before or after, whose times are in the zone or in UTC', () => {
		fc.assert(
			fc.property(
				instant,
				zone,
				fc.integer({ min: -999, max: 999 }),
				fc.boolean(),
				(ms, inZone, more, isUtc) => {
					const day = toDate(ms, inZone)!;
					const from = toInstant(day, inZone, 'start');
					const to = toInstant(day, inZone, 'end')!;
					const begin = DateTime.fromMillis(to + 1 + more, { zone: isUtc ? 'utc' : inZone });
					expect(toRange(from, to, inZone).includes(begin.toISO()!)).toBe(more < 0);
				},
			),
		);
	});

	test.each(['2026-03-02T00:00:00.000Z', '2026-03-02T00:00:00.001Z', '2026-03-02T00:00:00.999Z'])(
		'that ends a range has no lifelog at %s',
		(startTime) => {
			const to = toInstant('2026-03-01', 'UTC', 'end');
			expect(toRange(undefined, to, 'UTC').includes(startTime)).toBe(false);
		},
	);
});
