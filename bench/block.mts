/** The marks that a command writes between. */
const marksOf = (command: string) => ({
	begin: `<!-- ${command} writes from here -->`,
	end: '<!-- to here -->',
});
const BENCH = 'npm run bench';

/** What stands between the marks in a text, as the command wrote it. */
export function blockOf(text: string, command = BENCH): string {
	const { begin, from, to } = placeOf(text, command);
	return text.slice(from + begin.length, to).trim();
}

/** The text with something else between the marks; an empty text gets them. */
export function withBlock(text: string, block: string, command = BENCH): string {
	const { begin, end } = marksOf(command);
	const marked = text === '' ? `${begin}\n\n${end}` : text;
	const { from, to } = placeOf(marked, command);
	return `${marked.slice(0, from + begin.length)}\n\n${block}\n\n${marked.slice(to)}`;
}

function placeOf(text: string, command: string) {
	const { begin, end } = marksOf(command);
	const from = text.indexOf(begin);
	const to = text.indexOf(end, from);
	if (from < 0 || to < 0) throw new Error(`A text lacks "${begin}" and "${end}"`);
	return { begin, from, to };
}
