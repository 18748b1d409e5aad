import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const readme = readFileSync('README.md', 'utf8');

/** Where each call that makes an error or a hint has its message. */
const MESSAGE_ARGUMENT: Record<string, number> = {
	Error: 0,
	answered: 1,
	NodeOperationError: 1,
	apiError: 1,
	hint: 1,
	inputError: 1,
	make: 0,
};
/** Its errors are caught and told as a broken connection. */
const INTERNAL = 'nodes/shared/incoming-body.ts';

/** The texts an expression can give, `…` standing for what differs; none where it is no text. */
function textsOf(expression: ts.Expression, file: ts.SourceFile): string[] {
	if (ts.isStringLiteralLike(expression)) return [expression.text];
	if (ts.isTemplateExpression(expression)) {
		const spans = expression.templateSpans.map(({ literal }) => `…${literal.text}`);
		return [expression.head.text + spans.join('')];
	}
	if (ts.isConditionalExpression(expression)) {
		const { whenTrue, whenFalse } = expression;
		return [whenTrue, whenFalse].flatMap((either) => textsOf(either, file));
	}
	if (ts.isIdentifier(expression)) return textsOfConstant(expression.text, file);
	return [];
}

function textsOfConstant(name: string, file: ts.SourceFile): string[] {
	return nodesOf(file)
		.filter((node) => ts.isVariableDeclaration(node))
		.filter((node) => node.name.getText() === name && node.initializer !== undefined)
		.flatMap((node) => textsOf(node.initializer!, file));
}

function nodesOf(node: ts.Node): ts.Node[] {
	const children: ts.Node[] = [];
	node.forEachChild((child) => void children.push(child));
	return [node, ...children.flatMap(nodesOf)];
}

function messagesOf(path: string): string[] {
	const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
	return nodesOf(file).flatMap((node) => {
		if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
			const argument = node.arguments?.[MESSAGE_ARGUMENT[node.expression.getText()]];
			return argument ? textsOf(argument, file) : [];
		}
		const isOfRule = ts.isPropertyAssignment(node) && node.name.getText() === 'message';
		return isOfRule ? textsOf(node.initializer, file) : [];
	});
}

const messages = globSync('{nodes,credentials}/**/*.ts')
	.filter((path) => path !== INTERNAL)
	.flatMap(messagesOf);
const troubleshooting = readme.slice(
	readme.indexOf('\n## Troubleshooting\n'),
	readme.indexOf('\n## Privacy\n'),
);
const listed = [...troubleshooting.matchAll(/^\| `([^`]+)`/gm)].map(([, text]) => text);
const isListedAs = (message: string, text: string) =>
	message.startsWith(text.replace(/…$/, '')) && (text.length > 12 || text === message);

test('every message of the nodes stands in the README', () => {
	expect(messages.length).toBeGreaterThan(40);
	const missing = messages.filter((message) => !listed.some((text) => isListedAs(message, text)));
	expect(missing).toEqual([]);
});

test('every message in the README is one of the nodes', () => {
	const codes = /^E[A-Z]+$/;
	const stale = listed.filter(
		(text) => !codes.test(text) && !messages.some((message) => isListedAs(message, text)),
	);
	expect(stale).toEqual([]);
});

test('every command in the README is one of the package', () => {
	const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
		scripts: Record<string, string>;
	};
	const commands = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
	expect(commands).toEqual(expect.arrayContaining(['demo', 'dev', 'sandbox']));
	expect(commands.filter((name) => !(name in scripts))).toEqual([]);
});

test('every link in the README to this repository leads somewhere', () => {
	const headings = [...readme.matchAll(/^##+ (.+)$/gm)].map(([, title]) => anchorOf(title));
	const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
	const paths = links.filter((link) => !/^(https:|#)/.test(link)).map((link) => link.split('#')[0]);
	expect(links.filter((link) => link.startsWith('#')).map((link) => link.slice(1))).toEqual(
		expect.arrayContaining(['installation']),
	);
	expect(links.filter((link) => link.startsWith('#') && !headings.includes(link.slice(1)))).toEqual(
		[],
	);
	expect(paths.filter((path) => globSync(path).length === 0)).toEqual([]);
});

function anchorOf(title: string): string {
	return title
		.toLowerCase()
		.replace(/[^\w\- ]/g, '')
		.replaceAll(' ', '-');
}
