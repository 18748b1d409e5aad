import type { Lifelog } from '../api.ts';
import { UNKNOWN_SPEAKER } from '../contents.ts';
import { escapeLine, toYaml } from './markdown.ts';
import { headingMark, type Piece, type Speaker, titled } from './spoken.ts';

/**
 * A lifelog in the Markdown of the service's own export, which other tools read: headings, and a line
 * for each utterance, `> [2](#startMs=…&endMs=…): words`, its times in epoch ms. Front matter names the
 * numbers.
 *
 * @param startMs When the lifelog begins, epoch ms.
 */
export function appExport(lifelog: Lifelog, pieces: Piece[], startMs: number): string {
	const lines = titled(lifelog, pieces).map((piece) => lineOf(piece, startMs));
	return `${frontMatter(pieces)}${lines.join('\n\n')}\n`;
}

function lineOf(piece: Piece, begin: number): string {
	const { type, text, speaker, startOffsetMs, endOffsetMs } = piece;
	if (speaker) {
		const times = `#startMs=${begin + startOffsetMs}&endMs=${begin + endOffsetMs}`;
		return `> [${speaker.number}](${times}): ${text}`;
	}
	const mark = headingMark(type);
	// Tools show titles as they are; only what looks like an utterance would be read as one.
	return mark ? `${mark} ${text.replaceAll('[', '\\[')}` : escapeLine(text);
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
