// What every option of lifelog-server promises: one declaration, a variable, and errors that help.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS, unknownOnes } from '../../../server/cli/commands.mts';
import {
	nameOf,
	type Options,
	readCommand,
	type DeclaredCommand,
} from '../../../server/util/options.mts';
import { serverKey, spawnLifelogServer } from '../../support/lifelogServer.mts';
import { posixTest } from '../../support/platform.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

const optionsOf = ({ options }: DeclaredCommand) => Object.entries(options);
const everyOption = COMMANDS.flatMap((command) =>
	optionsOf(command).flatMap(([key, option]) =>
		option.variable === undefined ? [] : [{ command, key, option, variable: option.variable }],
	),
);
const isSwitch = ({ flags }: { flags: string }) => !flags.includes(' ');
const named = (each: (typeof everyOption)[number]) =>
	[`${each.command.name} ${each.option.flags}`, each] as const;

/** A value that each option takes, by what is in its flags. */
const VALUES: Record<string, string> = {
	...{ '<address>': 'http://127.0.0.1:9/v1', '<kinds>': 'chats', '<day>': '2025-01-31' },
	...{ '<name>': 'Europe/Berlin', '<minutes>': '5', '<n>': '7', '<file>': 'x', '<code>': 'de' },
	...{ '<names>': 'a.example', '<addresses>': '127.0.0.1', '<folder>': 'inbox' },
	'<form>': 'app-export',
	...{ '<seconds>': '1,1,5', '<words>': 'Anna Meier, Quickcarbon' },
	...{ '<level>': 'warn', '<format>': 'json', '<origin>': 'https://lifelogs.example.org' },
};
const valueOf = ({ flags }: { flags: string }) =>
	flags.startsWith('--transcription-format') ? 'wav' : VALUES[flags.split(' ')[1]];

let before: NodeJS.ProcessEnv;
beforeEach(() => {
	before = { ...process.env };
});
afterEach(() => {
	for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
	Object.assign(process.env, before);
});

function read(command: DeclaredCommand, args: string[] = [], env: Record<string, string> = {}) {
	Object.assign(process.env, env);
	const operands = command.operands.split(' ');
	const given = readCommand<Options>(command, [...operands, ...args])!;
	for (const name of Object.keys(env)) delete process.env[name];
	return given;
}

describe('a variable', () => {
	test.each(everyOption.filter(({ option }) => isSwitch(option)).map(named))(
		'of the switch %s takes true, 1, false, 0 and nothing, and no other value',
		(_name, { command, key, option, variable }) => {
			for (const [value, isOn] of Object.entries({ true: 1, 1: 1, false: 0, 0: 0, '': 0 })) {
				const { values, problems } = read(command, [], { [variable]: value });
				expect([value, values[key], problems]).toEqual([value, isOn === 1, []]);
			}
			for (const value of ['yes', 'TRUE', 'on', 'no', ' ', 'off', 'truefalse']) {
				const { values, problems } = read(command, [], { [variable]: value });
				expect([value, values[key]]).toEqual([value, false]);
				expect(problems).toEqual([`${variable} must be true, 1, false, 0 or empty`]);
			}
			expect(read(command, [nameOf(option)], { [variable]: 'false' }).values[key]).toBe(true);
		},
	);

	test.each(everyOption.filter(({ option }) => !isSwitch(option)).map(named))(
		'of %s says the same as the option, which wins, and is off if it is empty',
		(_name, { command, key, option, variable }) => {
			const value = valueOf(option);
			const typed = read(command, [nameOf(option), value]);
			expect(typed.problems).toEqual([]);
			const set = read(command, [], { [variable]: value });
			expect([set.problems, set.values[key]]).toEqual([[], typed.values[key]]);
			expect(set.sourceOf(key)).toBe(variable);
			const both = read(command, [nameOf(option), value], { [variable]: '--' });
			expect([both.problems, both.values[key]]).toEqual([[], typed.values[key]]);
			const none = read(command, [], { [variable]: '' });
			expect(none.values[key]).toEqual(read(command).values[key]);
		},
	);

	test('means one thing in all commands that know it', () => {
		const known = new Set(everyOption.map(({ variable }) => variable));
		for (const name of known) {
			const each = everyOption.filter(({ variable }) => variable === name);
			const declared = new Set(
				each.map(({ option: { flags, fallback } }) => `${flags} ${fallback}`),
			);
			expect([each[0].variable, declared.size]).toEqual([each[0].variable, 1]);
		}
		expect(known.has('LIFELOG_RATE_LIMIT')).toBe(false);
	});

	test.each([
		['LIFELOG_ALOW_DELETE', '. Did you mean LIFELOG_ALLOW_DELETE?'],
		['LIFELOG_SERVER_KEY_FIEL', '. Did you mean LIFELOG_SERVER_KEY_FILE?'],
		[
			'LIFELOG_RATE_LIMIT',
			'. Did you mean LIFELOG_ARCHIVE_RATE_LIMIT or LIFELOG_SERVE_RATE_LIMIT?',
		],
		['LIFELOG_URL', '. Did you mean LIFELOG_BASE_URL?'],
		['LIFELOG_WHATEVER', ''],
	])('%s, which no command knows, is a warning that names the nearest', (name, nearest) => {
		process.env[name] = 'x';
		expect(unknownOnes()).toEqual([`The variable ${name} isn't known${nearest}`]);
	});

	test('that is not known is in the log of a server, which starts', async () => {
		const env = { LIFELOG_SERVER_KEY: serverKey, LIFELOG_PORTT: '1' };
		const server = await startLifelogServer(temporaryFolder(), [], env);
		expect(server.log).toEqual([
			"The variable LIFELOG_PORTT isn't known. Did you mean LIFELOG_PORT?",
		]);
		await server.close();
	});
});

