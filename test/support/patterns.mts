import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** A regular expression in a source, and where it stands. */
export interface Pattern {
	where: string;
	/** Undefined where it is put together when the program runs. */
	source: string | undefined;
	flags: string;
}

/** Methods of texts that make a pattern of a text they are given. */
const TAKE_PATTERNS = ['match', 'matchAll', 'search'];

/**
 * Every regular expression of a file of TypeScript: literals, `RegExp(…)`, texts that are used as
 * patterns, and those within the expressions (`={{ … }}`) that its texts hold.
 */
export function patternsOf(file: string): Pattern[] {
	return patternsIn(readFileSync(file, 'utf8'), file);
}

/** Those in the expressions of a text as n8n's parameters hold it; none where it is a plain one. */
function patternsOfExpressions(text: string, where: string): Pattern[] {
	if (!text.startsWith('=')) return [];
	return [...text.matchAll(/\{\{([^]*?)\}\}/g)].flatMap(([, code]) => patternsIn(code, where));
}

/** Those of TypeScript or of what stands in an expression. */
export function patternsIn(code: string, where: string): Pattern[] {
	const found: Pattern[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isRegularExpressionLiteral(node)) {
			const end = node.text.lastIndexOf('/');
			found.push({ where, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
		} else if (ts.isStringLiteralLike(node)) {
			found.push(...patternsOfExpressions(node.text, where));
		} else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
			const [pattern, flags] = node.arguments ?? [];
			if (pattern && makesPattern(node, pattern)) {
				const source = ts.isStringLiteralLike(pattern) ? pattern.text : undefined;
				const text = flags && ts.isStringLiteralLike(flags) ? flags.text : '';
				found.push({ where, source, flags: text });
			}
		}
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(where, code, ts.ScriptTarget.Latest));
	return found;
}

function makesPattern(node: ts.CallExpression | ts.NewExpression, argument: ts.Expression) {
	if (ts.isRegularExpressionLiteral(argument)) return false;
	const { expression: called } = node;
	if (ts.isIdentifier(called)) return called.text === 'RegExp';
	const isMethod =
		ts.isPropertyAccessExpression(called) && TAKE_PATTERNS.includes(called.name.text);
	return isMethod && ts.isStringLiteralLike(argument);
}
