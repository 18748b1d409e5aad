import type { Lifelog } from '../../../lifelog/api.ts';
import { isUtterance, linesOf as linesIn } from '../../../lifelog/contents.ts';

/** A heading or something that was said. */
export type Line =
	| { type: 'heading'; level: number; text: string }
	| {
			type: 'said';
			text: string;
			/** Null if the service doesn't name one. */
			speaker: string | null;
			/** Whether somebody else spoke before. */
			isNewSpeaker: boolean;
			/** Unix ms; undefined if the service doesn't say. */
			startMs?: number;
			endMs?: number;
			/** Where the server finds it to change it; undefined if it can't. */
			startOffsetMs?: number;
	  };

export type Said = Extract<Line, { type: 'said' }>;

/** What the page shows of a lifelog, in reading order. */
export function linesOf({ title, contents }: Lifelog): Line[] {
	let speaker: string | null | undefined;
	return linesIn(contents).flatMap(({ node, level, speaker: name = null }): Line[] => {
		const text = node.content;
		if (level !== undefined) {
			speaker = undefined;
			// The title is shown above.
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

/** The line at or before an instant (Unix ms); -1 if all come later. */
export function lineAt(lines: Line[], ms: number): number {
	return lines.findLastIndex(
		(line) => line.type === 'said' && line.startMs !== undefined && line.startMs <= ms,
	);
}
