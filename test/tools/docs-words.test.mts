// How long the README, each numbered step and each sentence in a table may be, in words.
import { globSync, readFileSync } from 'node:fs';

const MAX_WORDS_OF_README = 600;

const MAX_STEP_WORDS = 20;
/** As textlint allows elsewhere: it reads no tables. */
const MAX_CELL_SENTENCE_WORDS = 25;

const isTableRow = (line: string) => line.startsWith('|');
const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;

/** A document without code blocks and comments. */
const proseOf = (path: string) =>
	readFileSync(path, 'utf8').replace(/^ *```[^]*?^ *```$|<!--[^]*?-->/gm, '');

function wordsIn(path: string): number {
	const lines = proseOf(path).split('\n');
	return wordsOf(lines.filter((line) => !isTableRow(line)).join(' '));
}

/** A text as it is read: without the addresses of links, and each piece of code as one word. */
const asRead = (text: string) => text.replace(/\]\([^)]*\)/g, ']').replace(/`[^`]*`/g, 'Code');

/** The numbered steps of a document. */
const stepsOf = (path: string) =>
	[...proseOf(path).matchAll(/^ *\d+\. (.+(?:\n(?! *(?:\d+\.|[-|]) ).+)*)/gm)].map(
		([, text]) => text,
	);

test('the README is a page', () => {
	expect(wordsIn('README.md')).toBeLessThanOrEqual(MAX_WORDS_OF_README);
});

// The specification describes a service in numbered rules.
const instructions = globSync(
	['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/README.md'],
	{
		exclude: ['docs/api-spec.md'],
	},
);

test('a numbered step has at most 20 words', () => {
	const steps = instructions.flatMap((path) => stepsOf(path).map((text) => `${path}: ${text}`));
	expect(steps.length).toBeGreaterThan(150);
	expect(steps.filter((text) => wordsOf(asRead(text)) - 1 > MAX_STEP_WORDS)).toEqual([]);
});

const sentencesOf = (cell: string) => cell.split(/(?<=[.:;!?]) +(?=[A-Z`*["“])/);

test('a sentence in a table has at most 25 words', () => {
	const paths = [...instructions, 'CHANGELOG.md', 'SECURITY.md', 'server/README.md'];
	const sentences = paths.flatMap((path) =>
		proseOf(path)
			.split('\n')
			.filter(isTableRow)
			// A bar in a cell is escaped.
			.flatMap((row) => asRead(row).split(/(?<!\\)\|/))
			.flatMap(sentencesOf)
			.map((text) => `${path}: ${text.trim()}`),
	);
	expect(sentences.length).toBeGreaterThan(2_000);
	expect(sentences.filter((text) => wordsOf(text) - 1 > MAX_CELL_SENTENCE_WORDS)).toEqual([]);
});
