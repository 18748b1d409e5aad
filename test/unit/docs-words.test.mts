// How long each document, each numbered step and each sentence in a table may be, in words.
import { globSync, readFileSync } from 'node:fs';

const MAX_WORDS: Record<string, number> = {
	'README.md': 600,
	'CHANGELOG.md': 800,
	'CONTRIBUTING.md': 900,
	'SECURITY.md': 1_000,
	'server/README.md': 560,
	'examples/README.md': 2_800,
	'docs/README.md': 250,
	'docs/agents.md': 450,
	'docs/api-spec.md': 1_000,
	'docs/archive-your-data.md': 900,
	'docs/audio.md': 620,
	'docs/chat.md': 250,
	'docs/credential.md': 500,
	'docs/dates-and-times.md': 350,
	'docs/full-archive.md': 350,
	'docs/installation.md': 500,
	'docs/lifelog-server-node.md': 500,
	'docs/lifelog.md': 1_400,
	'docs/quick-start.md': 700,
	'docs/rate-limit.md': 350,
	'docs/recordings.md': 800,
	'docs/self-host.md': 800,
	'docs/trigger.md': 750,
	'docs/troubleshooting.md': 1_200,
	'docs/reference/archive.md': 1_400,
	'docs/reference/server.md': 2_000,
	'docs/reference/trigger.md': 1_400,
	'docs/developer/benchmarks.md': 600,
	'docs/developer/performance.md': 600,
	'docs/developer/publish.md': 600,
	'docs/developer/reliability.md': 600,
	'docs/developer/testing.md': 600,
	'docs/developer/verification.md': 600,
};

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

test.each(Object.entries(MAX_WORDS))('%s has at most %d words', (path, max) => {
	expect(wordsIn(path)).toBeLessThanOrEqual(max);
});

test('every document for users has a maximum', () => {
	const documents = globSync(['docs/**/*.md', 'examples/*.md', 'server/*.md', '*.md']);
	const isLicense = (path: string) => path.endsWith('LICENSE.md');
	expect(documents.filter((path) => !(path in MAX_WORDS) && !isLicense(path))).toEqual([]);
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
	const paths = Object.keys(MAX_WORDS).filter((path) => path !== 'docs/api-spec.md');
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
