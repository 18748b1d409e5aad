// Which changes of a room does no test notice? Draws mutants from a seed, runs the room's tests on each,
// and lists those that survive: npm run mutants -- <room> [--seed N] [--count N]
//
// A room is a folder. `mutants.json` has the tests of each, the nearest first. The work is done in a
// temporary git worktree: it has the changes that aren't committed, but no files that git doesn't know.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { seededRandom } from '../support/seededRandom.mts';

/** `test/tools/mutants.json` */
interface Table {
	/** Run once, before the tests. */
	prepare: string;
	/** Runs tests and ends at the first failure. */
	run: string;
	/** For each room, what `run` gets: one run after the other. */
	rooms: Record<string, string[]>;
}

interface Mutant {
	file: string;
	kind: 'condition' | 'call' | 'bound' | 'constant' | 'text';
	start: number;
	end: number;
	replacement: string;
	/** `file:line what` */
	name: string;
}

const SHIFTED = new Map<ts.SyntaxKind, string>([
	[ts.SyntaxKind.LessThanToken, '<='],
	[ts.SyntaxKind.LessThanEqualsToken, '<'],
	[ts.SyntaxKind.GreaterThanToken, '>='],
	[ts.SyntaxKind.GreaterThanEqualsToken, '>'],
]);

/** Whether a literal is part of a type, a name, or where an import is from. */
function isNoValue(node: ts.Node): boolean {
	const { parent } = node;
	const isPath = ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent);
	return isPath || ts.isLiteralTypeNode(parent) || ('name' in parent && parent.name === node);
}

/** How a node can be changed, if it can. */
function changeOf(node: ts.Node): [Mutant['kind'], ts.Node, (text: string) => string] | undefined {
	if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) {
		return ['condition', node.expression, (text) => `!(${text})`];
	}
	if (ts.isConditionalExpression(node)) {
		return ['condition', node.condition, (text) => `!(${text})`];
	}
	if (ts.isExpressionStatement(node)) {
		const { expression } = node;
		const called = ts.isAwaitExpression(expression) ? expression.expression : expression;
		return ts.isCallExpression(called) ? ['call', node, () => ';'] : undefined;
	}
	if (ts.isBinaryExpression(node)) {
		const shifted = SHIFTED.get(node.operatorToken.kind);
		return shifted ? ['bound', node.operatorToken, () => shifted] : undefined;
	}
	if (ts.isSourceFile(node) || isNoValue(node)) return undefined;
	if (node.kind === ts.SyntaxKind.TrueKeyword) return ['constant', node, () => 'false'];
	if (node.kind === ts.SyntaxKind.FalseKeyword) return ['constant', node, () => 'true'];
	if (ts.isNumericLiteral(node)) return ['constant', node, (text) => `(${text} + 1)`];
	if (ts.isStringLiteralLike(node)) {
		return ['text', node, () => (node.text === 'other' ? "'another'" : "'other'")];
	}
	return undefined;
}

const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 60);

/** Every mutant of a file. */
function mutantsOf(file: string, text: string): Mutant[] {
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	const found: Mutant[] = [];
	const look = (node: ts.Node) => {
		const change = changeOf(node);
		if (change) {
			const [kind, { end }, replace] = change;
			const start = change[1].getStart(source);
			const [before, replacement] = [text.slice(start, end), replace(text.slice(start, end))];
			const line = source.getLineAndCharacterOfPosition(start).line + 1;
			const shown = kind === 'bound' ? node.getText(source) : before;
			const name = `${file}:${line} ${short(shown)} → ${short(replacement)}`;
			found.push({ file, kind, start, end, replacement, name });
		}
		ts.forEachChild(node, look);
	};
	look(source);
	return found;
}

