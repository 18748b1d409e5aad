import type { Lifelog } from '../../lifelog/api.ts';
import { placeMsOf, transcriptText, type Utterance, utterances } from '../../lifelog/contents.ts';
import { instantOf } from '../../lifelog/times.ts';
import { beginning, splitText } from '../../lifelog/text.ts';

/** Something said, and its place in the transcript. */
export interface Placed {
	utterance: Utterance;
	/**
	 * ms after the start of the lifelog: its own start or, if that is missing or not later than the
	 * place before, the next one. So a transcript can go on at each place without loss or repetition.
	 */
	atMs: number;
}

/** Kept free in a line for the words; a longer name is cut. */
const MIN_TEXT_LENGTH = 50;
const LEFT_OUT = '…';

/**
 * @param zone Of times without offset.
 * @param maxLength Longer lines, in UTF-16 units, are divided; 0 for no maximum.
 */
export function placedUtterances(lifelog: Lifelog, zone: string, maxLength = 0): Placed[] {
	const begin = instantOf(lifelog.startTime, zone);
	let last = -1;
	return utterances(lifelog).flatMap((utterance) => {
		const { startOffsetMs, startTime } = utterance;
		const start = Math.floor(placeMsOf(startOffsetMs, startTime, begin, zone) ?? 0);
		return dividedBy(maxLength, utterance).map((part) => {
			last = Math.max(last + 1, start);
			return { utterance: part, atMs: last };
		});
	});
}

/**
 * A transcript as text, a line for each thing said.
 *
 * @param maxLength In UTF-16 units, at least the length of a line; 0 for all of it.
 * @returns With the place of the first line that was cut off, if any.
 */
export function textOf(
	placed: Placed[],
	maxLength: number,
): { text: string; isTruncated?: true; nextOffsetMs?: number } {
	const lines: string[] = [];
	let length = -1;
	for (const { utterance, atMs } of placed) {
		const line = transcriptText([utterance]);
		length += 1 + line.length;
		if (maxLength > 0 && length > maxLength && lines.length > 0) {
			return { text: lines.join('\n'), isTruncated: true, nextOffsetMs: atMs };
		}
		lines.push(line);
	}
	return { text: lines.join('\n') };
}

function dividedBy(maxLength: number, utterance: Utterance): Utterance[] {
	const line = transcriptText([utterance]);
	if (maxLength === 0 || line.length <= maxLength) return [utterance];
	const lead = transcriptText([{ ...utterance, text: '' }]);
	const words = line.slice(lead.length);
	const name = lead.slice(0, -': '.length);
	const maxNameLength = maxLength - MIN_TEXT_LENGTH - ': '.length;
	const speaker =
		name.length > maxNameLength
			? `${beginning(name, maxNameLength - LEFT_OUT.length)}${LEFT_OUT}`
			: name;
	const parts = splitText(words, maxLength - speaker.length - ': '.length);
	return (parts.length > 0 ? parts : ['']).map((text) => ({ ...utterance, speaker, text }));
}
