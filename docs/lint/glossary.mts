// The texts in the code and in the examples follow the glossary of docs/.textlintrc.yml, too.
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { load } from 'js-yaml';
import { found, notesOf, programOf } from './sources.mts';

interface Textlint {
	rules: { terminology: { terms: (string | [string, string])[] } };
}

/** What isn't written. The names, which are strings, only say how a word is spelled. */
const forbidden = (
	load(readFileSync('docs/.textlintrc.yml', 'utf8')) as Textlint
).rules.terminology.terms
	.filter((term) => Array.isArray(term))
	.map(([pattern]) => new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, 'i'));

/** The texts of a program, without code in an expression. */
const textsIn = (path: string) =>
	programOf(path).flatMap((node) => {
		if (ts.isStringLiteralLike(node)) return [node.text];
		if (!ts.isTemplateExpression(node)) return [];
		const literals = node.templateSpans.map(({ literal }) => literal);
		return [[node.head, ...literals].map(({ text }) => text).join('…')];
	});

const notesIn = (path: string) =>
	notesOf(JSON.parse(readFileSync(path, 'utf8'))).map(({ content }) => content);

export function problemsOfGlossary(): string[] {
	const sources = globSync('{lifelog,nodes,credentials,server}/**/*.{ts,mts}', {
		exclude: ['server/{page,sandbox}/**', 'server/dist/**', '**/*.d.ts'],
	});
	const texts = [
		...found(sources, 100, 'sources').map((path) => [path, textsIn(path)] as const),
		...globSync('examples/*.json').map((path) => [path, notesIn(path)] as const),
	];
	return texts.flatMap(([path, all]) =>
		all
			.filter((text) => /\s/.test(text))
			.flatMap((text) => {
				const terms = forbidden.flatMap((pattern) => pattern.exec(text)?.slice(0, 1) ?? []);
				return terms.map((term) => `${path} says "${term}": ${text.slice(0, 80)}`);
			}),
	);
}
