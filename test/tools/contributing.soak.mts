// The steps of "Add an operation" in CONTRIBUTING.md, taken in a copy.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadPackage } from '../support/engine.mts';
import { startLab } from '../support/lab.mts';
import { within, workflowWith } from '../support/workflow.mts';

const COPIED = [
	...[
		'nodes',
		'credentials',
		'lifelog',
		'icons',
		'package.json',
		'tsconfig.json',
		'eslint.config.mjs',
	],
	...['test/nodes/faults', 'test/support', 'docs/developer/reliability.csv'],
];
const REPORT = 'docs/developer/reliability.csv';

/** A block of code, and the file it is about: the last one named above it. */
interface Step {
	path: string;
	kind: string;
	code: string;
}

function stepsIn(page: string): Step[] {
	const [, section] = /^## Add an operation\n(.*?)^## /ms.exec(page)!;
	const parts = section.split(/^```(\w*)\n(.*?)^```$/ms);
	return parts.flatMap((text, nth) => {
		if (nth % 3 !== 0 || nth + 2 >= parts.length) return [];
		const path = [...text.matchAll(/`([\w./-]+\.m?ts)`/g)].at(-1)![1];
		return [{ path, kind: parts[nth + 1], code: parts[nth + 2] }];
	});
}

/** A file after a change: after each `@@` lines as they stand there, and what becomes of them. */
function changed(path: string, file: string, diff: string): string {
	const hunks = diff.split(/^@@\n/m).filter(Boolean);
	return hunks.reduce((text, hunk) => {
		const lines = hunk.split(/(?<=\n)/);
		const without = (sign: string) =>
			lines
				.filter((line) => !line.startsWith(sign))
				.map((line) => line.slice(1))
				.join('');
		const [before, after] = [without('+'), without('-')];
		const places = text.split(before).length - 1;
		if (places !== 1) {
			throw new Error(
				`A step of CONTRIBUTING.md ("Add an operation") fits ${path} in ${places} places, not in one. Mend its diff there: it looks for\n${before}`,
			);
		}
		return text.replace(before, () => after);
	}, file);
}

let dir: string;
const steps = stepsIn(readFileSync('CONTRIBUTING.md', 'utf8'));
// n8n's lint takes every file for one of its own tests where it is told that it is tested.
const env = { ...process.env, NODE_ENV: undefined };
const run = async (script: string, ...args: string[]) =>
	await promisify(execFile)(process.execPath, [script, ...args], { cwd: dir, env }).catch(
		(error: unknown) => {
			const { stdout, stderr } = error as { stdout: string; stderr: string };
			throw new Error(`${script} ${args.join(' ')}:\n${stdout}${stderr}`);
		},
	);

beforeAll(async () => {
	dir = await mkdtemp(join(tmpdir(), 'contributing-'));
	for (const path of COPIED) await cp(path, join(dir, path), { recursive: true });
	await symlink(resolve('node_modules'), join(dir, 'node_modules'));
	for (const { path, kind, code } of steps) {
		const file = join(dir, path);
		await mkdir(dirname(file), { recursive: true });
		const isDiff = kind === 'diff';
		await writeFile(file, isDiff ? changed(path, await readFile(file, 'utf8'), code) : code);
	}
	await run('node_modules/typescript/bin/tsc');
});

afterAll(async () => await rm(dir, { recursive: true }));

test('the steps are a new file, the node and the row of the matrix', () => {
	expect(steps.map(({ path }) => path)).toEqual([
		expect.stringMatching(/^nodes\/Lifelog\/operations\/\w+\.ts$/),
		'nodes/Lifelog/Lifelog.node.ts',
		'test/nodes/faults/operations.mts',
	]);
});

test("n8n's lint finds no error", async () => {
	await run('node_modules/eslint/bin/eslint.js', 'nodes/Lifelog');
});

test('the operation counts the results of Get Many', async () => {
	const { sandbox, engine, close } = await startLab(3, { nodeTypes: loadPackage(dir).nodeTypes });
	try {
		const { startTime: start } = (await sandbox.control.lifelogs())[20];
		for (const filters of [{}, { start }, { isStarred: true }]) {
			const give = async (operation: string) =>
				(
					await engine.runWorkflow(
						workflowWith('lifelog', { operation, returnAll: true, ...within(filters) }),
					)
				).items('Node');
			const all = await give('getMany');
			expect(all.length).toBeGreaterThan(0);
			expect((await give('count')).map(({ json }) => json)).toEqual([{ count: all.length }]);
		}
	} finally {
		await close();
	}
});

test('the matrix has one more line', async () => {
	await run('test/nodes/faults/report.mts', 'lifelog.count');
	const before = (await readFile(REPORT, 'utf8')).split('\n');
	const after = (await readFile(join(dir, REPORT), 'utf8')).split('\n');
	const added = after.filter((line) => !before.includes(line));
	expect(added).toEqual([expect.stringMatching(/^"Count Lifelogs","data /)]);
	expect(after.filter((line) => !added.includes(line))).toEqual(before);
});
