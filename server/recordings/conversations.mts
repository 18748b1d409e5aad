import type { Segment } from './segments.mts';

/** What was said without a long pause. */
export interface Conversation {
	/** Whole seconds in ms, after the start of the recording. */
	startMs: number;
	/** Their times are after `startMs`. */
	segments: Segment[];
}

/** Without speech for so long, a conversation has ended. */
export const PAUSE_MS = 10 * 60_000;

/**
 * Splits what was said in a recording where nobody spoke for ten minutes or more. Each part begins in
 * the second in which its first segment begins.
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
