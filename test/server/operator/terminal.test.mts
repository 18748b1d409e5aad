// lifelog-server at a terminal: the link that signs in, the browser that is opened with it, and the
// folder that is made. And the command that makes another link.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	readFileSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { serverKey } from '../../support/lifelogServer.mts';
import { until } from '../../support/soon.mts';
import { buildPage, send } from '../../support/web.mts';
import { startLifelogServer, temporaryFolder } from '../sources.mts';

beforeAll(buildPage);

const MAIN = join(process.cwd(), 'server/lifelog-server.cjs');
/** What makes it a session over SSH, of CI or with a desktop is up to each test. */
const BARE = {
	...{ SSH_CONNECTION: undefined, SSH_TTY: undefined, CI: undefined, DISPLAY: undefined },
	...{ LIFELOG_SERVER_KEY: undefined, LIFELOG_PORT: '0' },
};
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

/** Runs lifelog-server at a terminal, with a browser that only notes what it is called with. */
function atTerminal(args: string[], env: Record<string, string | undefined> = {}) {
	const bin = temporaryFolder();
	const called = join(bin, 'called');
	// `open` for macOS.
	const browser = join(bin, 'open');
	const script = `#!/bin/sh\n{ echo "$@"; ps -A -o args; } > "${called}.new"\nmv "${called}.new" "${called}"\n`;
	writeFileSync(browser, script);
	chmodSync(browser, 0o755);
	const command = [process.execPath, MAIN, ...args];
	// `exec`: some shells end with 130 after Ctrl+C, whatever the command said.
	const quoted = `exec ${command.map((each) => `'${each}'`).join(' ')}`;
	const child = spawn(
		'script',
		process.platform === 'darwin' ? ['-q', '/dev/null', ...command] : ['-qec', quoted, '/dev/null'],
		{
			stdio: ['pipe', 'pipe', 'inherit'],
			env: {
				...{ ...process.env, ...BARE, BROWSER: browser },
				...{ PATH: `${bin}:${process.env.PATH}`, ...env },
			},
		},
	);
	let shown = '';
	child.stdout.on('data', (piece) => (shown += String(piece)));
	const exited = once(child, 'exit').then(([code]) => code as number);
	closing.push(async () => {
		child.stdin.write('\x03');
		await exited;
	});
	return {
		exited,
		shown: () => shown,
		type: (text: string) => child.stdin.write(text),
		running: async () => {
			await until(() => shown.includes('Recordings') || child.exitCode !== null);
			return shown;
		},
		/** What the browser was opened with, and all command lines of the machine then. */
		called: () => (existsSync(called) ? readFileSync(called, 'utf8') : undefined),
		calledWith: async () => {
			await until(() => existsSync(called));
			return readFileSync(called, 'utf8').split('\n')[0].trim();
		},
	};
}

const LINK = /Sign in +(http:\/\/127\.0\.0\.1:\d+)\/#link=([\w-]{43}) {3}\(once, within 15 minutes/;

const signIn = (url: string, link: string) =>
	send(url, '/session', {
		...{ method: 'POST', body: { link } },
		headers: { 'x-lifelog-page': '1', origin: url },
	});

const terminalTest = process.platform === 'win32' ? test.skip : test;

