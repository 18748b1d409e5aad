/** A range of time: epoch ms, the start in it, the end not. */
export interface TimeSpan {
	startMs: number;
	endMs: number;
}

/**
 * Cuts a range into chunks that lie end to end: each millisecond is in exactly one, and only the
 * last may be shorter than the others. Fractions of milliseconds are rounded outward, so that
 * nothing of the range is left out.
 *
 * @param range Its end is later than its start.
 * @param chunkMs The length of a chunk, in whole ms above 0.
 */
export function cutIntoChunks({ startMs, endMs }: TimeSpan, chunkMs: number): TimeSpan[] {
	const end = Math.ceil(endMs);
	const chunks: TimeSpan[] = [];
	for (let start = Math.floor(startMs); start < end; start += chunkMs) {
		chunks.push({ startMs: start, endMs: Math.min(start + chunkMs, end) });
	}
	return chunks;
}

/** Joins what lies end to end. @param spans In order of time. */
export function joinAdjacent(spans: TimeSpan[]): TimeSpan[] {
	const joined: TimeSpan[] = [];
	for (const span of spans) {
		const last = joined.at(-1);
		if (last?.endMs === span.startMs) last.endMs = span.endMs;
		else joined.push({ ...span });
	}
	return joined;
}

/**
 * Widens the range of a lifelog by padding on both sides, but not to before 1970 nor to after now.
 *
 * @param now Epoch ms. A lifelog that ends later keeps its end.
 */
export function widen({ startMs, endMs }: TimeSpan, paddingMs: number, now: number): TimeSpan {
	return {
		startMs: Math.max(0, startMs - paddingMs),
		endMs: Math.max(endMs, Math.min(endMs + paddingMs, now)),
	};
}
