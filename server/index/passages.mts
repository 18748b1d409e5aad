import type { Lifelog } from '../../lifelog/api.ts';
import { linesOf } from '../../lifelog/contents.ts';

// Some 400 tokens: less than the smallest models read, and about as much as has one meaning.
const MAX_CHARACTERS = 1500;

/**
 * Cuts what was said into passages that a model can read: whole lines with their speakers, each
 * passage headed by the title and the heading it stands under, its first line the last one of the
 * passage before.
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
			// Short sections go together; the words of a heading that ends none are words like others.
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
	// A cut may go through a character of two halves, and not every endpoint reads half a one.
	return passages.map((passage) => passage.toWellFormed());
}