/** All mutants in random order. Each kind is as likely as the others, however many there are of it. */
function* drawn(mutants: Mutant[], seed: number): Generator<Mutant> {
	const random = seededRandom(seed);
	const names = new Set(mutants.map(({ kind }) => kind));
	const kinds = [...names].map((name) => mutants.filter(({ kind }) => kind === name));
	const draw = (length: number) => Math.floor(random() * length);
	while (kinds.length > 0) {
		const nth = draw(kinds.length);
		yield kinds[nth].splice(draw(kinds[nth].length), 1)[0];
		if (kinds[nth].length === 0) kinds.splice(nth, 1);
	}
}

/** The files of one tsconfig.json, of which one at a time can be changed. */
class Project {
	readonly #options: ts.CompilerOptions;
	readonly #files: string[];
	readonly #host: ts.CompilerHost;
	readonly #sources = new Map<string, ts.SourceFile | undefined>();
	#changed?: ts.SourceFile;
	#program?: ts.Program;

	constructor(config: string) {
		const fail = ({ messageText }: ts.Diagnostic) => {
			throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
		};
		const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
		// What is no longer used, or never reached, still runs.
		const lenient = {
			noUnusedLocals: false,
			noUnusedParameters: false,
			allowUnreachableCode: true,
		};
		const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(config, lenient, host)!;
		this.#options = options;
		this.#files = fileNames;
		this.#host = ts.createCompilerHost(options);
		const read = this.#host.getSourceFile;
		this.#host.getSourceFile = (path, ...rest) => {
			if (path === this.#changed?.fileName) return this.#changed;
			if (!this.#sources.has(path)) this.#sources.set(path, read(path, ...rest));
			return this.#sources.get(path);
		};
	}

	/** The project with another text of one file. */
	#with(path: string, text: string): ts.Program {
		const target = this.#options.target ?? ts.ScriptTarget.Latest;
		this.#changed = ts.createSourceFile(path, text, target, true);
		this.#program = ts.createProgram(this.#files, this.#options, this.#host, this.#program);
		return this.#program;
	}

	compiles(path: string, text: string): boolean {
		return ts.getPreEmitDiagnostics(this.#with(path, text)).length === 0;
	}

	/** Writes what is built of a file: nothing if its sources are run. */
	emit(path: string, text: string): void {
		this.#with(path, text).emit(this.#changed);
	}
}

const { positionals, values } = parseArgs({
	allowPositionals: true,
	options: {
		seed: { type: 'string', default: '1' },
		count: { type: 'string', default: '10' },
	},
});
const room = (positionals[0] ?? '').replace(/\/$/, '');
const table = JSON.parse(fs.readFileSync('test/tools/mutants.json', 'utf8')) as Table;
const [ofTests] = Object.keys(table.rooms)
	.filter((name) => `${room}/`.startsWith(`${name}/`))
	.sort((a, b) => b.length - a.length);
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const files = git('ls-files', '--', `${room}/*.ts`, `${room}/*.mts`)
	.split('\n')
	.filter((file) => file !== '' && !file.endsWith('.d.ts'));
if (ofTests === undefined || files.length === 0) {
	console.error(`Usage: npm run mutants -- <room> [--seed N] [--count N]`);
	console.error(
		`A room is one of these, or a folder in it: ${Object.keys(table.rooms).join(', ')}`,
	);
	process.exit(2);
}

// TypeScript names files by their real path.
const work = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'mutants-')));
// Some tests run commands as another user.
fs.chmodSync(work, 0o755);
const copy = join(work, 'copy');
const temporary = join(work, 'tmp');
let running: number | undefined;

function killRunning(): void {
	try {
		if (running !== undefined) process.kill(-running, 'SIGKILL');
	} catch {
		// It has ended.
	}
}

process.on('exit', () => {
	killRunning();
	try {
		fs.rmSync(work, { recursive: true, force: true, maxRetries: 5 });
	} catch (error) {
		// Such as a disk that a test has mounted.
		console.error(`Couldn't remove all of ${work}:`, error);
	}
	git('worktree', 'prune');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => process.exit(1));
}

