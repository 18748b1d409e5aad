import { createHash } from 'node:crypto';
import { load } from 'js-yaml';
import { IANAZone } from 'luxon';
import type { ContentNode, Lifelog } from '../../lifelog/api.ts';
import { UNKNOWN_SPEAKER, USER } from '../../lifelog/contents.ts';
import { withoutEscapes } from '../../lifelog/files/markdown.ts';
import { isId, isObject } from '../../lifelog/names.ts';
import { instantOf, wallClockOf } from '../../lifelog/times.ts';
import { parseLifelog } from '../archive/entries.mts';
import { renderMarkdown } from '../util/apiMarkdown.mts';
import { iso } from '../util/times.mts';
import { ExportError } from './export.mts';
import { checkLevels } from './json.mts';
import { isTime, readName } from './names.mts';

/** A piece of Markdown: a heading, an utterance or other text. */
interface Piece {
	type: string;
	content: string;
	said?: Said;
}

interface Said {
	/** Epoch ms. */
	startMs: number;
	/** Epoch ms; undefined if the Markdown has none. */
	endMs?: number;
	/** Null without a name. */
	speaker: string | null;
	isWearer: boolean;
}

/** Front matter properties of an archive's Markdown, of any type. */
type FrontMatter = Partial<
	Record<'id' | 'title' | 'start' | 'end' | 'timezone' | 'wearer' | 'starred' | 'speakers', unknown>
>;

