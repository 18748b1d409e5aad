import type { Lifelog } from '../api.ts';
import { titleOf, UNKNOWN_SPEAKER } from '../contents.ts';
import { shownNames } from '../speakers.ts';
import { instantOf, type WallClock, wallClockOf } from '../times.ts';
import { headingMark, type Piece, type Speaker, titled } from './spoken.ts';

/** IDs of lifelogs that lifelog-server made. */
const MADE_HERE = /^(made|recorded)-/;
/** The wearer, if the service knows no name. */
const UNNAMED_WEARER = 'You';
/** In this order: the backslashes that come with the others aren't escaped again. */
const MARKUP = [
	// Emphasis, code, links, footnotes, HTML, math, block IDs; entities.
	/[\\`*[\]<~$^]|&(?=#?\w{1,32};)/gu,
	// Tags; and emphasis, which underscores within a word aren't.
	/(?<![\p{L}\p{N}])[#_]|_(?![\p{L}\p{N}])/gu,
	// Highlights and comments.
	/=(?==)|(?<==)=|%(?=%)|(?<=%)%/gu,
	// Addresses that some readers make links of.
	/\/(?=\/)|(?<=(?<![\p{L}\p{N}])www)\.|(?<=\S)@(?=\S)/giu,
];

/**
 * A lifelog in Markdown for people: its properties as front matter, its headings, and a paragraph for
 * each utterance, `**Anna** (09:04:12): words` (docs/reference/archive.md, "Markdown").
 *
 * @param startMs When the lifelog begins, epoch ms.
 * @param zone Of the times in the text.
 * @param audio The name of the file with its audio, if it is linked to.
 */
export function lifelogMarkdown(
	lifelog: Lifelog,
	pieces: Piece[],
	startMs: number,
	zone: string,
	audio?: string,
): string {
	const { day } = wallClockOf(startMs, zone);
	const shown = shownNames(pieces.flatMap(({ speaker }) => (speaker ? nameOf(speaker) : [])));
	const lines = titled(lifelog, pieces).map(({ type, text, speaker, startOffsetMs }) => {
		if (speaker) {
			const time = wallClockOf(startMs + startOffsetMs, zone);
			return `**${escapeMarkdown(shown.get(nameOf(speaker))!)}** (${shortTime(time, day)}): ${escapeMarkdown(text)}`;
		}
		const mark = headingMark(type);
		return mark ? `${mark} ${escapeMarkdown(text)}` : escapeLine(text);
	});
	const head = [frontMatter(lifelog, pieces, shown, startMs, zone)];
	// Every reader follows a link. A player in the text would be a broken picture in most of them.
	if (audio !== undefined) head.push(`[Audio](${encodeURIComponent(audio)})`);
	return [...head, ...lines].join('\n\n') + '\n';
}

/** A text of one line such that Markdown and Obsidian show its words, and make nothing else of them. */
function escapeMarkdown(text: string): string {
	return MARKUP.reduce((escaped, markup) => escaped.replace(markup, '\\$&'), text);
}

/** The same at the start of a line, where more could be a quote, a list or a line. */
export function escapeLine(text: string): string {
	return escapeMarkdown(text)
		.replace(/^[-+>:]/, '\\$&')
		.replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
}

/** The text that was escaped. */
export function withoutEscapes(text: string): string {
	return text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

/** A text of JSON is one of YAML, but YAML has fewer characters that aren't escaped. */
export function toYaml(text: string): string {
	return JSON.stringify(text).replace(
		/[\u007f-\u009f\ufeff\ufffe\uffff]/g,
		(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
}

function frontMatter(
	lifelog: Lifelog,
	pieces: Piece[],
	shown: Map<string, string>,
	startMs: number,
	zone: string,
): string {
	const spoken = pieces.flatMap(({ speaker }) => speaker ?? []);
	const names = new Set(spoken.map(nameOf));
	names.delete(UNKNOWN_SPEAKER);
	const wearer = spoken.find(({ isWearer }) => isWearer);
	const start = wallClockOf(startMs, zone);
	const endMs = instantOf(lifelog.endTime, zone);
	const id = String(lifelog.id);
	const lines = [
		`title: ${toYaml(titleOf(lifelog) || 'Untitled')}`,
		`date: ${start.day}`,
		`start: ${longTime(start)}`,
		endMs !== undefined && `end: ${longTime(wallClockOf(endMs, zone))}`,
		names.size > 0 && 'speakers:',
		...[...names].map((name) => `  - ${toYaml(shown.get(name)!)}`),
		wearer && `wearer: ${toYaml(shown.get(nameOf(wearer))!)}`,
		`starred: ${lifelog.isStarred === true}`,
		`id: ${toYaml(id)}`,
		`source: ${toYaml(MADE_HERE.test(id) ? 'lifelog-server' : 'Limitless')}`,
		`timezone: ${toYaml(zone)}`,
	];
	return ['---', ...lines.filter(Boolean), '---'].join('\n');
}

function nameOf({ name, isWearer }: Speaker): string {
	return isWearer && name === UNKNOWN_SPEAKER ? UNNAMED_WEARER : name;
}

function longTime({ day, time, offset = '' }: WallClock): string {
	return `${day}T${time}${offset}`;
}

/** @param startDay The day that needs no naming. */
function shortTime({ day, time, offset }: WallClock, startDay: string): string {
	return [day !== startDay && day, time, offset].filter(Boolean).join(' ');
}
