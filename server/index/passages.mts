import type { Lifelog } from '../../lifelog/api.ts';
import { linesOf } from '../../lifelog/contents.ts';

// About 400 tokens: within the limit of the smallest models, and about one topic.
const MAX_CHARACTERS = 1500;

/**
 * Splits a lifelog into passages that fit a model: whole lines with speakers. Each passage starts
 * with the title and its heading, and repeats the last line of the previous one.
 */
export function passagesOf({ title, contents }: Pick<Lifelog, 'title' | 'contents'>): string[] {
	const passages: string[] = [];
	let heading = '';
	let lines: string[] = [];
	let length = 0;
	const end = () => {
		if (lines.length > 0) {
			passages.push([title, heading, ...lines].filter((line) => line !== '').join('\n'));
		}
	};
	const begin = (line?: string) => {
		lines = line === undefined ? [] : [line];
		length = line?.length ?? 0;
	};
	for (const { level, speaker, node } of linesOf(contents)) {
		const text = speaker === undefined ? node.content : `${speaker}: ${node.content}`;
		if (level !== undefined) {
			// Merge short sections. A heading inside a passage counts as ordinary words.
			if (length > MAX_CHARACTERS / 2) {
				end();
				begin();
			}
			if (lines.length === 0) {
				heading = text === title ? '' : text.slice(0, MAX_CHARACTERS / 2);
				continue;
			}
		}
		for (let at = 0; at < text.length; at += MAX_CHARACTERS) {
			const line = text.slice(at, at + MAX_CHARACTERS);
			if (length + line.length > MAX_CHARACTERS) {
				end();
				const last = lines.at(-1);
				begin(last !== undefined && last.length < MAX_CHARACTERS / 4 ? last : undefined);
			}
			lines.push(line);
			length += line.length;
		}
	}
	end();
	if (passages.length === 0 && title.trim() !== '') passages.push(title.slice(0, MAX_CHARACTERS));
	// A cut may split a surrogate pair, which some endpoints reject.
	return passages.map((passage) => passage.toWellFormed());
}
