import type { Lifelog } from '../api.ts';
import { UNKNOWN_SPEAKER } from '../contents.ts';
import { type Piece, type Speaker, wordsIn } from './spoken.ts';

const HEADINGS = new Map([
	['heading1', '#'],
	['heading2', '##'],
	['heading3', '###'],
]);

/**
 * A lifelog in the Markdown of the service's own export, which other tools read: headings, and a
 * line for each thing said, `> [2](#startMs=…&endMs=…): words`, its times in epoch ms. Front matter
 * names the numbers.
 *
 * @param begin When the lifelog begins, epoch ms.
 */
export function lifelogMarkdown({ title }: Lifelog, pieces: Piece[], begin: number): string {
	const body = pieces.map((piece) => lineOf(piece, begin));
	const hasTitle = pieces.some(({ type, speaker }) => type === 'heading1' && !speaker);
	const lines = hasTitle ? body : [headingOf('#', wordsIn(title) || 'Untitled'), ...body];
	return `${frontMatter(pieces)}${lines.join('\n\n')}\n`;
}

function lineOf({ type, text, speaker, startOffsetMs, endOffsetMs }: Piece, begin: number): string {
	if (speaker) {
		const times = `#startMs=${begin + startOffsetMs}&endMs=${begin + endOffsetMs}`;
		return `> [${speaker.number}](${times}): ${text}`;
	}
	const mark = HEADINGS.get(type);
	return mark ? headingOf(mark, text) : literalAtStart(text);
}

function headingOf(mark: string, text: string): string {
	// Number signs at the end would close the heading.
	const end = literal(text).replace(/(?<=^|\s)#+$/, (signs) => signs.replaceAll('#', '\\#'));
	return `${mark} ${end}`;
}

/** A text of one line such that Markdown shows its words, and makes nothing else of them. */
function literal(text: string): string {
	return text
		.replace(/[\\`*[<]|&(?=#?\w+;)|~(?=~)/g, '\\$&')
		.replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_');
}

/** The same at the start of a line, where more could be a heading, a list, a line or a table. */
function literalAtStart(text: string): string {
	return literal(text)
		.replace(/^[#>+\-=|:~]/, '\\$&')
		.replace(/^(\d+)([.)])/, '$1\\$2');
}

/** The text that {@link lifelogMarkdown} wrote, of a heading or of what nobody said. */
export function withoutEscapes(text: string): string {
	return text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

function frontMatter(pieces: Piece[]): string {
	const speakers = new Map<number, Speaker>();
	for (const { speaker } of pieces) if (speaker) speakers.set(speaker.number, speaker);
	const named = [...speakers.values()]
		.filter(({ name }) => name !== UNKNOWN_SPEAKER)
		.sort((a, b) => a.number - b.number)
		.map(({ number, name }) => `${number}: ${toYaml(name)}`);
	return named.length > 0 ? `---\nspeakers: { ${named.join(', ')} }\n---\n\n` : '';
}

/** A text of JSON is one of YAML, but YAML has fewer characters that aren't escaped. */
function toYaml(text: string): string {
	return JSON.stringify(text).replace(
		/[\u007f-\u009f\ufffe\uffff]/g,
		(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
}
