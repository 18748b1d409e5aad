import type { AudioSpan } from './api.mts';
import type { Line } from './lines.mts';

/** Shorter pauses between lines aren't skipped. */
const MIN_PAUSE_MS = 1_500;
/** Browsers round positions when seeking, some of them down. */
const TOLERANCE_MS = 1;

/** The position of an instant in the audio, in ms. In a pause, the position after it. */
export function positionOf(spans: AudioSpan[], ms: number): number {
	const span = spans.find(({ endMs }) => ms < endMs) ?? spans.at(-1)!;
	const into = Math.min(Math.max(0, ms - span.startMs), span.endMs - span.startMs);
	return span.positionMs + into;
}

/** The instant (Unix ms) at a position in the audio. */
export function instantOf(spans: AudioSpan[], positionMs: number): number {
	const span = spans.findLast((each) => each.positionMs <= positionMs + TOLERANCE_MS) ?? spans[0];
	const into = Math.max(0, positionMs - span.positionMs);
	return Math.min(span.endMs, span.startMs + into);
}

/** The start of the next line, if a long pause comes before it. */
export function endOfPause(lines: Line[], ms: number): number | undefined {
	let reached = -Infinity;
	for (const line of lines) {
		if (line.type !== 'said' || line.startMs === undefined) continue;
		if (line.startMs > ms) {
			return ms >= reached && line.startMs - ms > MIN_PAUSE_MS ? line.startMs : undefined;
		}
		reached = Math.max(reached, line.endMs ?? line.startMs);
	}
	return undefined;
}
