import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes } from '../../lifelog/contents.ts';

/** A time span in epoch ms. */
export interface Span {
	startMs: number;
	endMs: number;
}

/** Spans with other spans cut out. */
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

/** Spans in order of time, with adjacent ones joined. */
export function joinSpans(spans: readonly Span[]): Span[] {
	const joined: Span[] = [];
	for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
		const last = joined.at(-1);
		if (last && last.endMs >= startMs) last.endMs = Math.max(last.endMs, endMs);
		else joined.push({ startMs, endMs });
	}
	return joined;
}

/** The time spans of a lifelog: its own times, and those of its utterances. */
export function spansOf({ startTime, endTime, contents }: Lifelog): Span[] {
	const own = { startMs: Date.parse(startTime), endMs: Date.parse(endTime) };
	const said: Span = { startMs: Infinity, endMs: -Infinity };
	for (const { type, startTime: from, endTime: to } of contentNodes(contents)) {
		if (type !== 'blockquote' || !from || !to) continue;
		said.startMs = Math.min(said.startMs, Date.parse(from));
		said.endMs = Math.max(said.endMs, Date.parse(to));
	}
	return said.endMs >= said.startMs ? [own, said] : [own];
}
