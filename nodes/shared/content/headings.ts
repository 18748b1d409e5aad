import type { Lifelog } from '../api/apiTypes';
import { contentNodes } from './utterances';
import { oneLine } from '../util/text';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING_MARK = /^ {0,3}##(?=[ \t]|$)/;

/** What a lifelog is called: its title, else its first heading of the first level; may be empty. */
export function titleOf({ title, contents }: Lifelog): string {
	const ownTitle = oneLine(title);
	if (ownTitle !== '') return ownTitle;
	for (const { type, content } of contentNodes(contents)) {
		if (type === 'heading1' && oneLine(content) !== '') return oneLine(content);
	}
	return '';
}

/** The headings of the second level, from the contents or, where there are none, the Markdown. */
export function secondLevelHeadings({ contents, markdown }: Lifelog): string[] {
	const nodes = [...contentNodes(contents)];
	const headings =
		nodes.length > 0
			? nodes.filter(({ type }) => type === 'heading2').map(({ content }) => content)
			: headingLines(typeof markdown === 'string' ? markdown : '');
	return headings.map(oneLine).filter((heading) => heading !== '');
}

/** The text of the lines `## …` of Markdown, those in fenced code left out. */
function headingLines(markdown: string): string[] {
	const found: string[] = [];
	let fence: string | undefined;
	for (const line of markdown.split(/\r\n?|\n/)) {
		const mark = fenceOf(line);
		if (fence !== undefined) {
			if (closes(fence, line)) fence = undefined;
		} else if (mark !== undefined) {
			fence = mark;
		} else {
			const headingMark = HEADING_MARK.exec(line)?.[0];
			if (headingMark !== undefined) found.push(withoutEndMark(line.slice(headingMark.length)));
		}
	}
	return found;
}

/** The mark that opens fenced code; behind one of backticks there are no others in its line. */
function fenceOf(line: string): string | undefined {
	const opening = FENCE.exec(line);
	if (!opening) return undefined;
	const [whole, mark] = opening;
	const isWithinText = mark.startsWith('`') && line.slice(whole.length).includes('`');
	return isWithinText ? undefined : mark;
}

/** A heading may be closed by further `#` behind a blank. */
function withoutEndMark(heading: string): string {
	return heading.trimEnd().replace(/[ \t]#+$/, '');
}

function closes(fence: string, line: string): boolean {
	const mark = line.trim();
	const isIndented = /^ {4}|^ {0,3}\t/.test(line);
	return !isIndented && mark.length >= fence.length && mark === fence[0].repeat(mark.length);
}
