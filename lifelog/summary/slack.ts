import { inGroups, jsonBytes } from './groups.ts';
import type { Entry, Summary } from './summary.ts';
import { splitText } from '../text.ts';
import { leadOf, listedOf, STAR, wordingOf } from './wording.ts';

/** `verbatim`: Slack makes no links of addresses and names. */
interface Section {
	type: 'section';
	text: { type: 'mrkdwn'; text: string; verbatim: true };
	/** Without "see more". */
	expand: true;
}

interface Header {
	type: 'header';
	text: { type: 'plain_text'; text: string };
}

/** For one call of `chat.postMessage`. */
export interface SlackMessage {
	/** The blocks as text, for notifications; cut if it is long. */
	text: string;
	blocks: Array<Header | Section>;
}

const MAX_SECTION_LENGTH = 3000;
/** Slack advises against more in a message's `text`. */
const MAX_TEXT_LENGTH = 4000;
/** In bytes of JSON: Slack refuses a little more, which its documentation doesn't say. */
const MAX_MESSAGE_SIZE = 12_000;
const HEADER_SIZE = 300;
const ENTITY = /&(?:amp|lt|gt);/g;
/** Slack can't escape them. A low line within a word isn't one. */
const MARKS = /[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const LIKENESSES: Record<string, string> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ' };

/** A summary as messages for Slack; a day too long for one message has several. */
export function toSlack(summary: Summary): SlackMessage & { messages: SlackMessage[] } {
	const { title, words } = wordingOf(summary);
	const all = intoMessages(intoSections(paragraphs(summary)));
	const messages = all.map((sections, index) => {
		const part = all.length > 1 ? ` ${words.part(index + 1, all.length)}` : '';
		return messageOf(`${title}${part}`, sections);
	});
	return { ...messages[0], messages };
}

function paragraphs(summary: Summary): string[][] {
	const { totals, words, speakers } = wordingOf(summary);
	const { starred, entries, more } = listedOf(summary);
	const lines = entries.map((entry) => linesOf(entry, summary));
	// Without headings each is one line, and together they are one list.
	const happened = summary.detail === 'titles' ? [lines.flat()] : lines;
	return [
		[
			...fittingLines(totals),
			...(speakers.length > 0 ? fittingLines(speakers.join(', '), `*${words.whoTookPart}* `) : []),
		],
		starred.flatMap((entry, index) => [
			...(index === 0 ? [`*${words.starred}*`] : []),
			...fittingLines(entry.title, `• ${leadOf(entry, summary, true)}`, '*'),
		]),
		...happened,
		more === '' ? [] : [more],
	].filter((lines) => lines.length > 0);
}

function linesOf(entry: Entry, summary: Summary): string[] {
	const star = entry.isStarred ? ` ${STAR}` : '';
	return [
		...fittingLines(entry.title, leadOf(entry, summary), '*', star),
		...entry.headings.flatMap((heading) => fittingLines(heading, '• ')),
	];
}

/** Lines that fit into a section, each piece of the text between two marks. */
function fittingLines(text: string, before = '', mark = '', after = ''): string[] {
	const maxLength = MAX_SECTION_LENGTH - before.length - 2 * mark.length - after.length;
	const parts = splitText(escapeMrkdwn(text), maxLength, ENTITY).map(
		(piece) => `${mark}${piece.trim()}${mark}`,
	);
	return parts.map(
		(part, index) =>
			`${index === 0 ? before : ''}${part}${index === parts.length - 1 ? after : ''}`,
	);
}

function escapeMrkdwn(text: string): string {
	return text
		.replace(/&/g, '&amp;')
		.replace(/</g, '&lt;')
		.replace(/>/g, '&gt;')
		.replace(MARKS, (mark) => LIKENESSES[mark]);
}

/** As few sections as possible; a paragraph is divided only if it is too long for one. */
function intoSections(all: string[][]): string[] {
	const sections: string[] = [];
	for (const lines of all) {
		const whole = lines.join('\n');
		const parts = whole.length <= MAX_SECTION_LENGTH ? [whole] : lines;
		for (const [index, part] of parts.entries()) {
			const gap = index === 0 ? '\n\n' : '\n';
			const last = sections.at(-1);
			const joined = `${last}${gap}${part}`;
			if (last !== undefined && joined.length <= MAX_SECTION_LENGTH) {
				sections[sections.length - 1] = joined;
			} else {
				sections.push(part);
			}
		}
	}
	return sections;
}

function intoMessages(texts: string[]): Section[][] {
	const sections = texts.map((text): Section => ({
		type: 'section',
		text: { type: 'mrkdwn', text, verbatim: true },
		expand: true,
	}));
	return inGroups(sections, [MAX_MESSAGE_SIZE - HEADER_SIZE], (section) => [jsonBytes(section)]);
}

function messageOf(title: string, sections: Section[]): SlackMessage {
	return {
		text: shortened([`*${title}*`, ...sections.map(({ text }) => text.text)].join('\n\n')),
		blocks: [{ type: 'header', text: { type: 'plain_text', text: title } }, ...sections],
	};
}

function shortened(text: string): string {
	if (text.length <= MAX_TEXT_LENGTH) return text;
	const end = text.lastIndexOf('\n', MAX_TEXT_LENGTH - 2);
	return `${text.slice(0, end).trimEnd()}\n…`;
}