/** Runs a command in the copy, with a time limit. */
async function run(command: string, limitMs?: number) {
	const beganMs = Date.now();
	const child = spawn('bash', ['-c', command], {
		cwd: copy,
		detached: true,
		env: {
			...process.env,
			PATH: join(copy, 'node_modules', '.bin') + delimiter + process.env.PATH,
			TMPDIR: temporary,
		},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	running = child.pid;
	let output = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (text: string) => (output += text));
	}
	let isLate = false;
	const late = () => {
		isLate = true;
		killRunning();
	};
	const timer = limitMs === undefined ? undefined : setTimeout(late, limitMs);
	const [status] = (await once(child, 'exit')) as [number | null];
	clearTimeout(timer);
	// What its tests have left.
	killRunning();
	running = undefined;
	return { hasPassed: status === 0, isLate, output, ms: Date.now() - beganMs };
}

/** Runs a command that has to pass without a mutant. */
async function runUnchanged(command: string) {
	console.log(`Without a mutant: ${command}`);
	const { hasPassed, output, ms } = await run(command);
	if (hasPassed) return ms;
	console.error(output.slice(-5000));
	console.error('This fails without a mutant, so it says nothing about one.');
	process.exit(1);
}

fs.mkdirSync(temporary);
git('worktree', 'add', '--detach', copy, git('stash', 'create') || 'HEAD');
fs.symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));

const texts = new Map(files.map((file) => [file, fs.readFileSync(join(copy, file), 'utf8')]));
const mutants = [...texts].flatMap(([file, text]) => mutantsOf(file, text));
console.log(`${room}: ${mutants.length} mutants in ${files.length} files, seed ${values.seed}`);

await runUnchanged(table.prepare);
const runs: { command: string; limitMs: number }[] = [];
for (const tests of table.rooms[ofTests]) {
	const command = [table.run, ...tests.split(' ').map((pattern) => `'${pattern}'`)].join(' ');
	runs.push({ command, limitMs: 3 * (await runUnchanged(command)) + 60_000 });
}

const projects = new Map<string, Project>();
function projectOf(path: string): Project {
	const config = ts.findConfigFile(dirname(path), ts.sys.fileExists)!;
	if (!projects.has(config)) projects.set(config, new Project(config));
	return projects.get(config)!;
}

type Fate = 'killed' | 'late' | 'survived';

/** Runs tests until one fails. */
async function fateOf(): Promise<Fate> {
	for (const { command, limitMs } of runs) {
		const { hasPassed, isLate } = await run(command, limitMs);
		if (isLate) return 'late';
		if (!hasPassed) return 'killed';
	}
	return 'survived';
}

/** Puts a text into the copy, and what is built of it. */
function put(file: string, text: string): void {
	const path = join(copy, file);
	fs.writeFileSync(path, text);
	projectOf(path).emit(path, text);
}

const count = Number(values.count);
const fates: Record<Fate, string[]> = { killed: [], late: [], survived: [] };
let [ran, rejected] = [0, 0];
for (const { file, start, end, replacement, name } of drawn(mutants, Number(values.seed))) {
	if (ran === count) break;
	const text = texts.get(file)!;
	const changed = text.slice(0, start) + replacement + text.slice(end);
	const path = join(copy, file);
	if (!projectOf(path).compiles(path, changed)) {
		if (!projectOf(path).compiles(path, text)) {
			console.error(`The project of ${file} doesn't compile without a mutant, either.`);
			process.exit(1);
		}
		rejected++;
		continue;
	}
	put(file, changed);
	const fate = await fateOf();
	put(file, text);
	fates[fate].push(name);
	console.log(`${++ran}/${count} ${fate}: ${name}`);
}

console.log(fates.survived.length > 0 ? '\nSurvivors:' : '\nNo survivors');
for (const name of fates.survived) console.log(name);
const counts = Object.entries(fates).map(([fate, names]) => `${names.length} ${fate}`);
console.log(
	`\n${ran} mutants: ${counts.join(', ')}. ${rejected} more that don't compile weren't run`,
);
