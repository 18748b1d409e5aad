import type { ContentNode, Lifelog } from '../../../lifelog/api.ts';

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
	  };

/** The contents of a lifelog in reading order. */
export function linesOf({ title, contents }: Lifelog): Line[] {
	const lines: Line[] = [];
	let speaker: string | null | undefined;
	const read = (nodes: ContentNode[]) => {
		for (const node of nodes) {
			const level = /^heading(\d)$/.exec(node.type)?.[1];
			// The title is shown above.
			if (level === '1' && node.content === title) speaker = undefined;
			else if (level) {
				lines.push({ type: 'heading', level: Number(level), text: node.content });
				speaker = undefined;
			} else if (node.content) {
				const name = node.speakerName || null;
				lines.push({
					type: 'said',
					text: node.content,
					speaker: name,
					isNewSpeaker: name !== speaker,
					startMs: node.startTime ? Date.parse(node.startTime) : undefined,
					endMs: node.endTime ? Date.parse(node.endTime) : undefined,
				});
				speaker = name;
			}
			read(node.children ?? []);
		}
	};
	read(contents);
	return lines;
}

/** The line at or before an instant (Unix ms); -1 if all come later. */
export function lineAt(lines: Line[], ms: number): number {
	return lines.findLastIndex(
		(line) => line.type === 'said' && line.startMs !== undefined && line.startMs <= ms,
	);
}
