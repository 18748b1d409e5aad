const END = '<!-- to here -->';
const BENCH = 'npm run bench';

/** What stands between the marks in a text, as the command wrote it. */
export function blockOf(text: string, command = BENCH): string {
	const { begin, from, to } = placeOf(text, command);
	return text.slice(from + begin.length, to).trim();
}

/** The text with something else between the marks. */
export function withBlock(text: string, block: string, command = BENCH): string {
	const { begin, from, to } = placeOf(text, command);
	return `${text.slice(0, from + begin.length)}\n\n${block}\n\n${text.slice(to)}`;
}

function placeOf(text: string, command: string) {
	const begin = `<!-- ${command} writes from here -->`;
	const from = text.indexOf(begin);
	const to = text.indexOf(END, from);
	if (from < 0 || to < 0) throw new Error(`A text lacks "${begin}" and "${END}"`);
	return { begin, from, to };
}
