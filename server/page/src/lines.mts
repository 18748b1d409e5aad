import type { Lifelog } from '../../../lifelog/api.ts';
import { isUtterance, linesOf as linesIn } from '../../../lifelog/contents.ts';

/** A heading or an utterance. */
export type Line =
	| { type: 'heading'; level: number; text: string }
	| {
			type: 'said';
			text: string;
			/** Null if the service has no name. */
			speaker: string | null;
			/** Whether the previous line has another speaker. */
			isNewSpeaker: boolean;
			/** Unix ms; undefined if the service has no time. */
			startMs?: number;
			endMs?: number;
			/** Identifies the line for changes; undefined if it can't be changed. */
			startOffsetMs?: number;
	  };

export type Said = Extract<Line, { type: 'said' }>;

/** The displayed lines of a lifelog, in reading order. */
export function linesOf({ title, contents }: Lifelog): Line[] {
	let speaker: string | null | undefined;
	return linesIn(contents).flatMap(({ node, level, speaker: name = null }): Line[] => {
		const text = node.content;
		if (level !== undefined) {
			speaker = undefined;
			// The title is displayed above.
			return level === 1 && text === title ? [] : [{ type: 'heading', level, text }];
		}
		const isNewSpeaker = name !== speaker;
		speaker = name;
		const [startMs, endMs] = [node.startTime, node.endTime].map((time) =>
			time ? Date.parse(time) : undefined,
		);
		const startOffsetMs = isUtterance(node) ? node.startOffsetMs : undefined;
		return [{ type: 'said', text, speaker: name, isNewSpeaker, startMs, endMs, startOffsetMs }];
	});
}

/** The last line at or before an instant (Unix ms); -1 if all are later. */
export function lineAt(lines: Line[], ms: number): number {
	return lines.findLastIndex(
		(line) => line.type === 'said' && line.startMs !== undefined && line.startMs <= ms,
	);
}
