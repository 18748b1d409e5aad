// The texts in the code follow the same rules as the documents: docs/.textlintrc.yml, which reads no code.
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { parse } from 'yaml';

interface Textlint {
	rules: { terminology: { terms: (string | [string, string])[] } };
}

const { rules } = parse(readFileSync('docs/.textlintrc.yml', 'utf8')) as Textlint;
/** What isn't written. The names, which are strings, only say how a word is spelled. */
const forbidden = rules.terminology.terms
	.filter((term) => Array.isArray(term))
	.map(([pattern]) => new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, 'i'));

const forbiddenIn = (text: string) =>
	forbidden.flatMap((pattern) => pattern.exec(text)?.slice(0, 1) ?? []);

/** The texts of a program, without code in an expression. */
function stringsIn(path: string): string[] {
	const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isStringLiteralLike(node)) found.push(node.text);
		if (ts.isTemplateExpression(node)) {
			found.push(
				[node.head, ...node.templateSpans.map(({ literal }) => literal)]
					.map(({ text }) => text)
					.join('…'),
			);
		}
		node.forEachChild(visit);
	};
	visit(file);
	return found;
}

function notesIn(path: string): string[] {
	const { nodes } = JSON.parse(readFileSync(path, 'utf8')) as {
		nodes: { type: string; parameters: { content?: string } }[];
	};
	return nodes
		.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
		.map(({ parameters }) => parameters.content!);
}

const sources = globSync(['{lifelog,nodes,credentials,server}/**/*.{ts,mts}'], {
	exclude: ['server/{page,sandbox}/**', '**/*.d.ts'],
});
const examples = globSync('examples/*.json');

test('the rules are the same as for the documents', () => {
	expect(forbidden.length).toBeGreaterThan(25);
	expect(forbiddenIn('The run was cancelled in passing')).toEqual(['in passing', 'cancelled']);
	expect(forbiddenIn('The run was canceled')).toEqual([]);
});

test.each([
	['the code', sources, 100, stringsIn],
	['the notes of the examples', examples, 15, notesIn],
])('%s has no text that the glossary forbids', (_, paths, minimum, textsOf) => {
	expect(paths.length).toBeGreaterThan(minimum);
	const wrong = paths.flatMap((path) =>
		textsOf(path)
			.filter((text) => /\s/.test(text))
			.flatMap((text) =>
				forbiddenIn(text).map((term) => `${path}: "${term}" in "${text.slice(0, 80)}"`),
			),
	);
	expect(wrong).toEqual([]);
});
