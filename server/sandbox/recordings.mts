import { readFileSync } from 'node:fs';
import type { Audio } from '../index/store.mts';
import type { Lifelog } from '../../lifelog/api.ts';
import { planAudio, readClip } from './clip.mts';

const clip = readClip(readFileSync(new URL('clip.ogg', import.meta.url)));

/**
 * The audio between two instants (Unix milliseconds); undefined without audio. Every lifelog counts
 * as recorded from start to end. `lifelogs` are sorted by start.
 */
export function recordingOf(
	lifelogs: Lifelog[],
	startMs: number,
	endMs: number,
): Audio | undefined {
	const durationMs = recordedMs(lifelogs, startMs, endMs);
	if (durationMs === 0) return undefined;
	const serial = Math.floor(startMs / 1000);
	return { ...planAudio(clip, durationMs, serial), tag: `${serial}-${durationMs}` };
}

/** Milliseconds of the range inside lifelogs. Overlaps count once. */
function recordedMs(lifelogs: Lifelog[], startMs: number, endMs: number): number {
	let total = 0;
	let reached = startMs;
	for (const lifelog of lifelogs) {
		const from = Math.max(reached, Date.parse(lifelog.startTime));
		const to = Math.min(endMs, Date.parse(lifelog.endTime));
		if (to > from) {
			total += to - from;
			reached = to;
		}
	}
	return total;
}
