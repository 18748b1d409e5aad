// lifelog-server as npm gets it, in a folder that has nothing of the checkout but its dependencies.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
	globSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Finding } from '../../server/check/findings.mts';
import { writeArchive } from '../support/archive.mts';
import { lifelogOf } from '../support/invented.mts';
import { serverKey } from '../support/lifelogServer.mts';
import { posixTest } from '../support/platform.mts';
import { TARBALLS } from '../support/tarballs.mts';
import { writeZip } from '../support/zip.mts';
import { ask, temporaryFolder } from '../server/sources.mts';

const manifest = JSON.parse(readFileSync('server/package.json', 'utf8'));
let project: string;
let packed: { path: string; size: number }[];

beforeAll(() => {
	execFileSync(process.execPath, ['node_modules/gulp/bin/gulp.js', 'server'], { stdio: 'pipe' });
	project = temporaryFolder();
	const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project, './server'];
	const listing = execFileSync('npm', pack, {
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [{ filename, files }] = JSON.parse(listing) as [{ filename: string; files: typeof packed }];
	packed = files;
	const modules = join(project, 'node_modules');
	const installed = join(modules, manifest.name);
	mkdirSync(installed, { recursive: true });
	const unpack = ['-xzf', join(project, filename), '-C', installed, '--strip-components=1'];
	execFileSync('tar', unpack);
	for (const name of Object.keys(manifest.dependencies)) {
		mkdirSync(dirname(join(modules, name)), { recursive: true });
		symlinkSync(resolve('node_modules', name), join(modules, name));
	}
	mkdirSync(join(modules, '.bin'));
	symlinkSync(
		join(installed, manifest.bin['lifelog-server']),
		join(modules, '.bin', 'lifelog-server'),
	);
});

/** Runs `npx lifelog-server` where it is installed. */
const npx = (...args: string[]) => ({
	command: 'npx',
	args: ['--no', 'lifelog-server', ...args],
	options: {
		cwd: project,
		env: {
			...process.env,
			PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
			LIFELOG_SERVER_KEY: serverKey,
			npm_config_offline: 'true',
		},
	},
});

posixTest('the tarball holds a file for each source, built, and nothing else', () => {
	expect(packed.map(({ path }) => path).sort()).toEqual(TARBALLS['./server']().sort());
});

posixTest('the page adds at most 440 KB to the package, even unpacked', () => {
	const ofPage = packed.filter(({ path }) => path.includes('/page/'));
	expect(ofPage.map(({ path }) => path)).toContain('dist/server/page/dist/index.html');
	expect(ofPage.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(440_000);
});

posixTest(
	"it contains the lock file's version of each package that it needs, and no addresses",
	() => {
		const installed = join(project, 'node_modules', manifest.name);
		const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
		const { packages } = read(join(installed, 'npm-shrinkwrap.json')) as {
			packages: Record<string, { version: string; resolved?: string; integrity?: string }>;
		};
		const { '': own, ...others } = packages;
		expect(own).toMatchObject({ dependencies: manifest.dependencies });
		const lock = read('package-lock.json').packages;
		expect(Object.keys(others).length).toBeGreaterThan(100);
		for (const [path, { version, resolved, integrity }] of Object.entries(others)) {
			expect({ path, version, integrity }).toEqual({
				path,
				version: lock[path]?.version,
				integrity: lock[path]?.integrity,
			});
			expect(resolved).toBeUndefined();
		}
	},
);

posixTest('nothing runs when it is installed, and its version is that of the nodes', () => {
	expect(manifest.scripts).toBeUndefined();
	expect(manifest.private).toBeUndefined();
	expect(manifest.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
});

posixTest('npx lifelog-server serves an archive', async () => {
	const archive = temporaryFolder();
	await writeArchive(archive, { lifelogs: [lifelogOf('a', '2026-03-01T08:00:00Z')] });
	const { command, args, options } = npx(archive, '--json', '--port', '0');
	const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
	const exited = once(child, 'exit');
	const [line] = await once(createInterface(child.stdout), 'line');
	const server = { url: JSON.parse(line).url, apiKey: serverKey };
	const { data } = await (await ask(server, '/v1/lifelogs')).json();
	expect(data.lifelogs.map(({ id }: { id: string }) => id)).toEqual(['a']);
	child.stdin.end();
	await exited;
});

posixTest('npx lifelog-server import reads an export', () => {
	const zip = join(project, 'export.zip');
	writeZip(zip, [{ name: 'lifelogs/2025/12/03/2025-12-03_12h00m00s_A.md', content: '# A' }]);
	const { command, args, options } = npx('import', zip, join(project, 'archive'));
	const { stdout, status } = spawnSync(command, args, { ...options, encoding: 'utf8' });
	expect(stdout).toContain('Imported: 1 lifelog,');
	// What it says is to be typed as it stands, here where npx has found it.
	expect(stdout).toContain(`Serve it: npx lifelog-server serve ${join(project, 'archive')}\n`);
	expect(status).toBe(0);
});

posixTest('npx lifelog-server check finds what is missing', async () => {
	const archive = temporaryFolder();
	await writeArchive(archive, { lifelogs: [lifelogOf('a', '2026-03-01T08:00:00Z')] });
	const check = () => {
		const { command, args, options } = npx('check', archive, '--json');
		const { stdout, status } = spawnSync(command, args, { ...options, encoding: 'utf8' });
		return { status, kinds: JSON.parse(stdout).findings.map(({ kind }: Finding) => kind) };
	};
	expect(check()).toEqual({ status: 0, kinds: [] });
	rmSync(join(archive, 'lifelogs'), { recursive: true });
	expect(check()).toEqual({ status: 1, kinds: ['missing', 'missing'] });
});

posixTest.each(['archive', 'serve', 'check', 'import', 'link'])(
	'npx lifelog-server %s --help',
	(name) => {
		const { command, args, options } = npx(name, '--help');
		const { stdout, status } = spawnSync(command, args, { ...options, encoding: 'utf8' });
		expect(stdout).toContain(`Usage: npx lifelog-server ${name} <`);
		expect(status).toBe(0);
	},
);

posixTest('where it is installed as a command, it names that', () => {
	const { options } = npx();
	const env = { ...options.env, npm_command: undefined };
	const command = join(project, 'node_modules', '.bin', 'lifelog-server');
	const { stdout } = spawnSync(command, ['--help'], { ...options, env, encoding: 'utf8' });
	expect(stdout).toMatch(/^Usage: lifelog-server <command> <folder>/);
});

test('the nodes, installed by hand as in README, install no second n8n', () => {
	const folder = temporaryFolder();
	execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [command] = readFileSync('README.md', 'utf8').match(/^npm install --prefix .*\.tgz$/m)!;
	const nodes = join(folder, '.n8n', 'nodes');
	// n8n has made its folder, but no `nodes` in it.
	mkdirSync(dirname(nodes));
	// What `npm run` sets isn't set in a user's shell.
	const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
	const own = { HOME: folder, npm_config_cache: join(folder, 'cache') };
	const env = { ...Object.fromEntries(inherited), ...own };
	execFileSync('sh', ['-c', command], { cwd: folder, env, stdio: 'pipe' });
	const modules = join(nodes, 'node_modules');
	const installed = readdirSync(modules).filter((name) => !name.startsWith('.'));
	expect(installed).toEqual(['n8n-nodes-lifelog']);
	const sizes = globSync('**', { cwd: modules }).map((path) => statSync(join(modules, path)).size);
	expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
});
