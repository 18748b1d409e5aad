import type { Lifelog } from '../api.ts';
import { UNKNOWN_SPEAKER } from '../contents.ts';
import { collapseSpaces } from '../text.ts';
import type { Piece, Speaker } from './spoken.ts';

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
	const lines = hasTitle ? body : [`# ${collapseSpaces(title) || 'Untitled'}`, ...body];
	return `${frontMatter(pieces)}${lines.join('\n\n')}\n`;
}

function lineOf({ type, text, speaker, startOffsetMs, endOffsetMs }: Piece, begin: number): string {
	if (speaker) {
		const times = `#startMs=${begin + startOffsetMs}&endMs=${begin + endOffsetMs}`;
		return `> [${speaker.number}](${times}): ${text}`;
	}
	const mark = HEADINGS.get(type);
	// What nobody said must not look like something else.
	return mark ? `${mark} ${text}` : text.replace(/^[#>\-+*]/, '\\$&');
}

function frontMatter(pieces: Piece[]): string {
	const speakers = new Map<number, Speaker>();
	for (const { speaker } of pieces) if (speaker) speakers.set(speaker.number, speaker);
	const named = [...speakers.values()]
		.filter(({ name }) => name !== UNKNOWN_SPEAKER)
		.sort((a, b) => a.number - b.number)
		// A text of JSON is one of YAML.
		.map(({ number, name }) => `${number}: ${JSON.stringify(name)}`);
	return named.length > 0 ? `---\nspeakers: { ${named.join(', ')} }\n---\n\n` : '';
}
