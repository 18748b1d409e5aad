import fc from 'fast-check';
import {
	archiveName,
	cutIntoChunks,
	joinAdjacent,
	withTimes,
} from '../../../nodes/LifelogAudio/chunks.ts';
import { widen } from '../../../nodes/LifelogAudio/range.ts';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.parse('2026-03-01T09:00:00Z');
const lengths = (range: { startMs: number; endMs: number }, chunkMs: number) =>
	cutIntoChunks(range, chunkMs).map(({ startMs, endMs }) => endMs - startMs);

describe('chunks', () => {
	test.each([
		['two hours', 2 * hour, [2 * hour]],
		['two hours and a millisecond', 2 * hour + 1, [2 * hour, 1]],
		['a millisecond less than two hours', 2 * hour - 1, [2 * hour - 1]],
		['a day', 24 * hour, Array.from({ length: 12 }, () => 2 * hour)],
		['a millisecond', 1, [1]],
	])('of %s', (_name, length, expected) => {
		expect(lengths({ startMs: start, endMs: start + length }, 2 * hour)).toEqual(expected);
	});

	test('round fractions of milliseconds outward', () => {
		expect(cutIntoChunks({ startMs: start + 0.4, endMs: start + 1.2 }, minute)).toEqual([
			{ startMs: start, endMs: start + 2 },
		]);
	});

	const instant = fc.double({ min: 0, max: 4e12, noNaN: true });
	const range = fc
		.tuple(instant, fc.double({ min: 0.001, max: 400 * hour, noNaN: true }))
		.map(([from, length]) => ({ startMs: from, endMs: from + length }))
		.filter(({ startMs, endMs }) => endMs > startMs);
	const chunkMs = fc.integer({ min: 1, max: 120 }).map((minutes) => minutes * minute);

	test('contain each millisecond of the range once, in order, and have the maximum length', () => {
		fc.assert(
			fc.property(range, chunkMs, (span, length) => {
				const chunks = cutIntoChunks(span, length);
				const bounds = [...chunks.slice(1).map(({ startMs }) => startMs), Math.ceil(span.endMs)];
				const lasts = chunks.map(({ startMs, endMs }) => endMs - startMs);
				expect(chunks[0].startMs).toBe(Math.floor(span.startMs));
				expect(chunks.map(({ endMs }) => endMs)).toEqual(bounds);
				expect(bounds.every(Number.isInteger)).toBe(true);
				expect(lasts.slice(0, -1).every((ms) => ms === length)).toBe(true);
				expect(lasts.at(-1)).toBeGreaterThan(0);
				expect(lasts.at(-1)).toBeLessThanOrEqual(length);
			}),
		);
	});

	test('joined together are the range', () => {
		fc.assert(
			fc.property(range, chunkMs, (span, length) => {
				const [joined, ...rest] = joinAdjacent(cutIntoChunks(span, length));
				expect(rest).toEqual([]);
				expect(joined).toEqual({
					startMs: Math.floor(span.startMs),
					endMs: Math.ceil(span.endMs),
				});
			}),
		);
	});

	test('with a gap between them stay separate', () => {
		const [first, second, , fourth] = cutIntoChunks({ startMs: 0, endMs: 4 }, 1);
		expect(joinAdjacent([first, second, fourth])).toEqual([
			{ startMs: 0, endMs: 2 },
			{ startMs: 3, endMs: 4 },
		]);
		expect(first).toEqual({ startMs: 0, endMs: 1 });
	});

	test('that failed in different ways stay separate', () => {
		const [first, second, third] = cutIntoChunks({ startMs: 0, endMs: 3 }, 1);
		const failed = [
			{ ...first, message: 'a' },
			{ ...second, message: 'a' },
			{ ...third, message: 'b' },
		];
		expect(joinAdjacent(failed)).toEqual([
			{ startMs: 0, endMs: 2, message: 'a' },
			{ startMs: 2, endMs: 3, message: 'b' },
		]);
	});
});

test.each([
	['in the past', 10_000, 20_000, 5_000, 100_000, [5_000, 25_000]],
	['near 1970', 3_000, 20_000, 5_000, 100_000, [0, 25_000]],
	['near now', 10_000, 20_000, 5_000, 22_000, [5_000, 22_000]],
	['still going on by the clock', 10_000, 20_000, 5_000, 19_000, [5_000, 20_000]],
	['without padding', 10_000, 20_000, 0, 100_000, [10_000, 20_000]],
])('a lifelog %s is widened', (_where, startMs, endMs, padding, now, [from, to]) => {
	expect(widen({ startMs, endMs }, padding, now)).toEqual({ startMs: from, endMs: to });
});

describe('a file', () => {
	test('has a name that sorts by time', () => {
		const names = cutIntoChunks({ startMs: start, endMs: start + 30 * hour }, 90 * minute).map(
			(chunk) => archiveName(chunk),
		);
		expect(names[0]).toBe('audio_20260301T090000Z_20260301T103000Z.ogg');
		expect([...names].sort()).toEqual(names);
	});

	test('has its times with the offset of the time zone', () => {
		expect(withTimes({ startMs: start, endMs: start + 1 }, 'America/St_Johns')).toEqual({
			startMs: start,
			endMs: start + 1,
			startTime: '2026-03-01T05:30:00.000-03:30',
			endTime: '2026-03-01T05:30:00.001-03:30',
		});
	});
});
