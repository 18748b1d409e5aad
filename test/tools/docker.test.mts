// No Docker runs here. What can be held without it: that what the files name exists, and that the
// server starts from what the image would hold, by the image's own command.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { checkedBaseUrl } from '../../nodes/shared/auth/baseUrl.ts';
import { COMMANDS, serve } from '../../server/cli/commands.mts';
import { temporaryFolder } from '../server/sources.mts';
import { serverKey } from '../support/lifelogServer.mts';
import { spawnSandbox } from '../support/sandbox.mts';

interface Service {
	image?: string;
	build?: { context: string; dockerfile: string; target?: string };
	user?: string;
	network_mode?: string;
	tmpfs?: string | string[];
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
/** Compose takes over what `<<` names. */
const read = (yaml: string) => parse(yaml, { merge: true }) as Compose;
const compose = read(composeText);
const {
	n8n,
	'lifelog-server': server,
	archive: archiver,
	sandbox,
	'sandbox-server': sandboxServer,
} = compose.services;
/** With every line that a reader may uncomment: a sentence follows # and one blank. */
const uncommented = read(composeText.replace(/^( +)#(?! \S)/gm, '$1'));

const text = readFileSync('server/Dockerfile', 'utf8').replaceAll(/\\\n\s*/g, '');
const steps = text
	.split('\n')
	.filter((line) => /^[A-Z]+ /.test(line))
	.map((line) => ({ name: line.split(' ', 1)[0], rest: line.slice(line.indexOf(' ') + 1) }));
const of = (name: string) => steps.filter((step) => step.name === name).map(({ rest }) => rest);
const listIn = (name: string) => JSON.parse(of(name).at(-1)!) as string[];
/** The steps of a stage. */
const stage = (isStage: (rest: string) => boolean) => {
	const from = steps.findLastIndex(({ name, rest }) => name === 'FROM' && isStage(rest));
	const length = steps.slice(from + 1).findIndex(({ name }) => name === 'FROM');
	return length < 0 ? steps.slice(from) : steps.slice(from, from + 1 + length);
};
/** The last one is the image. */
const image = stage(() => true);
const entryPoint = listIn('ENTRYPOINT');
const last = listIn('CMD');

/** The variables of the image. */
const env = Object.fromEntries(
	image
		.filter(({ name }) => name === 'ENV')
		.flatMap(({ rest }) => rest.split(' ').map((pair) => pair.split('='))),
) as Record<string, string>;

/** Those of the variables that a command doesn't know, and those whose value it refuses. */
function wrongIn(name: string, variables: Record<string, string | null>): string[] {
	const { options, secrets } = COMMANDS.find((each) => each.name === name)!;
	return Object.entries(variables)
		.filter(([variable]) => variable.startsWith('LIFELOG_') && !(variable in secrets))
		.filter(([variable, value]) => {
			const option = Object.values(options).find((each) => each.variable === variable);
			try {
				return option === undefined || (value && option.read(value) === undefined);
			} catch {
				return true;
			}
		})
		.map(([variable]) => variable);
}

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

test("the images have a fixed version of Node.js that the server supports, and don't run as root", () => {
	const bases = of('FROM').filter((rest) => !/^(dependencies|page) AS \w+$/.test(rest));
	const versions = bases.map((rest) => /^node:(\d+\.\d+\.\d+)-slim( AS \w+)?$/.exec(rest)?.[1]);
	expect(new Set(versions).size).toBe(1);
	// The one that the tests of a release run on.
	expect(readFileSync('.github/workflows/ci.yml', 'utf8')).toContain(
		`node-version: ${versions[0]}`,
	);
	for (const each of [image, stage((rest) => rest.endsWith(' AS sandbox'))]) {
		const names = each.map(({ name }) => name);
		expect(each.filter(({ name }) => name === 'USER').map(({ rest }) => rest)).toEqual(['node']);
		expect(names.lastIndexOf('RUN')).toBeLessThan(names.indexOf('USER'));
	}
});

test('every user can write to a new index', () => {
	// That a volume takes over its rights is up to Docker. .ci/image runs as another user.
	expect(of('RUN').at(-1)).toBe('mkdir --mode 1777 /archive /index');
	expect(text).not.toContain('chown');
	for (const service of [server, archiver, sandboxServer]) {
		expect(service.user).toBe('${ARCHIVE_USER:-1000:1000}');
	}
});

test("the image has the versions of the repository's lock file, and no tool", () => {
	const [install] = stage((rest) => rest.endsWith(' AS dependencies')).filter(
		({ name }) => name === 'RUN',
	);
	expect(install.rest).toMatch(/^npm ci --workspace lifelog-server --omit=dev --ignore-scripts /);
});

test('the image has known variables, a reachable host, and the index outside of the archive', () => {
	expect(last).toEqual(['serve', '/archive']);
	expect(wrongIn('serve', env)).toEqual([]);
	expect(entryPoint).toEqual(['node', '/app/server/lifelog-server.cjs']);
	const { LIFELOG_HOST: host, LIFELOG_INDEX: index } = env;
	expect(host).toBe('0.0.0.0');
	expect(of('VOLUME')).toEqual([index.slice(0, index.lastIndexOf('/'))]);
	expect(of('EXPOSE')).toEqual([serve.options.port.fallback]);
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
	expect(archiver.command).toEqual(['archive', '/archive']);
	expect(wrongIn('archive', archiver.environment)).toEqual([]);
	expect(archiver.profiles).toEqual(['archive']);
	expect(Object.keys(archiver.environment)).toEqual(['LIFELOG_WATCH', 'TZ', 'LIFELOG_API_KEY']);
	expect(archiver.volumes).toEqual([server.volumes[0].replace(/:ro$/, '')]);
	expect(archiver).toMatchObject({ image: server.image, read_only: true });
	expect(archiver.ports).toBeUndefined();
	expect(archiver.healthcheck).toEqual({ disable: true });
});

test('compose.yaml has the newest tested n8n, and one read-only archive for both services', () => {
	const [, newest] = /NEWEST = '(.*)'/.exec(readFileSync('test/n8n/install.mts', 'utf8'))!;
	expect(n8n.image).toBe(`docker.n8n.io/n8nio/n8n:${newest}`);
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
	// The time zone of both is that of .env. Without a key in it, keys are made on the page.
	const timeZone = '${TZ:-UTC}';
	expect(server.environment).toEqual({ LIFELOG_SERVER_KEY: null, TZ: timeZone });
	expect(n8n.environment.GENERIC_TIMEZONE).toBe(timeZone);
	// Nothing is reachable from other machines.
	expect(
		[...n8n.ports!, ...server.ports!].filter((port) => !port.startsWith('127.0.0.1:')),
	).toEqual([]);
	expect(server.ports).toEqual([`127.0.0.1:8787:${of('EXPOSE')[0]}`]);
});

test('compose.yaml names the image of the release, with its build as a comment', () => {
	const { owner } = /github\.com\/(?<owner>[^/]+)\//.exec(json('package.json').homepage)!.groups!;
	const name = `ghcr.io/${owner}/lifelog-server`;
	expect(server).toMatchObject({ image: `${name}:latest` });
	expect(server.build).toBeUndefined();
	expect(readFileSync('.github/workflows/publish.yml', 'utf8')).toContain(
		'IMAGE: ghcr.io/${{ github.repository_owner }}/lifelog-server\n',
	);
	const { build } = uncommented.services['lifelog-server'];
	expect(uncommented.services.archive.build).toEqual(build);
	expect(resolve('server', build!.context, build!.dockerfile)).toBe(resolve('server/Dockerfile'));
	expect(sandbox.build).toEqual({ ...build, target: 'sandbox' });
});

test('the commented lines of compose.yaml transcribe the files of an inbox', () => {
	const { 'lifelog-server': changed, speaches } = uncommented.services;
	const { environment } = changed;
	expect(changed.command).toBeUndefined();
	expect(wrongIn('serve', environment)).toEqual([]);
	expect(environment).toMatchObject({
		LIFELOG_ALLOW_CHANGES: 'true',
		LIFELOG_ALLOW_DELETE: 'true',
	});
	expect(changed.volumes.at(-1)).toMatch(new RegExp(`:${environment.LIFELOG_INBOX}$`));
	expect(new URL(environment.LIFELOG_TRANSCRIPTION_URL!).host).toBe('speaches:8000');
	expect(Object.keys(environment)).toContain('LIFELOG_TRANSCRIPTION_KEY');
	// The endpoint and the model of the page.
	const page = readFileSync('docs/recordings.md', 'utf8');
	expect(page).toContain(` --publish ${speaches.ports![0]} --volume `);
	expect(page).toContain(` ${speaches.image}\n`);
	expect(page).toContain(`/v1/models/${environment.LIFELOG_TRANSCRIPTION_MODEL}\n`);
	expect(Object.keys(uncommented.volumes)).toContain(speaches.volumes[0].split(':')[0]);
	expect(uncommented.services).toMatchObject({ n8n, archive: archiver, sandbox });
});

test("compose.yaml's own variables don't begin as those of the server do", () => {
	const own = [...composeText.matchAll(/\$\{(LIFELOG_\w+)/g)].map(([, name]) => name);
	expect(own).toEqual([]);
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
	const root = temporaryFolder();
	const [app, archive, index] = ['app', 'archive', 'index'].map((name) => join(root, name));
	for (const folder of [app, archive, index]) mkdirSync(folder);
	for (const { from, to } of copiesOf(image)) {
		for (const path of from) {
			cpSync(path, join(app, to, to.endsWith('/') ? basename(path) : ''), { recursive: true });
		}
	}
	symlinkSync(resolve('node_modules'), join(app, 'node_modules'));
	const inRoot = (word: string) => word.replace(/^\/(archive|index)\b/, `${root}/$1`);
	const args = last.map(inRoot);
	const main = join(app, 'server', 'lifelog-server.cjs');
	// The stages before only build what goes into it.
	const child = spawn(process.execPath, [main, ...args, '--json'], {
		cwd: app,
		env: {
			...{ ...process.env, ...env, LIFELOG_INDEX: inRoot(env.LIFELOG_INDEX) },
			...{ LIFELOG_SERVER_KEY: serverKey, LIFELOG_PORT: '0' },
		},
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
		const { stdout } = spawnSync(process.execPath, [main, 'archive', '--help'], {
			encoding: 'utf8',
			env: { ...process.env, npm_command: undefined },
		});
		expect(stdout).toContain('Usage: lifelog-server archive <');
	} finally {
		child.stdin.end();
		await exited;
	}
});

test('the profile "sandbox" has ten days with a key, and a server that can be changed, both where n8n is', async () => {
	for (const service of [sandbox, sandboxServer]) {
		expect(service.profiles).toEqual(['sandbox']);
		expect(service.network_mode).toBe('service:n8n');
		expect(service.ports).toBeUndefined();
	}
	const { command, tmpfs, environment } = sandboxServer;
	expect(command).toBeUndefined();
	expect(wrongIn('serve', environment)).toEqual([]);
	expect(tmpfs).toContain('/archive');

	const ofSandbox = stage((rest) => rest === 'page AS sandbox');
	expect(JSON.parse(ofSandbox.at(-1)!.rest)).toEqual(['node', 'server/sandbox/main.mts']);
	// With these, the image starts.
	const files = copiesOf([...stage((rest) => rest.endsWith(' AS page')), ...ofSandbox]);
	expect(files).toEqual(expect.arrayContaining(copiesOf(image).filter(({ to }) => to !== './')));
	const freePorts = ['--port', '0', '--control-port', '0'];
	const { url, apiKey, close } = await spawnSandbox([...sandbox.command!, ...freePorts]);
	try {
		expect(apiKey).toBe('sandbox-key');
		expect(environment).toEqual({
			...{ LIFELOG_HOST: '127.0.0.1', LIFELOG_INDEX: '' },
			...{ LIFELOG_ALLOW_CHANGES: 'true', LIFELOG_ALLOW_DELETE: 'true' },
			LIFELOG_SERVER_KEY: apiKey,
		});
		const daysAgo = (days: number) =>
			new Date(Date.now() - days * 864e5).toISOString().slice(0, 10);
		const countOf = async (date: string) => {
			const response = await fetch(`${url}/v1/lifelogs?limit=1&date=${date}`, {
				headers: { 'X-API-Key': apiKey },
			});
			return ((await response.json()) as { data: { lifelogs: object[] } }).data.lifelogs.length;
		};
		expect(await Promise.all([8, 11].map((days) => countOf(daysAgo(days))))).toEqual([1, 0]);
	} finally {
		await close();
	}
	const page = readFileSync('docs/developer/verification.md', 'utf8');
	for (const text of [
		'--profile sandbox up',
		'http://127.0.0.1:8787',
		'http://127.0.0.1:8788',
		'sandbox-key',
	]) {
		expect(page).toContain(text);
	}
});
