// Keeps corrected lines when a recording is transcribed again.
import type { Lifelog } from '../../lifelog/api.ts';
import { contentNodes, isUtterance } from '../../lifelog/contents.ts';
import { isLabel } from '../../lifelog/speakers.ts';
import type { Span } from '../util/spans.mts';
import type { EditedLine, LifelogEntry } from './layout.mts';
import { withLines } from './lines.mts';
import { placeOf } from './spoken.mts';

/** A line and its time, epoch ms. */
interface Timed extends Span {
	startOffsetMs: number;
	was: string;
}

/**
 * The corrected lines of former lifelogs that fit a new one: the same words at the same time.
 * Replacements are already applied in the new one.
 *
 * @param heard Its words before any correction.
 */
export function linesThatFit(
	former: { entry: LifelogEntry; stored: Lifelog }[],
	{ lifelog, heard }: { lifelog: Lifelog; heard: string[] },
): EditedLine[] {
	const lines = timedLines(lifelog).map((line, nth) => ({ ...line, heard: heard[nth] }));
	const fitting = former.flatMap(({ entry: { edited }, stored }) => {
		const spans = spansByPlace(stored);
		return (edited?.lines ?? []).flatMap((line) => {
			const beginMs = Date.parse(stored.startTime) + line.startOffsetMs;
			const span = spans.get(placeOf(line)) ?? { startMs: beginMs, endMs: beginMs };
			const [best] = lines
				.filter((each) => [each.heard, each.was].includes(line.was))
				.map(({ startOffsetMs, was, ...at }) => ({
					...{ startOffsetMs, was },
					overlapMs: Math.min(at.endMs, span.endMs) - Math.max(at.startMs, span.startMs),
				}))
				.filter(({ overlapMs }) => overlapMs >= 0)
				.sort((a, b) => b.overlapMs - a.overlapMs);
			if (!best) return [];
			const { startOffsetMs, was } = best;
			return [{ ...ofNewTranscript(line), startOffsetMs, was }];
		});
	});
	return withLines([], fitting);
}

/** A corrected line without what was true only of the former transcript. */
function ofNewTranscript({ text, speaker, typed, replaced, ...line }: EditedLine): EditedLine {
	const isTyped = replaced === undefined || typed !== undefined;
	const isNamed = speaker !== undefined && !isLabel(speaker);
	return { ...line, ...(isTyped && { text, typed, replaced }), ...(isNamed && { speaker }) };
}

/** The lines of a lifelog that have a time, in order. */
function timedLines({ contents, startTime }: Lifelog): Timed[] {
	const beginMs = Date.parse(startTime);
	return [...contentNodes(contents)].flatMap((node) => {
		const { startOffsetMs, endOffsetMs = startOffsetMs, content: was } = node;
		if (!isUtterance(node) || typeof startOffsetMs !== 'number') return [];
		const [startMs, endMs] = [startOffsetMs, endOffsetMs ?? startOffsetMs];
		return [{ startOffsetMs, was, startMs: beginMs + startMs, endMs: beginMs + endMs }];
	});
}

const spansByPlace = (lifelog: Lifelog) =>
	new Map(timedLines(lifelog).map((line) => [placeOf(line), line]));
