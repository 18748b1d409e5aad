// The tool on a room whose survivors are known.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const FILES = {
	'.gitignore': 'node_modules\n',
	'tsconfig.json': JSON.stringify({
		compilerOptions: {
			strict: true,
			noEmit: true,
			target: 'es2023',
			types: [],
			skipLibCheck: true,
		},
		include: ['room'],
	}),
	'test/tools/mutants.json': JSON.stringify({
		prepare: 'true',
		run: 'node',
		rooms: { room: ['size.test.mts'] },
	}),
	'room/size.mts': `export const log: string[] = [];

export function sizeOf(names?: string[]): string {
	log.push('asked');
	if (names === undefined) return 'unknown';
	return names.length > 2 ? 'large' : 'small';
}
`,
	// Never asks for two or three names, nor for the log.
	'size.test.mts': `import { deepEqual } from 'node:assert/strict';
import { sizeOf } from './room/size.mts';

deepEqual([sizeOf(), sizeOf(['a']), sizeOf(['a', 'b', 'c', 'd'])], ['unknown', 'small', 'large']);
`,
};

let folder: string;
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
const tool = resolve('test/tools/mutants.mts');
const environment = () => ({ cwd: folder, env: { ...process.env, TMPDIR: folder } });

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'lifelog-mutants-'));
	for (const [name, text] of Object.entries(FILES)) {
		mkdirSync(dirname(join(folder, name)), { recursive: true });
		writeFileSync(join(folder, name), text);
	}
	symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
	git('init', '--quiet');
	git('add', '.');
	const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
	git(...author, 'commit', '--quiet', '--message', 'A room');
});
afterAll(() => rmSync(folder, { recursive: true }));

async function mutants(...args: string[]): Promise<string[]> {
	const run = promisify(execFile);
	const { stdout } = await run(process.execPath, [tool, 'room', ...args], environment());
	return stdout.split('\n');
}

/** Whether nothing is left of a run. */
const left = () => [
	git('status', '--porcelain'),
	git('worktree', 'list').trim().split('\n').length,
];

const ran = (lines: string[]) => lines.map((line) => /^\d+\/\d+ (.*)/.exec(line)?.[1] ?? []).flat();

test('lists the survivors, and draws the same mutants for the same seed', async () => {
	const lines = await mutants('--seed', '7', '--count', '100');
	expect(lines.slice(lines.indexOf('Survivors:') + 1, -3).sort()).toEqual([
		"room/size.mts:4 'asked' → 'other'",
		"room/size.mts:4 log.push('asked'); → ;",
		'room/size.mts:6 2 → (2 + 1)',
		'room/size.mts:6 names.length > 2 → >=',
	]);
	expect(lines.at(-2)).toBe(
		"8 mutants: 4 killed, 0 late, 4 survived. 1 more that don't compile weren't run",
	);
	expect(left()).toEqual(['', 1]);
	expect(ran(await mutants('--seed', '7', '--count', '2'))).toEqual(ran(lines).slice(0, 2));
});

test('ends with an error if the project does not compile without a mutant', async () => {
	writeFileSync(join(folder, 'room', 'wrong.mts'), "export const wrong: number = 'one';\n");
	git('add', '.');
	await expect(mutants()).rejects.toMatchObject({
		code: 1,
		stderr: expect.stringMatching(/The project of room\/\w+\.mts doesn't compile without a mutant/),
	});
	git('rm', '--quiet', '--force', 'room/wrong.mts');
	expect(left()).toEqual(['', 1]);
});

test('leaves nothing behind when it is stopped', async () => {
	const child = spawn(process.execPath, [tool, 'room'], environment());
	const exited = once(child, 'exit');
	await Promise.race([once(child.stdout, 'data'), exited]);
	child.kill('SIGINT');
	await exited;
	expect(left()).toEqual(['', 1]);
});