describe('options that contradict', () => {
	const [archive, serve] = COMMANDS;

	test('are refused if both are from the command line, or both from variables', () => {
		const { problems } = read(serve, ['--read-only', '--allow-delete']);
		expect(problems).toEqual(["--read-only and --allow-delete can't be used together"]);
		const env = { LIFELOG_READ_ONLY: '1', LIFELOG_ALLOW_CHANGES: 'true' };
		expect(read(serve, [], env).problems).toEqual([
			"LIFELOG_READ_ONLY and LIFELOG_ALLOW_CHANGES can't be used together",
		]);
	});

	test('are decided by the command line', () => {
		const readOnly = read(serve, ['--read-only'], { LIFELOG_ALLOW_DELETE: '1' });
		expect([readOnly.problems, readOnly.values.allowDelete]).toEqual([[], false]);
		const again = read(archive, ['--again', '2025-01-31'], { LIFELOG_WATCH: '60' });
		expect([again.problems, again.values.watch]).toEqual([[], undefined]);
	});
});

const run = (args: string[], env: Record<string, string> = {}) =>
	spawnSync(process.execPath, ['server/lifelog-server.cjs', ...args], {
		encoding: 'utf8',
		env: { ...before, ...env },
	});

describe('what is wrong', () => {
	const [archive, serve] = COMMANDS;

	test.each<[DeclaredCommand, string[], string]>([
		[serve, ['--alow-changes'], "Unknown option '--alow-changes'. Did you mean --allow-changes?"],
		[serve, ['--read-only=no'], '--read-only takes no value'],
		[archive, ['--only', 'chat'], 'not "chat". Did you mean chats?'],
		[serve, ['--log-level', 'wran'], 'one of error, warn, info, debug. Did you mean warn?'],
		[serve, ['--inbox', '--inbox-copy'], '--inbox needs a value'],
		[serve, ['--port'], '--port <n> needs a value'],
		[serve, ['--kee=secret'], "Unknown option '--kee'"],
		[serve, ['another'], "Unknown argument 'another'"],
	])('among the options of a command names the nearest: %#', (command, args, message) => {
		expect(read(command, args).problems).toEqual([expect.stringContaining(message)]);
	});

	test.each(everyOption.filter(({ option }) => !isSwitch(option)).map(named))(
		'is an empty value of %s, as from a script whose variable is not set',
		(_name, { command, option }) => {
			const problem = `${nameOf(option)} needs a value`;
			expect(read(command, [nameOf(option), '']).problems).toEqual([problem]);
		},
	);

	test('never shows what was given to an unknown option, which may be a secret', () => {
		const [problem] = read(archive, ['--key=secret']).problems;
		expect(problem).toMatch(/^Unknown option '--key'/);
	});

	test.each<[string[], string]>([
		[['chekc', 'x'], 'There is no command and no folder chekc. Did you mean check?'],
		[['frobnicate', 'x'], '. Commands: archive, serve, check, import, export, link'],
		[['check', 'x', '--url', 'http://localhost:1'], '--url needs --service'],
	])('%j is refused with exit code 2', (args, message) => {
		const { status, stdout, stderr } = run(args);
		expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
	});

	test('is said together, a line each', async () => {
		const folder = join(temporaryFolder(), 'none');
		const args = ['--port', 'many', '--log-level', 'loud', '--alow-http', '--trust-proxy', 'wings'];
		const env = { LIFELOG_CHAT_URL: 'http://example.com', LIFELOG_SERVER_KEY: 'ü' };
		const started = startLifelogServer(folder, args, env);
		const { message } = await started.then(
			() => new Error('It has started'),
			(error: unknown) => error as Error,
		);
		expect(message.split('\n')).toEqual([
			"Unknown option '--alow-http'. Did you mean --allow-http?",
			'--port must be a whole number from 0 to 65535',
			expect.stringMatching(/^LIFELOG_CHAT_URL must begin with https /),
			'--log-level must be one of error, warn, info, debug',
			'Use --chat-url and --chat-model together',
			expect.stringMatching(/^There is no folder .*: check its name, or make it with mkdir /),
			'--trust-proxy must be addresses or networks of proxies, such as 127.0.0.1 or 172.16.0.0/12',
		]);
	});
});

