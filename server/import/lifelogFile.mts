import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { withoutEscapes } from '../../lifelog/files/markdown.ts';
import { renderMarkdown } from '../util/lifelogView.mts';
import { iso } from '../util/times.mts';
import { ExportError } from './export.mts';
import { isTime, readName } from './names.mts';

/** A piece of the Markdown: a heading, something said, or other text. */
interface Piece {
	type: string;
	content: string;
	/** Of what was said: epoch ms, and who said it. */
	said?: { startMs: number; endMs: number; speaker: string; isWearer: boolean };
}

const HEADING = /^(#{1,6})\s(.*)$/;
const UTTERANCE = /^>\s*\[([^\]]*)\]\(#startMs=(\d+)&endMs=(\d+)\):(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const WEARER = '1';
/** In UTF-16 units; hundreds of names. What reads YAML takes minutes for a long one. */
const MAX_FRONT_MATTER_LENGTH = 16_384;

/**
 * Reads a lifelog in the Markdown of the export (docs/reference/archive.md, "Markdown"). Its ID is made
 * of its path and its time; it is not starred, and was updated when it ended. Throws an ExportError
 * for a text that does not say when it was.
 */
export function readLifelog(text: string, path: string): Lifelog {
	const whole = text.replaceAll('\r\n', '\n');
	const pieces = readPieces(whole.replace(FRONT_MATTER, ''), readSpeakers(whole));
	const said = pieces.flatMap((piece) => piece.said ?? []);
	if (said.some(({ startMs, endMs }) => !isTime(startMs) || !isTime(endMs))) {
		throw new ExportError('has an impossible time');
	}
	const name = readName(path);
	const first = minimum(said.map(({ startMs }) => startMs));
	const start = startOf(name.begin, first);
	if (start === undefined) throw new ExportError("doesn't say when it was");
	const end = said.reduce((latest, { startMs, endMs }) => Math.max(latest, startMs, endMs), start);
	const contents = layOut(pieces, start, end);
	const title = pieces.find(({ type }) => type === 'heading1')?.content ?? name.title;
	return {
		id: idOf(path, start, end),
		title: title || 'Untitled',
		markdown: renderMarkdown(contents),
		contents,
		startTime: iso(start),
		endTime: iso(end),
		isStarred: false,
		updatedAt: iso(end),
	};
}

/** An ID for something of an export, which has none: the same at every import. */
export function idOf(path: string, ...times: number[]): string {
	const hash = createHash('sha256').update([path, ...times].join('\n'));
	return `export-${hash.digest('hex').slice(0, 20)}`;
}

/** The name has whole seconds; what is said first can say more of the same second. */
function startOf(ofName: number | undefined, first: number | undefined): number | undefined {
	if (ofName === undefined || first === undefined) return ofName ?? first;
	return first < ofName + 1000 ? first : ofName;
}

function readPieces(text: string, names: Map<string, string>): Piece[] {
	const pieces: Piece[] = [];
	let last: Piece | undefined;
	for (const line of text.split('\n')) {
		const [, marks, title] = HEADING.exec(line) ?? [];
		const [, speaker, startMs, endMs, words] = UTTERANCE.exec(line) ?? [];
		const isNext = line.startsWith('>') && last?.type === 'blockquote';
		if (line.trim() === '') {
			last = undefined;
		} else if (marks !== undefined) {
			pieces.push({
				type: `heading${marks.length}`,
				content: withoutEscapes(withoutClosing(title.trim())),
			});
			last = undefined;
		} else if (words !== undefined) {
			const name = names.get(speaker) ?? (/^\d+$/.test(speaker) ? `Speaker ${speaker}` : speaker);
			const said = {
				startMs: Number(startMs),
				endMs: Number(endMs),
				speaker: name,
				isWearer: speaker === WEARER,
			};
			last = { type: 'blockquote', content: words.trim(), said };
			pieces.push(last);
		} else if (isNext || (last?.type === 'paragraph' && !line.startsWith('>'))) {
			last!.content += `\n${plain(line)}`;
		} else {
			last = { type: line.startsWith('>') ? 'blockquote' : 'paragraph', content: plain(line) };
			pieces.push(last);
		}
	}
	return pieces;
}

/** A heading without the marks that close it; the one of `C#` closes nothing. */
function withoutClosing(title: string): string {
	return ` ${title}`.replace(/[ \t]#+$/, '').trim();
}

/** A line without its mark of a quote, or the backslashes that keep it from being something else. */
const plain = (line: string) => (QUOTE.exec(line)?.[1] ?? withoutEscapes(line)).trim();

/** The names that an archive's own Markdown has for the numbers. */
function readSpeakers(text: string): Map<string, string> {
	const names = new Map<string, string>();
	const yaml = FRONT_MATTER.exec(text)?.[1];
	if (yaml === undefined || yaml.length > MAX_FRONT_MATTER_LENGTH) return names;
	try {
		const { speakers } = (parse(yaml) ?? {}) as { speakers?: Record<string, unknown> };
		for (const [number, name] of Object.entries(speakers ?? {})) {
			if (typeof name === 'string') names.set(number, name);
		}
	} catch {
		// Front matter of somebody else's; the numbers are names enough.
	}
	return names;
}

/** Puts headings and other text where what they stand before was said. */
function layOut(pieces: Piece[], start: number, end: number): ContentNode[] {
	let reached = start;
	return pieces.map((piece, index): ContentNode => {
		const { type, content, said } = piece;
		const [from, to] = said
			? [said.startMs, said.endMs]
			: spanOf(pieces, index, reached, [start, end]);
		reached = said ? Math.max(reached, to) : reached;
		const times = {
			startTime: iso(from),
			endTime: iso(Math.max(from, to)),
			startOffsetMs: from - start,
			endOffsetMs: Math.max(from, to) - start,
		};
		return {
			type,
			content,
			...times,
			children: [],
			...(type === 'blockquote' && {
				speakerName: said?.speaker ?? null,
				speakerIdentifier: said?.isWearer ? 'user' : null,
			}),
		};
	});
}

type Times = readonly [startMs: number, endMs: number];

/** From the first to the last that was said below a heading; other text takes no time. */
function spanOf(pieces: Piece[], index: number, reached: number, whole: Times): Times {
	const { type } = pieces[index];
	if (type === 'heading1') return whole;
	if (!type.startsWith('heading')) return [reached, reached];
	let span: Times | undefined;
	for (let nth = index + 1; nth < pieces.length; nth++) {
		const { type: other, said } = pieces[nth];
		if (other.startsWith('heading') && other <= type) break;
		if (said) span = [span?.[0] ?? said.startMs, Math.max(span?.[1] ?? 0, said.endMs)];
	}
	return span ?? [reached, reached];
}

function minimum(numbers: number[]): number | undefined {
	return numbers.length === 0 ? undefined : numbers.reduce((min, number) => Math.min(min, number));
}
