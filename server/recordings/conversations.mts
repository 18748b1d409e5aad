import type { Segment } from './segments.mts';

/** Speech without a long pause. */
export interface Conversation {
	/** Whole seconds in ms, from the start of the recording. */
	startMs: number;
	/** Their times count from `startMs`. */
	segments: Segment[];
}

/** A conversation ends after this time without speech. */
export const PAUSE_MS = 10 * 60_000;

/**
 * Splits a recording at pauses of ten minutes or more. Each part starts at the whole second of its
 * first segment.
 *
 * @param segments By start.
 */
export function splitAtPauses(segments: Segment[]): Conversation[] {
	const conversations: Conversation[] = [];
	let endMs = -Infinity;
	for (const segment of segments) {
		if (segment.startMs - endMs >= PAUSE_MS) {
			conversations.push({ startMs: Math.floor(segment.startMs / 1000) * 1000, segments: [] });
		}
		const { startMs, segments: ofPart } = conversations.at(-1)!;
		ofPart.push({
			...segment,
			startMs: segment.startMs - startMs,
			endMs: segment.endMs - startMs,
		});
		endMs = Math.max(endMs, segment.endMs);
	}
	return conversations;
}