const HEADING = /^(#{1,6})\s(.*)$/;
const UTTERANCE = /^>\s*\[([^\]]*)\]\(#startMs=(\d+)&endMs=(\d+)\):(.*)$/;
const PARAGRAPH =
	/^\*\*((?:[^*\\]|\\.)+)\*\* \((?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d)(?: ([+-]\d\d:\d\d))?\):(.*)$/;
const QUOTE = /^>\s?(.*)$/;
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const WEARER = '1';
/** List items aren't needed: the text has the speakers. */
const LIST_ITEM = /^[ \t]*- .*$/gm;
/** Of nested JSON. */
const MAX_LEVELS = 100;
/** In UTF-16 units. Day manifests contain every ID, and are held in memory. */
const MAX_ID_LENGTH = 1000;

/**
 * Parses a lifelog in the Markdown of an archive or of the app's export (docs/reference/archive.md,
 * "Markdown"). Without front matter, its ID is made from its path and time, it isn't starred, and
 * its update time is its end.
 *
 * @param timezone For times without a time zone.
 * @throws ExportError if the text has no time.
 */
export function readLifelog(text: string, path: string, timezone = 'UTC'): Lifelog {
	const whole = text.replaceAll('\r\n', '\n');
	const front = readFrontMatter(whole);
	const zone = isZone(front.timezone) ? front.timezone : timezone;
	const pieces = readPieces(whole.replace(FRONT_MATTER, ''), front, zone);
	const said = pieces.flatMap((piece) => piece.said ?? []);
	const given = [front.start, front.end].map((time) => instantOf(time, zone));
	const times = [...said.flatMap(({ startMs, endMs = startMs }) => [startMs, endMs]), ...given];
	if (times.some((time) => time !== undefined && !isTime(time))) {
		throw new ExportError('has an impossible time');
	}
	const name = readName(path);
	const first = minimum(said.map(({ startMs }) => startMs));
	const start = given[0] ?? startOf(name.begin, first);
	if (start === undefined) throw new ExportError("doesn't say when it was");
	const end = times.reduce<number>((latest, time) => Math.max(latest, time ?? 0), start);
	setEnds(said, end);
	const contents = layOut(pieces, start, end);
	const heading = pieces.find(({ type }) => type === 'heading1')?.content;
	const title = heading ?? (typeof front.title === 'string' ? front.title : name.title);
	return {
		id: isId(front.id) ? checkId(front.id) : idOf(path, start, end),
		title: title || 'Untitled',
		markdown: renderMarkdown(contents),
		contents,
		startTime: iso(start),
		endTime: iso(end),
		isStarred: front.starred === true,
		updatedAt: iso(end),
	};
}

/** Parses the JSON of an archive. @throws ExportError if it isn't a lifelog's JSON. */
export function readJson(text: string): Lifelog {
	checkLevels(text, MAX_LEVELS);
	const lifelog = parseLifelog(text);
	if (!lifelog || !isId(lifelog.id)) throw new ExportError("isn't the JSON of a lifelog");
	if (!isTime(Date.parse(lifelog.startTime))) throw new ExportError('has an impossible time');
	checkId(lifelog.id);
	return lifelog;
}

/** @throws ExportError for an ID that is too long. */
export function checkId(id: string): string {
	if (id.length > MAX_ID_LENGTH) throw new ExportError('has an ID that is too long');
	return id;
}

/** Creates a stable ID for an entry of an export that has none. */
export function idOf(path: string, ...times: number[]): string {
	const hash = createHash('sha256').update([path, ...times].join('\n'));
	return `export-${hash.digest('hex').slice(0, 20)}`;
}

/** The name has whole seconds. The first utterance may have a more exact time within that second. */
function startOf(ofName: number | undefined, first: number | undefined): number | undefined {
	if (ofName === undefined || first === undefined) return ofName ?? first;
	return first < ofName + 1000 ? first : ofName;
}

function readPieces(text: string, front: FrontMatter, zone: string): Piece[] {
	const names = new Map(isObject(front.speakers) ? Object.entries(front.speakers) : []);
	const start = instantOf(front.start, zone);
	const startDay = start === undefined ? undefined : wallClockOf(start, zone).day;
	const pieces: Piece[] = [];
	let last: Piece | undefined;
	for (const line of text.split('\n')) {
		const [, marks, title] = HEADING.exec(line) ?? [];
		const [, speaker, startMs, endMs, words] = UTTERANCE.exec(line) ?? [];
		const paragraph = startDay === undefined ? undefined : readParagraph(line, startDay, zone);
		const isQuoted = startDay !== undefined || line.startsWith('>');
		const isNext = isQuoted && last?.type === 'blockquote';
		if (line.trim() === '') {
			last = undefined;
		} else if (marks !== undefined) {
			pieces.push({
				type: `heading${marks.length}`,
				content: withoutEscapes(withoutClosing(title.trim())),
			});
			last = undefined;
		} else if (words !== undefined) {
			const name = names.get(speaker);
			const unnamed = /^\d+$/.test(speaker) ? `Speaker ${speaker}` : speaker;
			const said = {
				startMs: Number(startMs),
				endMs: Number(endMs),
				speaker: typeof name === 'string' ? name : unnamed,
				isWearer: speaker === WEARER,
			};
			last = { type: 'blockquote', content: words.trim(), said };
			pieces.push(last);
		} else if (paragraph) {
			const { name, content, startMs: begin } = paragraph;
			const speaker = name === UNKNOWN_SPEAKER ? null : name;
			const said = { startMs: begin, speaker, isWearer: name === front.wearer };
			last = { type: 'blockquote', content, said };
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

/** A heading without its closing marks. The one in `C#` isn't a closing mark. */
function withoutClosing(title: string): string {
	return ` ${title}`.replace(/[ \t]#+$/, '').trim();
}

/** A line without its quote mark or escaping backslashes. */
const plain = (line: string) => (QUOTE.exec(line)?.[1] ?? withoutEscapes(line)).trim();

/** Parses an utterance in the Markdown of an archive. */
function readParagraph(line: string, startDay: string, zone: string) {
	const match = PARAGRAPH.exec(line);
	if (!match) return undefined;
	const [, name, day = startDay, time, offset = '', words] = match;
	const startMs = instantOf(`${day}T${time}${offset}`, zone) ?? NaN;
	return { name: withoutEscapes(name), content: withoutEscapes(words).trim(), startMs };
}

/** An utterance without an end lasts until the next one. */
function setEnds(said: Said[], end: number): void {
	let next = end;
	for (const each of said.toReversed()) {
		each.endMs ??= Math.max(each.startMs, next);
		next = each.startMs;
	}
}

function readFrontMatter(text: string): FrontMatter {
	const yaml = FRONT_MATTER.exec(text)?.[1].replaceAll(LIST_ITEM, '');
	if (yaml === undefined) return {};
	try {
		const front: unknown = load(yaml);
		return isObject(front) ? front : {};
	} catch {
		// Another program's front matter.
		return {};
	}
}

const isZone = (zone: unknown): zone is string =>
	typeof zone === 'string' && IANAZone.isValidZone(zone);

/** Gives headings and other text the time of the utterance that follows. */
function layOut(pieces: Piece[], start: number, end: number): ContentNode[] {
	let reached = start;
	return pieces.map((piece, index): ContentNode => {
		const { type, content, said } = piece;
		const [from, to] = said
			? [said.startMs, said.endMs!]
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
				speakerIdentifier: said?.isWearer ? USER : null,
			}),
		};
	});
}

type Times = readonly [startMs: number, endMs: number];

/** The time of all utterances below a heading. Other text takes no time. */
function spanOf(pieces: Piece[], index: number, reached: number, whole: Times): Times {
	const { type } = pieces[index];
	if (type === 'heading1') return whole;
	if (!type.startsWith('heading')) return [reached, reached];
	let span: Times | undefined;
	for (let nth = index + 1; nth < pieces.length; nth++) {
		const { type: other, said } = pieces[nth];
		if (other.startsWith('heading') && other <= type) break;
		if (said) span = [span?.[0] ?? said.startMs, Math.max(span?.[1] ?? 0, said.endMs!)];
	}
	return span ?? [reached, reached];
}

function minimum(numbers: number[]): number | undefined {
	return numbers.length === 0 ? undefined : numbers.reduce((min, number) => Math.min(min, number));
}