test('--print-config shows each value and where it is from, and no secret', () => {
	const folder = temporaryFolder();
	const path = join(temporaryFolder(), 'key');
	writeFileSync(path, 'secret-in-a-file');
	const { status, stdout } = run(['serve', folder, '--print-config', '--port', '9000'], {
		...{ LIFELOG_PORT: '9001', LIFELOG_ALLOW_DELETE: 'true', LIFELOG_ALLOW_CHANGES: 'false' },
		...{ LIFELOG_SERVER_KEY: 'secret-in-a-variable', LIFELOG_CHAT_KEY_FILE: path },
	});
	expect(status).toBe(0);
	const rows = Object.fromEntries(
		stdout
			.trim()
			.split('\n')
			.map((line) => line.split(/ {2,}/))
			.map(([name, ...rest]) => [name, rest]),
	);
	expect(rows).toMatchObject({
		'<folder>': [folder, 'command line'],
		'--port': ['9000', 'command line'],
		'--allow-delete': ['true', 'LIFELOG_ALLOW_DELETE'],
		'--allow-changes': ['false', 'LIFELOG_ALLOW_CHANGES'],
		'--log-level': ['info', 'default'],
		'--index': [join(folder, '.lifelog-index.sqlite'), 'default'],
		LIFELOG_SERVER_KEY: ['(redacted)', 'LIFELOG_SERVER_KEY'],
		LIFELOG_CHAT_KEY: ['(redacted)', 'LIFELOG_CHAT_KEY_FILE'],
		LIFELOG_EMBEDDINGS_KEY: ['default'],
	});
	expect(stdout).not.toMatch(/secret/);
});

test.each([['--print-config'], ['--port', 'many']])(
	'an unknown variable is a warning with %j, too',
	(...args) => {
		const { stderr } = run(['serve', temporaryFolder(), ...args], { LIFELOG_PORTT: '1' });
		expect(stderr).toContain("The variable LIFELOG_PORTT isn't known. Did you mean LIFELOG_PORT?");
	},
);

posixTest('a pipe that is closed ends a command as it ends others, without a trace', () => {
	const command = `"${process.execPath}" server/lifelog-server.cjs serve --help; echo $? >&2`;
	const { stderr } = spawnSync('bash', ['-c', `{ ${command}; } | true`], { encoding: 'utf8' });
	expect(stderr).toMatch(/^(0|141)\n$/);
});

test('each line of the text log begins with the time', async () => {
	const { child, exited } = spawnLifelogServer(
		temporaryFolder(),
		[],
		{ LIFELOG_SERVER_KEY: serverKey, LIFELOG_LOG_LEVEL: 'debug', LIFELOG_PORTT: '1' },
		[],
	);
	let told = '';
	child.stderr!.on('data', (piece) => (told += String(piece)));
	await new Promise((resolve) => child.stdout!.once('data', resolve));
	child.kill();
	await exited;
	expect(told).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z The variable LIFELOG_PORTT /);
});

test('docs/reference/options.md has every option and variable of each command', () => {
	const { status, stderr } = spawnSync(process.execPath, ['test/tools/options.mts', '--check'], {
		encoding: 'utf8',
	});
	expect([status, stderr]).toEqual([0, '']);
	expect(readFileSync('docs/reference/options.md', 'utf8')).toContain('LIFELOG_ALLOW_DELETE');
});
