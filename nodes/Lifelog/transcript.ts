import type { Lifelog } from '../shared/api/apiTypes';
import { isOffset, transcriptText, type Utterance, utterances } from '../shared/content/utterances';
import { instantOf } from '../shared/util/dateTimes';
import { beginning, pieces } from '../shared/util/text';

/** Something said, and its place in the transcript. */
export interface Placed {
	utterance: Utterance;
	/**
	 * ms after the start of the lifelog, later than the place of what stands before it: its own start
	 * or, where that is missing or not later, the next free one. So each has a place of its own, from
	 * which a transcript goes on without loss or repetition.
	 */
	atMs: number;
}

/** Left of a line for the words; a name of who speaks that would take more of it is cut. */
const MIN_WORDS = 50;
const LEFT_OUT = '…';

/**
 * What was said in a lifelog, each thing at its place.
 *
 * @param zone In which a time without offset is read.
 * @param most Longer lines, in UTF-16 units, are divided; 0 for none.
 */
export function placedUtterances(lifelog: Lifelog, zone: string, most = 0): Placed[] {
	const begin = instantOf(lifelog.startTime, zone);
	let last = -1;
	return utterances(lifelog).flatMap((utterance) => {
		const start = startOf(utterance, begin, zone);
		return dividedBy(most, utterance).map((part) => {
			last = Math.max(last + 1, start ?? 0);
			return { utterance: part, atMs: last };
		});
	});
}

/**
 * A transcript as text, a line for each thing said, cut behind a line where it would be too long.
 *
 * @param most In UTF-16 units; 0 for all of it. Lines are not longer.
 * @returns With the place of the first thing left out, if any is.
 */
export function textOf(
	placed: Placed[],
	most: number,
): { text: string; isTruncated?: true; nextOffsetMs?: number } {
	const lines: string[] = [];
	let length = -1;
	for (const { utterance, atMs } of placed) {
		const line = transcriptText([utterance]);
		length += 1 + line.length;
		if (most > 0 && length > most && lines.length > 0) {
			return { text: lines.join('\n'), isTruncated: true, nextOffsetMs: atMs };
		}
		lines.push(line);
	}
	return { text: lines.join('\n') };
}

function startOf(
	{ startOffsetMs, startTime }: Utterance,
	begin: number | undefined,
	zone: string,
): number | undefined {
	if (isOffset(startOffsetMs)) return Math.floor(startOffsetMs);
	const instant = instantOf(startTime, zone);
	return instant === undefined || begin === undefined ? undefined : instant - begin;
}

function dividedBy(most: number, utterance: Utterance): Utterance[] {
	const line = transcriptText([utterance]);
	if (most === 0 || line.length <= most) return [utterance];
	const lead = transcriptText([{ ...utterance, text: '' }]);
	const words = line.slice(lead.length);
	const name = lead.slice(0, -': '.length);
	const longest = most - MIN_WORDS - ': '.length;
	const speaker =
		name.length > longest ? `${beginning(name, longest - LEFT_OUT.length)}${LEFT_OUT}` : name;
	const parts = pieces(words, most - speaker.length - ': '.length);
	return (parts.length > 0 ? parts : ['']).map((text) => ({ ...utterance, speaker, text }));
}
