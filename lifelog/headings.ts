import type { Lifelog } from './api.ts';
import { contentNodes } from './contents.ts';
import { oneLine } from './text.ts';

const SECTION_HEADING = /^ {0,3}##[ \t]/;

/** The title, else the first heading of the first level, else an empty text. */
export function titleOf({ title, contents }: Lifelog): string {
	const ownTitle = oneLine(title);
	if (ownTitle !== '') return ownTitle;
	for (const { type, content } of contentNodes(contents)) {
		if (type === 'heading1' && oneLine(content) !== '') return oneLine(content);
	}
	return '';
}

/** The headings of the second level, from the contents or, without any, from the Markdown. */
export function secondLevelHeadings({ contents, markdown }: Lifelog): string[] {
	const nodes = [...contentNodes(contents)];
	const headings =
		nodes.length > 0
			? nodes.filter(({ type }) => type === 'heading2').map(({ content }) => content)
			: headingLines(typeof markdown === 'string' ? markdown : '');
	return headings.map(oneLine).filter((heading) => heading !== '');
}

function headingLines(markdown: string): string[] {
	const lines = markdown.split(/\r\n?|\n/).filter((line) => SECTION_HEADING.test(line));
	return lines.map((line) => line.slice(line.indexOf('##') + '##'.length));
}