describe('at a terminal', () => {
	terminalTest('the first start prints a link, and opens the browser with a file', async () => {
		const folder = temporaryFolder();
		const server = atTerminal(['serve', folder]);
		const [, url, link] = LINK.exec(await server.running())!;
		expect(server.shown()).toContain('within 15 minutes, open in your browser)');
		const page = await server.calledWith();
		expect(page).toBe(join(folder, '.lifelog-index.sqlite.sign-in.html'));
		// Nobody who lists the processes of the machine sees it.
		expect(server.called()).toContain('lifelog-server.cjs');
		expect(server.called()).not.toContain(link);
		expect(statSync(page).mode & 0o777).toBe(0o600);
		const leadsTo = `${url}/#link=${link}`;
		expect(readFileSync(page, 'utf8')).toContain(`content="0; url=${leadsTo}"`);
		expect((await signIn(url, link)).status).toBe(204);
		expect(existsSync(page)).toBe(false);
		expect((await signIn(url, link)).status).toBe(401);
		server.type('\x03');
		expect(await server.exited).toBe(0);
		// Somebody has signed in.
		const second = atTerminal(['serve', folder]);
		expect(await second.running()).toMatch(LINK);
		expect(second.shown()).not.toContain('open in your browser');
		expect(second.called()).toBeUndefined();
	});

	terminalTest('a file that leads on is removed when the server is stopped', async () => {
		const server = atTerminal(['serve', temporaryFolder()]);
		const page = await server.calledWith();
		expect(existsSync(page)).toBe(true);
		server.type('\x03');
		expect(await server.exited).toBe(0);
		expect(existsSync(page)).toBe(false);
	});

	terminalTest.each<[string, string[], Record<string, string>]>([
		['with --no-open, and the link never leads to 0.0.0.0', ['--no-open', '--host', '0.0.0.0'], {}],
		['over SSH', [], { SSH_CONNECTION: '203.0.113.9 50000 203.0.113.1 22' }],
		['in CI', [], { CI: 'true' }],
	])('no browser is opened %s', async (_when, args, env) => {
		const folder = temporaryFolder();
		const server = atTerminal(['serve', folder, ...args], env);
		expect(await server.running()).toMatch(LINK);
		expect(server.shown()).not.toContain('open in your browser');
		expect(existsSync(join(folder, '.lifelog-index.sqlite.sign-in.html'))).toBe(false);
		expect(server.called()).toBeUndefined();
	});

	terminalTest('links lead to --public-url', async () => {
		const own = ['--no-open', '--host', '0.0.0.0', '--public-url', 'https://days.example.org/'];
		const server = atTerminal(['serve', temporaryFolder(), ...own]);
		expect(await server.running()).toMatch(
			/Sign in +https:\/\/days\.example\.org\/#link=[\w-]{43} /,
		);
	});

	terminalTest("serve offers to make a folder that isn't there", async () => {
		const folder = join(temporaryFolder(), 'my', 'days');
		const server = atTerminal(['serve', folder, '--no-open']);
		await until(() => server.shown().includes('(y/n)'));
		expect(server.shown()).toContain(`There is no folder ${folder}. Make it, and serve an empty`);
		server.type('y\n');
		expect(await server.running()).toMatch(/Data +0 lifelogs/);
		expect(statSync(folder).isDirectory()).toBe(true);
	});

	terminalTest.each(['n\n', '\n', 'maybe\n', '\x03'])('and makes none for %j', async (answer) => {
		const folder = join(temporaryFolder(), 'days');
		const server = atTerminal(['serve', folder, '--no-open']);
		await until(() => server.shown().includes('(y/n)'));
		server.type(answer);
		expect(await server.exited).toBe(2);
		expect(server.shown()).toContain('No folder was made');
		expect(existsSync(folder)).toBe(false);
	});
});

test("without a terminal, a folder that isn't there is an error that says what to type", () => {
	const folder = join(temporaryFolder(), 'days');
	const { status, stderr } = run(['serve', folder]);
	expect([status, stderr]).toEqual([
		2,
		expect.stringMatching(
			/^There is no folder .*days: check its name, or make it with mkdir .*days"\n$/,
		),
	]);
	expect(existsSync(folder)).toBe(false);
});

function run(args: string[], env: Record<string, string> = {}) {
	return spawnSync(process.execPath, [MAIN, ...args], {
		encoding: 'utf8',
		env: { ...process.env, ...BARE, ...env },
	});
}

