import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

const FOLDERS = ['nodes', 'server', 'test/support'];
/** What a build leaves, and the lockfile that npm wants by this name. */
const BUILT = /(^|[\\/])((dist|node_modules)[\\/]|npm-shrinkwrap\.json$)/;
/** Named after the command that the package installs. */
const EXCEPTIONS = [join('server', 'lifelog-server.cjs')];

test('file names are in camel case, without hyphens', () => {
	const files = FOLDERS.flatMap((folder) =>
		readdirSync(folder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ parentPath, name }) => join(parentPath, name)),
	).filter((path) => !BUILT.test(path));
	expect(files.length).toBeGreaterThan(300);
	expect(files.filter((path) => basename(path).includes('-'))).toEqual(EXCEPTIONS);
});

describe('the trigger stays small', () => {
	const folder = join('nodes', 'LifelogTrigger');
	const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.ts'))
		.map((name) => ({ name, code: readFileSync(join(folder, name), 'utf8') }));
	const linesOf = (code: string) => code.trimEnd().split('\n').length;

	test('has at most 1,200 lines in 11 files, and 200 lines in one file', () => {
		const lines = sources.map(({ code }) => linesOf(code));
		expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1200);
		expect(sources.length).toBeLessThanOrEqual(11);
		expect(Math.max(...lines)).toBeLessThanOrEqual(200);
	});

	test('no function has more than 40 lines', () => {
		const sizes = sources.flatMap(({ name, code }) => {
			const source = ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true);
			return functionsIn(source).map((one) => ({ name, lines: linesOf(one.getText()) }));
		});
		expect(sizes.length).toBeGreaterThan(60);
		expect(sizes.filter(({ lines }) => lines > 40)).toEqual([]);
	});

	function functionsIn(node: ts.Node): ts.Node[] {
		const inside: ts.Node[] = ts.isFunctionLike(node) ? [node] : [];
		node.forEachChild((child) => void inside.push(...functionsIn(child)));
		return inside;
	}
});
