// No Docker runs here. What can be held without it: that what the files name exists, and that the
// server starts from what the image would hold, by the image's own command.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
	cpSync,
	existsSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { checkedBaseUrl } from '../../nodes/shared/auth/baseUrl.ts';
import { serverKey } from '../support/lifelogServer.mts';

interface Service {
	image?: string;
	build?: { context: string; dockerfile: string };
	ports?: string[];
	environment: Record<string, string | null>;
	volumes: string[];
	profiles?: string[];
	command?: string[];
	read_only?: boolean;
	healthcheck?: { disable: boolean };
}

interface Compose {
	services: Record<string, Service>;
	volumes: Record<string, null>;
}

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const composeText = readFileSync('server/compose.yaml', 'utf8');
const compose = parse(composeText) as Compose;
const { n8n, 'lifelog-server': server, archive: archiver } = compose.services;

const text = readFileSync('server/Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, '');
const steps = text
	.split('\n')
	.filter((line) => /^[A-Z]+ /.test(line))
	.map((line) => ({ name: line.split(' ', 1)[0], rest: line.slice(line.indexOf(' ') + 1) }));
const of = (name: string) => steps.filter((step) => step.name === name).map(({ rest }) => rest);
const listIn = (name: string) => JSON.parse(of(name).at(-1)!) as string[];
const entryPoint = listIn('ENTRYPOINT');
const last = listIn('CMD');

const helpOf = (command: string) =>
	spawnSync(process.execPath, ['server/lifelog-server.cjs', command, '--help'], {
		encoding: 'utf8',
	}).stdout;

/** What is copied out of the repository: the files, and where to. */
const copiesOf = (some: typeof steps) =>
	some
		.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
		.map(({ rest }) => rest.split(' '))
		.map((paths) => ({ from: paths.slice(0, -1), to: paths.at(-1)! }));
const copies = copiesOf(steps);

test('every step copies files that exist and that .dockerignore includes', () => {
	const ignore = readFileSync('server/Dockerfile.dockerignore', 'utf8').split('\n');
	for (const path of copies.flatMap(({ from }) => from)) {
		expect(existsSync(path)).toBe(true);
		expect(ignore.some((line) => line === `!${path}` || path.startsWith(`${line.slice(1)}/`))).toBe(
			true,
		);
	}
});

test("the image has a fixed version of Node.js that the server supports, and doesn't run as root", () => {
	const versions = of('FROM').map(
		(rest) => /^node:(\d+\.\d+\.\d+)-slim( AS \w+)?$/.exec(rest)?.[1],
	);
	expect(new Set(versions).size).toBe(1);
	// The one that the tests of a release run on.
	expect(readFileSync('.github/workflows/ci.yml', 'utf8')).toContain(
		`node-version: ${versions[0]}`,
	);
	expect(of('USER')).toEqual(['node']);
	const asRoot = steps.slice(steps.findIndex(({ name }) => name === 'USER'));
	expect(asRoot.filter(({ name }) => name === 'RUN')).toEqual([]);
});

test("the repository's lock file has every package of the server, so the image has the tested versions", () => {
	const { packages } = json('package-lock.json') as { packages: Record<string, object> };
	for (const name of Object.keys(json('server/package.json').dependencies)) {
		expect(packages).toHaveProperty([`node_modules/${name}`]);
	}
	expect(copies[0]).toEqual({ from: ['package-lock.json', 'server/package.json'], to: './' });
});

test('the command has existing options, a reachable host, and the index outside of the archive', () => {
	const stdout = helpOf(last[0]);
	const options = last.filter((word) => word.startsWith('--'));
	for (const option of options) expect(stdout).toContain(`${option} `);
	expect(last.slice(0, 2)).toEqual(['serve', '/archive']);
	expect(entryPoint).toEqual(['node', '/app/server/lifelog-server.cjs']);
	expect(last[last.indexOf('--host') + 1]).toBe('0.0.0.0');
	const index = last[last.indexOf('--index') + 1];
	expect(of('VOLUME')).toEqual([index.slice(0, index.lastIndexOf('/'))]);
	expect(of('EXPOSE')).toEqual([last[last.indexOf('--port') + 1]]);
	expect(stdout).toContain('LIFELOG_SERVER_KEY');
});

test('no command line contains a key, because other users of the machine can read it', () => {
	const files = ['server/Dockerfile', 'server/compose.yaml', ...globSync('docs/**/*.md')];
	expect(files).toContain('docs/archive-your-data.md');
	for (const name of files) {
		expect(readFileSync(name, 'utf8')).not.toMatch(/(--env|-e) \w+_KEY=/);
	}
});

test('the Docker commands without a checkout run as the user, and never contain the key', () => {
	const page = readFileSync('docs/archive-your-data.md', 'utf8');
	const [posix, powerShell, ...others] = page.match(/^docker run .*$/gm)!;
	expect(others).toEqual([]);
	// npm has no folder to write to if the image does not know the user.
	expect(posix).toContain('--user "$(id -u):$(id -g)" -e HOME=/tmp ');
	for (const line of [posix, powerShell]) {
		expect(line).toMatch(/ -e LIFELOG_API_KEY -v "\$\S+lifelogs:\/archive" node:24 /);
		expect(line).toMatch(/ npx --yes lifelog-server archive \/archive$/);
	}
});

test('compose.yaml archives with an existing command, which can write only to the archive', () => {
	const [command, folder, ...options] = archiver.command!;
	expect([command, folder]).toEqual(['archive', '/archive']);
	const known = helpOf(command);
	for (const option of options.filter((word) => word.startsWith('--'))) {
		expect(known).toContain(`${option} `);
	}
	expect(archiver.profiles).toEqual(['archive']);
	expect(Object.keys(archiver.environment)).toEqual(['LIFELOG_API_KEY']);
	expect(archiver.volumes).toEqual([server.volumes[0].replace(/:ro$/, '')]);
	expect(archiver).toMatchObject({ build: server.build, read_only: true });
	expect(archiver.ports).toBeUndefined();
	expect(archiver.healthcheck).toEqual({ disable: true });
});

test('compose.yaml has the newest tested n8n, and one read-only archive for both services', () => {
	const [, newest] = /NEWEST = '(.*)'/.exec(readFileSync('test/n8n/install.mts', 'utf8'))!;
	expect(n8n.image).toBe(`docker.n8n.io/n8nio/n8n:${newest}`);
	expect(resolve('server', server.build!.context, server.build!.dockerfile)).toBe(
		resolve('server/Dockerfile'),
	);
	const mounts = (volumes: string[]) =>
		Object.fromEntries(
			volumes.map((volume) => {
				const [, from, to, mode] = /^(\$\{[^}]+\}|\w+):([^:]+)(?::(\w+))?$/.exec(volume)!;
				return [to, { from, mode }];
			}),
		);
	const ofN8n = mounts(n8n.volumes);
	const ofServer = mounts(server.volumes);
	const files = ofN8n[n8n.environment.N8N_RESTRICT_FILE_ACCESS_TO!];
	expect(files.mode).toBe('ro');
	expect(ofServer['/archive']).toEqual({ from: files.from, mode: 'ro' });
	expect(ofServer[of('VOLUME')[0]]).toEqual({ from: 'index', mode: undefined });
	expect(Object.keys(compose.volumes).sort()).toEqual(['index', 'n8n']);
	expect(Object.keys(server.environment)).toEqual(['LIFELOG_SERVER_KEY', 'TZ']);
	// Nothing is reachable from other machines.
	expect(
		[...n8n.ports!, ...server.ports!].filter((port) => !port.startsWith('127.0.0.1:')),
	).toEqual([]);
	expect(server.ports).toEqual([`127.0.0.1:8787:${of('EXPOSE')[0]}`]);
});

