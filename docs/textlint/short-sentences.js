// What sentence-length doesn't read: tables, and how long a numbered step is.
const MAX_WORDS_IN_CELL = 25;
const MAX_WORDS_IN_STEP = 20;

/** As it is read: without the addresses of links, and each piece of code as one word. */
const asRead = (text) => text.replace(/\]\([^)]*\)/g, ']').replace(/`[^`]*`/g, 'Code');
const wordsIn = (text) => text.split(/\s+/).filter(Boolean).length;
const sentencesIn = (text) => text.split(/(?<=[.:;!?]) +(?=[A-Z`*["“])/);

module.exports = ({ Syntax, RuleError, getSource, report }) => ({
	[Syntax.TableCell](node) {
		// The source of a cell includes the bars around it.
		const text = getSource(node).replace(/^\||(?<!\\)\|$/g, '');
		const words = Math.max(...sentencesIn(asRead(text)).map(wordsIn));
		if (words <= MAX_WORDS_IN_CELL) return;
		const most = `at most ${MAX_WORDS_IN_CELL}`;
		report(node, new RuleError(`A sentence in this cell has ${words} words, ${most} are allowed`));
	},
	[Syntax.ListItem](node) {
		const [step] = node.children;
		if (!node.parent.ordered || step?.type !== Syntax.Paragraph) return;
		const words = wordsIn(asRead(getSource(step)));
		if (words <= MAX_WORDS_IN_STEP) return;
		const most = `at most ${MAX_WORDS_IN_STEP}`;
		report(step, new RuleError(`This step has ${words} words, ${most} are allowed`));
	},
});
