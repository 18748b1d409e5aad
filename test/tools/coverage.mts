// Runs tests and prints how many lines of each room they reach: npm run coverage [-- <arguments of Jest>]
//
// Node.js counts, in the workers of Jest and in every process that a test starts. A process that is
// killed writes no counts, or only some, which are left out.
import { mergeScriptCovs, type ScriptCov } from '@bcoe/v8-coverage';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import coverageLibrary from 'istanbul-lib-coverage';
import ts from 'typescript';
import toIstanbul from 'v8-to-istanbul';

/** What a process ran of a file: the file itself, or what Jest made of it. */
interface RanText {
	path: string;
	code: string;
	length: number;
	wrapperLength: number;
}

const ROOMS = ['nodes', 'lifelog', 'server'];

const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
// Tests start processes of other users, too.
chmodSync(folder, 0o1777);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const jest = join('node_modules', 'jest', 'bin', 'jest.js');
const config = join('test', 'tools', 'coverageConfig.js');
const { status } = spawnSync(
	process.execPath,
	[jest, '--config', config, ...process.argv.slice(2)],
	{
		stdio: 'inherit',
		// Functions from the compile cache have no counts of their blocks.
		env: { ...process.env, COVERAGE_FOLDER: folder, NODE_DISABLE_COMPILE_CACHE: '1' },
	},
);
process.exitCode = status ?? 1;

const isOfRoom = (path: string) =>
	ROOMS.some((room) => [room, join('dist', room)].some((at) => path.startsWith(`${resolve(at)}/`)));
const filesOf = (kind: string) =>
	readdirSync(folder)
		.filter((name) => name.startsWith(kind))
		.map((name) => join(folder, name));
const read = <T,>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as T;

function scriptsIn(path: string): ScriptCov[] {
	try {
		return read<{ result: ScriptCov[] }>(path).result;
	} catch (error) {
		if (error instanceof SyntaxError) return [];
		throw error;
	}
}

// What Jest made of a file has another length than the file that Node.js runs without its types.
const keyOf = (path: string, length: number) => `${path} ${length}`;
const texts = new Map<string, RanText>();
for (const file of filesOf('text-')) {
	const text = read<RanText>(file);
	texts.set(keyOf(text.path, text.length), text);
}

/** The counts of each text, of which the first is the sum of earlier ones. */
const counts = new Map<string, ScriptCov[]>();
for (const file of filesOf('coverage-')) {
	for (const script of scriptsIn(file)) {
		if (!script.url.startsWith('file:')) continue;
		const path = fileURLToPath(script.url);
		if (!isOfRoom(path)) continue;
		// The outermost function is the whole script.
		const length = script.functions[0].ranges[0].endOffset;
		const key = keyOf(path, length);
		if (!texts.has(key)) {
			texts.set(key, { path, code: readFileSync(path, 'utf8'), length, wrapperLength: 0 });
		}
		const before = counts.get(key) ?? [];
		const merged = before.length < 20 ? before : [mergeScriptCovs(before)!];
		counts.set(key, [...merged, script]);
	}
	rmSync(file);
}

const reached = coverageLibrary.createCoverageMap();
for (const [key, scripts] of counts) {
	const { path, code, wrapperLength } = texts.get(key)!;
	const converter = toIstanbul(path, wrapperLength, { source: code });
	await converter.load();
	converter.applyCoverage(mergeScriptCovs(scripts)!.functions);
	reached.merge(converter.toIstanbul());
}

/** The lines with something that runs: no types, imports, comments and brackets. */
function linesOf(text: string): Set<number> {
	const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
	const lines = new Set<number>();
	const look = (node: ts.Node) => {
		const isType = ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node);
		const isNothing = isType || ts.isInterfaceDeclaration(node) || ts.isJSDoc(node);
		if (isNothing || ts.isImportDeclaration(node)) return;
		const children = node.getChildren(source);
		children.forEach(look);
		const isBracket =
			node.kind >= ts.SyntaxKind.FirstPunctuation && node.kind <= ts.SyntaxKind.LastPunctuation;
		if (children.length > 0 || isBracket || node.getWidth(source) === 0) return;
		lines.add(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
	};
	look(source);
	return lines;
}

/** The second level, below nodes/shared the third. */
function roomOf(file: string): string {
	const [first, second, third] = dirname(file).split('/');
	return [first, second, second === 'shared' ? third : undefined].filter(Boolean).join('/');
}

const rooms = new Map<string, { lines: number; reached: number }>();
const files = execFileSync('git', ['ls-files', ...ROOMS], { encoding: 'utf8' })
	.split('\n')
	// The page runs in a browser: npm run test:web.
	.filter((file) => /(?<!\.d)\.m?ts$/.test(file) && !file.startsWith('server/page/'));
for (const file of files) {
	const path = resolve(file);
	const hits = reached.files().includes(path)
		? reached.fileCoverageFor(path).getLineCoverage()
		: {};
	const lines = linesOf(readFileSync(path, 'utf8'));
	const hit = [...lines].filter((line) => hits[line] > 0).length;
	for (const room of new Set([roomOf(file), `${file.split('/')[0]}/`, 'all'])) {
		const sum = rooms.get(room) ?? { lines: 0, reached: 0 };
		rooms.set(room, { lines: sum.lines + lines.size, reached: sum.reached + hit });
	}
}

console.log('\nLines that the tests reach:');
const isSum = (room: string) => room === 'all' || room.endsWith('/');
const inOrder = [...rooms].sort(
	([a], [b]) => Number(isSum(a)) - Number(isSum(b)) || (a < b ? -1 : 1),
);
for (const [room, { lines, reached: hit }] of inOrder) {
	const percent = lines === 0 ? '' : `${((100 * hit) / lines).toFixed(1)} %`;
	console.log(`${room.padEnd(26)}${percent.padStart(8)}${`${hit} of ${lines}`.padStart(18)}`);
}