test('compose.yaml reads the time zone of both services from .env', () => {
	expect([n8n.environment.GENERIC_TIMEZONE, server.environment.TZ]).toEqual([
		'${TZ:-UTC}',
		'${TZ:-UTC}',
	]);
});

test('the commented lines of compose.yaml transcribe the files of an inbox', () => {
	// A sentence follows # and one blank.
	const uncommented = parse(composeText.replace(/^( +)#(?! \S)/gm, '$1')) as Compose;
	const { 'lifelog-server': changed, speaches } = uncommented.services;
	const { command, ...others } = changed;
	expect(command!.slice(0, last.length)).toEqual(last);
	const known = helpOf('serve');
	for (const option of command!.filter((word) => word.startsWith('--'))) {
		expect(known).toContain(`${option} `);
	}
	const valueOf = (option: string) => command![command!.indexOf(option) + 1];
	expect(others.volumes.at(-1)).toMatch(new RegExp(`:${valueOf('--inbox')}$`));
	expect(new URL(valueOf('--transcription-url')).host).toBe('speaches:8000');
	expect(Object.keys(others.environment)).toContain('LIFELOG_TRANSCRIPTION_KEY');
	// The endpoint and the model of the page.
	const page = readFileSync('docs/recordings.md', 'utf8');
	expect(page).toContain(` --publish ${speaches.ports![0]} --volume `);
	expect(page).toContain(` ${speaches.image}\n`);
	expect(page).toContain(`/v1/models/${valueOf('--transcription-model')}\n`);
	expect(Object.keys(uncommented.volumes)).toContain(speaches.volumes[0].split(':')[0]);
	expect(uncommented.services).toMatchObject({ n8n, archive: archiver });
});

test('the credential accepts the address that compose.yaml names', () => {
	const [baseUrl] = /http:\/\/lifelog-server:\d+/.exec(composeText)!;
	const { hostname, port } = new URL(baseUrl);
	expect(Object.keys(compose.services)).toContain(hostname);
	expect([port]).toEqual(of('EXPOSE'));
	expect(checkedBaseUrl({ baseUrl, allowPrivateHttp: true })).toBe(baseUrl);
	expect(() => checkedBaseUrl({ baseUrl, allowPrivateHttp: false })).toThrow('Private Network');
});

test("the image's files serve an archive with the image's command and pass its health check", async () => {
	const root = mkdtempSync(join(tmpdir(), 'lifelog-image-'));
	const [app, archive, index] = ['app', 'archive', 'index'].map((name) => join(root, name));
	for (const folder of [app, archive, index]) mkdirSync(folder);
	// The stages before only build what goes into it.
	const image = steps.slice(steps.findLastIndex(({ name }) => name === 'FROM'));
	for (const { from, to } of copiesOf(image)) {
		for (const path of from) {
			cpSync(path, join(app, to, to.endsWith('/') ? basename(path) : ''), { recursive: true });
		}
	}
	symlinkSync(resolve('node_modules'), join(app, 'node_modules'));
	const inRoot = (word: string) => word.replace(/^\/(archive|index)\b/, `${root}/$1`);
	const args = last.map(inRoot);
	args[args.indexOf('--port') + 1] = '0';
	const main = join(app, 'server', 'lifelog-server.cjs');
	const child = spawn(process.execPath, [main, ...args, '--json'], {
		cwd: app,
		env: { ...process.env, LIFELOG_SERVER_KEY: serverKey },
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	const exited = once(child, 'exit');
	try {
		const [line] = await once(createInterface(child.stdout), 'line');
		const { port } = new URL(JSON.parse(line).url);
		const [healthCheck] = of('HEALTHCHECK');
		const [, ...check] = JSON.parse(healthCheck.slice(healthCheck.indexOf('['))) as string[];
		const healthAt = (at: string) =>
			spawnSync(
				process.execPath,
				check.map((word) => word.replace(':8787', `:${at}`)),
			).status;
		expect(healthAt(port)).toBe(0);
		// A port on which nobody can listen.
		expect(healthAt('1')).toBe(1);
		// The image also has the other commands, and they don't speak of a checkout.
		for (const name of ['archive', 'check', 'import']) {
			const { stdout } = spawnSync(process.execPath, [main, name, '--help'], {
				encoding: 'utf8',
				env: { ...process.env, npm_command: undefined },
			});
			expect(stdout).toContain(`Usage: lifelog-server ${name} <`);
		}
	} finally {
		child.stdin.end();
		await exited;
		rmSync(root, { recursive: true });
	}
});
