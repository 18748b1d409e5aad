import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { anchorsIn, linksIn } from '../support/markdown.mts';

const readme = readFileSync('README.md', 'utf8');
/** Absolute, so that the links of the README work on npm as well. */
const REPOSITORY = 'https://github.com/n8n-nodes-lifelog/n8n-nodes-lifelog/blob/main/';
const PICTURES = 'https://raw.githubusercontent.com/n8n-nodes-lifelog/n8n-nodes-lifelog/main/';

/** Where each call that makes an error or a hint has its message. */
const MESSAGE_ARGUMENT: Record<string, number> = {
	Error: 0,
	NodeOperationError: 1,
	apiError: 1,
	hint: 1,
	inputError: 1,
};
/** Its errors are caught and told as a broken connection. */
const INTERNAL = ['body', 'upload'].map((name) => `nodes/shared/transport/${name}.ts`);

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
	if (ts.isArrowFunction(expression)) return textsOf(expression.body as ts.Expression, file);
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
		if (ts.isReturnStatement(node) && node.expression && path.endsWith('credentialTest.ts')) {
			return textsOf(node.expression, file);
		}
		if (ts.isVariableDeclaration(node) && node.name.getText() === 'LIMITLESS_END') {
			return textsOf(node.initializer!, file);
		}
		const isMessage = ts.isPropertyAssignment(node) && node.name.getText() === 'message';
		const isOfSuccess = node.parent?.getText().includes("status: 'OK'");
		return isMessage && !isOfSuccess ? textsOf(node.initializer, file) : [];
	});
}

const messages = globSync('{nodes,credentials,lifelog}/**/*.ts')
	.filter((path) => !INTERNAL.includes(path))
	.flatMap(messagesOf);
const troubleshooting = readFileSync('docs/troubleshooting.md', 'utf8');
const listed = [...troubleshooting.matchAll(/^\| `([^`]+)`/gm)].map(([, text]) => text);
const isListedAs = (message: string, text: string) =>
	message.startsWith(text.replace(/…$/, '')) && (text.length > 12 || text === message);

test('docs/troubleshooting.md lists every message of the nodes', () => {
	expect(messages.length).toBeGreaterThan(40);
	const missing = messages.filter((message) => !listed.some((text) => isListedAs(message, text)));
	if (missing.length === 0) return;
	throw new Error(`Add a row to docs/troubleshooting.md for:\n${missing.join('\n')}`);
});

test('every message in docs/troubleshooting.md is a message of the nodes', () => {
	const codes = /^E[A-Z]+$/;
	const stale = listed.filter(
		(text) => !codes.test(text) && !messages.some((message) => isListedAs(message, text)),
	);
	expect(stale).toEqual([]);
});

const documents = globSync('**/*.md', {
	exclude: (name) => ['node_modules', 'dist', 'versions'].includes(name),
});

test('every Markdown file is checked', () => {
	expect(documents).toEqual(
		expect.arrayContaining([
			...['README.md', 'CONTRIBUTING.md', 'docs/trigger.md', 'examples/README.md'],
			...['server/sandbox/README.md', 'server/README.md', 'test/n8n/README.md'],
		]),
	);
});

test('the README has at most 130 lines, and the two commands with which to try and to test', () => {
	expect(readme.split('\n').length - 1).toBeLessThanOrEqual(130);
	const commands = [...readme.matchAll(/```sh\n([^`]+)\n```/g)].map(([, command]) => command);
	expect(commands).toEqual(
		expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm test']),
	);
});

test.each(documents)('every command in %s exists in the package', (path) => {
	const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
		scripts: Record<string, string>;
	};
	const commands = [...readFileSync(path, 'utf8').matchAll(/npm run ([\w:-]+)/g)];
	expect(commands.map(([, name]) => name).filter((name) => !(name in scripts))).toEqual([]);
});

test.each(documents)('every link in %s to this repository works', (path) => {
	const links = linksOf(path);
	expect(links.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
});

test('every address of this repository in the build, the page or the examples works', () => {
	const files = globSync('{nodes,credentials,server,examples}/**/*.{ts,mts,cjs,json}', {
		exclude: (name) => name === 'dist',
	});
	const addresses = files.flatMap((path) =>
		[...readFileSync(path, 'utf8').matchAll(/https:\/\/[^\s"'`)\\]+/g)].map(([address]) => ({
			path,
			address,
		})),
	);
	const own = addresses.filter(({ address }) => targetOf('', address)[0] !== undefined);
	expect(own.length).toBeGreaterThan(8);
	expect(own.filter(({ path, address }) => !leadsSomewhere(path, address))).toEqual([]);
});

test('every link in the README works on npm, without the other files of the repository', () => {
	const relative = linksOf('README.md').filter((link) => !/^(https:|#)/.test(link));
	expect(relative).toEqual([]);
	expect(linksOf('README.md').filter((link) => link.startsWith(REPOSITORY)).length).toBeGreaterThan(
		10,
	);
});

test('every page of docs/ can be reached from the README', () => {
	const pages = globSync('docs/**/*.md');
	const reached = new Set(['README.md']);
	for (const page of reached) {
		for (const link of linksOf(page)) {
			const [target] = targetOf(page, link);
			if (target && documents.includes(target)) reached.add(target);
		}
	}
	expect(pages.filter((page) => !reached.has(page))).toEqual([]);
});

test('each promise of SECURITY.md names existing tests', () => {
	const [, promises] = readFileSync('SECURITY.md', 'utf8').split('## Promises\n');
	const rows = promises
		.split('\n')
		.filter((line) => line.startsWith('| ') && !/^\| (-|What is promised)/.test(line));
	const shownBy = rows.map((row) => [
		...row
			.split('|')
			.at(-2)!
			.matchAll(/`([^`]+)`/g),
	]);
	expect(rows.length).toBeGreaterThan(20);
	expect(shownBy.filter((tests) => tests.length === 0)).toEqual([]);
	const files = shownBy.flat().map(([, name]) => name);
	expect(files.filter((name) => globSync(`test/${name}{.test,}.mts`).length === 0)).toEqual([]);
});

const linksOf = (path: string) => linksIn(readFileSync(path, 'utf8'));

/** The file of this repository that a link names, and the heading in it; none for other links. */
function targetOf(path: string, link: string): [file?: string, anchor?: string] {
	const own = [REPOSITORY, PICTURES].find((address) => link.startsWith(address));
	if (!own && /^[a-z]+:/.test(link)) return [];
	const [file, anchor] = (own ? link.slice(own.length) : link).split('#');
	if (own) return [file, anchor];
	return [file === '' ? path : join(dirname(path), file), anchor];
}

function leadsSomewhere(path: string, link: string): boolean {
	const [file, anchor] = targetOf(path, link);
	if (file === undefined) return true;
	if (!existsSync(file)) return false;
	if (anchor === undefined) return true;
	return anchorsIn(readFileSync(file, 'utf8')).includes(anchor);
}
