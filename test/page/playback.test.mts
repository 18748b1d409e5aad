import { endOfPause, instantOf, positionOf } from '../../server/page/src/playback.mts';
import type { Line } from '../../server/page/src/lines.mts';

/** Two stretches of 30 s with ten minutes between them, which begin at no whole microsecond. */
const SPANS = [
	{ startMs: 0, endMs: 30_000.020_8, positionMs: 0 },
	{ startMs: 630_000, endMs: 660_000, positionMs: 30_000.020_8 },
];
const said = (startMs: number): Line => ({
	...{ type: 'said', text: 'Hm', speaker: null, isNewSpeaker: false },
	...{ startMs, endMs: startMs + 1_000 },
});

test('a time stays the same if the browser rounds positions down', () => {
	const positionMs = positionOf(SPANS, 630_000);
	expect(positionMs).toBe(30_000.020_8);
	expect(instantOf(SPANS, positionMs)).toBe(630_000);
	expect(instantOf(SPANS, Math.floor(positionMs))).toBe(630_000);
	// Nothing is left to skip from there on.
	expect(endOfPause([said(1_000), said(630_000)], 630_000)).toBeUndefined();
	expect(instantOf(SPANS, positionMs - 500)).toBeCloseTo(29_500, 0);
});

test('a time in a gap of the audio plays from the next part', () => {
	expect(positionOf(SPANS, 300_000)).toBe(30_000.020_8);
	expect(positionOf(SPANS, 700_000)).toBe(60_000.020_8);
	expect(instantOf(SPANS, 90_000)).toBe(660_000);
	expect(endOfPause([said(1_000), said(630_000)], 5_000)).toBe(630_000);
	expect(endOfPause([said(1_000), said(3_000)], 2_000)).toBeUndefined();
});