describe('lifelog-server link', () => {
	const linkOf = (stdout: string) => /#link=([\w-]{43})\n/.exec(stdout)![1];

	test('prints the address of the server with a link, and its path', async () => {
		const folder = temporaryFolder();
		const server = await startLifelogServer(folder);
		const { status, stdout, stderr } = run(['link', folder]);
		const link = linkOf(stdout);
		expect([status, stderr]).toEqual([0, '']);
		expect(stdout).toBe(
			`Signs one browser in, once, within 15 minutes:\n\n  ${server.url}/#link=${link}\n\nAt another address of the server:\n  /#link=${link}\n`,
		);
		expect((await signIn(server.url, link)).status).toBe(204);
		await server.close();
	});

	test('knows --public-url of the server, whose name is allowed', async () => {
		const folder = temporaryFolder();
		const index = join(temporaryFolder(), 'index');
		const publicUrl = 'http://days.lan:8080';
		const args = ['--index', index, '--public-url', publicUrl, '--allow-http'];
		const server = await startLifelogServer(folder, args);
		const { stdout } = run(['link', folder], { LIFELOG_INDEX: index });
		expect(stdout).toContain(`  ${publicUrl}/#link=`);
		const answer = await send(server.url, '/session', {
			...{ method: 'POST', body: { link: linkOf(stdout) } },
			headers: { 'x-lifelog-page': '1', host: 'days.lan:8080', origin: publicUrl },
		});
		expect(answer.status).toBe(204);
		await server.close();
	});

	test.each(['lifelogs.example.org', 'https://a.example/path', 'ftp://a.example', 'https://a?b'])(
		'--public-url %s is refused',
		async (address) => {
			const started = startLifelogServer(temporaryFolder(), ['--public-url', address]);
			await expect(started).rejects.toThrow('--public-url must be an address without a path');
		},
	);

	test('is refused where no server has run, and without a folder', () => {
		const folder = temporaryFolder();
		const none = run(['link', folder]);
		expect([none.status, none.stdout, none.stderr]).toEqual([
			...[2, '', expect.stringMatching(/^No server has its index at .* serve "/)],
		]);
		expect(run(['link']).stderr).toContain('Give the folder of the archive');
	});

	const isRoot = process.getuid?.() === 0;
	(isRoot ? test : test.skip)("made by root, belongs to the server's user", async () => {
		const folder = temporaryFolder();
		await (await startLifelogServer(folder)).close();
		const index = join(folder, '.lifelog-index.sqlite');
		chownSync(`${index}.key`, 1000, 1000);
		run(['link', folder]);
		expect(statSync(`${index}.link`)).toMatchObject({ uid: 1000, gid: 1000 });
	});

	(isRoot ? test : test.skip)(
		'says who may make one, if its files are of somebody else',
		async () => {
			const folder = temporaryFolder();
			mkdirSync(folder, { recursive: true });
			await (await startLifelogServer(folder)).close();
			const { status, stderr } = spawnSync(process.execPath, [MAIN, 'link', folder], {
				encoding: 'utf8',
				uid: 1000,
				gid: 1000,
				env: { ...process.env, HOME: folder },
			});
			expect([status, stderr]).toEqual([
				...[2, expect.stringMatching(/EACCES.*Run the command as the user who runs the server/)],
			]);
		},
	);
});

test('the start without a terminal names the command', async () => {
	const folder = temporaryFolder();
	const index = join(temporaryFolder(), 'index');
	const child = spawn(process.execPath, [MAIN, 'serve', folder, '--index', index], {
		stdio: ['ignore', 'pipe', 'inherit'],
		env: { ...process.env, ...BARE, LIFELOG_SERVER_KEY: serverKey },
	});
	let shown = '';
	child.stdout.on('data', (piece) => (shown += String(piece)));
	await until(() => shown.includes('Recordings'));
	child.kill();
	await once(child, 'exit');
	expect(shown).toContain(`make a link: npm run server -- link "${folder}" --index "${index}"\n`);
	expect(shown).not.toMatch(/[\w-]{43}/);
	expect(existsSync(`${index}.link`)).toBe(false);
});
