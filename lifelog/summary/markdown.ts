import type { Entry, Summary } from './summary.ts';
import { leadOf, listedOf, STAR, wordingOf } from './wording.ts';

/** A summary as Markdown (CommonMark, and GitHub's). */
export function toMarkdown(summary: Summary): { markdown: string } {
	const { title, totals, words, speakers } = wordingOf(summary);
	const { starred, entries, more } = listedOf(summary);
	const paragraphs = [
		`# ${title}`,
		literal(totals),
		speakers.length > 0 && `**${words.whoTookPart}** ${speakers.map(literal).join(', ')}`,
		starred.length > 0 && `## ${words.starred}`,
		starred.map((entry) => `- ${leadOf(entry, summary, true)}${boldTitle(entry)}`).join('\n'),
		entries.length > 0 && `## ${words.whatHappened}`,
		entries.map((entry) => itemOf(entry, summary)).join('\n'),
		more,
	];
	return { markdown: `${paragraphs.filter(Boolean).join('\n\n')}\n` };
}

function itemOf(entry: Entry, summary: Summary): string {
	const star = entry.isStarred ? ` ${STAR}` : '';
	return [
		`- ${leadOf(entry, summary)}${boldTitle(entry)}${star}`,
		...entry.headings.map((heading) => `  - ${literalAtStart(heading)}`),
	].join('\n');
}

function boldTitle({ title }: Entry): string {
	return `**${literal(title)}**`;
}

/** A text of one line such that Markdown shows it as it is, and makes no link of an address. */
function literal(text: string): string {
	return text
		.replace(/[\\`*_[\]<>|~&@]/g, '\\$&')
		.replace(/:\/\//g, '\\$&')
		.replace(/www\./gi, (match) => `${match.slice(0, -1)}\\.`);
}

/** The same at the start of a line, which could look like a heading or another list. */
function literalAtStart(text: string): string {
	return literal(text)
		.replace(/^[#+-]/, '\\$&')
		.replace(/^(\d+)([.)])/, '$1\\$2');
}
