const BEGIN = '<!-- npm run bench writes from here -->';
const END = '<!-- to here -->';

/** What stands between the marks in a text, as `npm run bench` wrote it. */
export function blockOf(text: string): string {
	const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
	if (begin < 0 || end < begin) throw new Error(`A text lacks "${BEGIN}" and "${END}"`);
	return text.slice(begin + BEGIN.length, end).trim();
}

/** The text with something else between the marks; an empty text gets them. */
export function withBlock(text: string, block: string): string {
	const marked = text === '' ? `${BEGIN}\n\n${END}` : text;
	const [begin, end] = [marked.indexOf(BEGIN), marked.indexOf(END)];
	if (begin < 0 || end < begin) throw new Error(`A text lacks "${BEGIN}" and "${END}"`);
	return `${marked.slice(0, begin + BEGIN.length)}\n\n${block}\n\n${marked.slice(end)}`;
}
