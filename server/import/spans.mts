/** A span of time in epoch ms. */
export interface Span {
	startMs: number;
	endMs: number;
}

/** What is left of spans where others are taken out. */
export function without(spans: readonly Span[], taken: readonly Span[]): Span[] {
	return taken.reduce<Span[]>(
		(left, { startMs, endMs }) =>
			left
				.flatMap((span) => [
					{ startMs: span.startMs, endMs: Math.min(span.endMs, startMs) },
					{ startMs: Math.max(span.startMs, endMs), endMs: span.endMs },
				])
				.filter((span) => span.endMs > span.startMs),
		spans.map(({ startMs, endMs }) => ({ startMs, endMs })),
	);
}
