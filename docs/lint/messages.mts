// docs/troubleshooting.md lists the messages of the nodes, all of them and no others.
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { found, programOf } from './sources.mts';

const PAGE = 'docs/troubleshooting.md';
/** Where each call that makes an error or a hint has its message. */
const MESSAGE_ARGUMENT: Record<string, number> = {
	Error: 0,
	NodeOperationError: 1,
	apiError: 1,
	hint: 1,
	inputError: 1,
};
/** Its errors are caught and reported as a broken connection. */
const INTERNAL = ['body', 'upload'].map((name) => `nodes/shared/transport/${name}.ts`);
/** Codes of Node.js are listed beside the messages. */
const CODE = /^E[A-Z]+$/;

/** The texts that an expression can be, with `…` for what differs; none if it isn't a text. */
function textsOf(expression: ts.Expression, program: ts.Node[]): string[] {
	if (ts.isStringLiteralLike(expression)) return [expression.text];
	if (ts.isTemplateExpression(expression)) {
		const spans = expression.templateSpans.map(({ literal }) => `…${literal.text}`);
		return [expression.head.text + spans.join('')];
	}
	if (ts.isConditionalExpression(expression)) {
		const { whenTrue, whenFalse } = expression;
		return [whenTrue, whenFalse].flatMap((either) => textsOf(either, program));
	}
	if (ts.isArrowFunction(expression)) return textsOf(expression.body as ts.Expression, program);
	if (!ts.isIdentifier(expression)) return [];
	return program
		.filter((node) => ts.isVariableDeclaration(node))
		.filter(({ name }) => name.getText() === expression.text)
		.flatMap(({ initializer }) => (initializer ? textsOf(initializer, program) : []));
}

/** The expression with a message that a part of a program is about. */
function messageIn(node: ts.Node, path: string): ts.Expression | undefined {
	if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
		return node.arguments?.[MESSAGE_ARGUMENT[node.expression.getText()]];
	}
	if (ts.isReturnStatement(node) && path.endsWith('credentialTest.ts')) return node.expression;
	if (ts.isVariableDeclaration(node) && node.name.getText() === 'LIMITLESS_END') {
		return node.initializer;
	}
	const isMessage = ts.isPropertyAssignment(node) && node.name.getText() === 'message';
	return isMessage && !node.parent.getText().includes("status: 'OK'")
		? node.initializer
		: undefined;
}

function messagesOf(path: string): string[] {
	const program = programOf(path);
	return program.flatMap((node) => {
		const message = messageIn(node, path);
		return message ? textsOf(message, program) : [];
	});
}

const isListedAs = (message: string, text: string) =>
	message.startsWith(text.replace(/…$/, '')) && (text.length > 12 || text === message);

export function problemsOfMessages(): string[] {
	const sources = globSync('{nodes,credentials,lifelog}/**/*.ts').filter(
		(path) => !INTERNAL.includes(path.replaceAll('\\', '/')),
	);
	const messages = found(sources.flatMap(messagesOf), 40, 'messages');
	const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `([^`]+)`/gm)].map(([, text]) => text);
	const listed = found(rows, 40, `rows of ${PAGE}`);
	const missing = messages.filter((message) => !listed.some((text) => isListedAs(message, text)));
	const stale = listed.filter(
		(text) => !CODE.test(text) && !messages.some((message) => isListedAs(message, text)),
	);
	return [
		...missing.map((message) => `${PAGE} has no row for the message "${message}"`),
		...stale.map((text) => `${PAGE} lists "${text}", which no node says`),
	];
}
