import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}
interface Job {
	needs?: string[];
	environment?: string;
	'runs-on': string;
	strategy?: { matrix: Record<string, unknown[]> };
	outputs?: Record<string, string>;
	permissions?: Record<string, string>;
	steps: Step[];
}
interface Workflow {
	on: Record<string, unknown>;
	permissions: Record<string, string>;
	jobs: Record<string, Job>;
}

const paths = globSync('.github/workflows/*');
const texts = paths.map((path) => readFileSync(path, 'utf8'));
const workflows = texts.map((text) => load(text) as Workflow);
const read = (name: string) => workflows[paths.indexOf(`.github/workflows/${name}.yml`)];

const jobs = workflows.flatMap((workflow) => Object.values(workflow.jobs));
const runsOf = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? []);
const usesOf = ({ steps }: Job) => steps.flatMap(({ uses }) => uses ?? []);
const actionOf = (uses: string) => uses.split('@')[0];
const rightsOf = (workflow: Workflow, job: Job) => job.permissions ?? workflow.permissions;

test('only a tag publishes, after all tests, with provenance and without a stored token', () => {
	const { on, permissions, jobs: all } = read('publish');
	expect(Object.keys(on)).toEqual(['push']);
	expect(Object.keys(on.push as object)).toEqual(['tags']);
	expect(permissions).toEqual({});
	expect(Object.keys(all)).toEqual(['test', 'build', 'publish', 'image', 'publish-image']);
	expect(runsOf(all.test)).toContain('.ci/run');
	expect(all.publish.needs).toEqual(['test', 'build']);
	expect(runsOf(all.publish).join('\n')).toContain(
		'npm publish "$tarball" --ignore-scripts --provenance --access public',
	);
	expect(texts.join('\n')).not.toMatch(/secrets\.|_TOKEN/);
});

test('the job that may publish is protected, and runs no package of the project', () => {
	const mayPublish = workflows.flatMap((workflow) =>
		Object.values(workflow.jobs).filter((job) => 'id-token' in rightsOf(workflow, job)),
	);
	const { publish: job, 'publish-image': ofImage } = read('publish').jobs;
	expect(mayPublish).toEqual([job, ofImage]);
	expect(job.permissions).toEqual({ 'id-token': 'write' });
	expect(job.environment).toBe('npm');
	expect(usesOf(job).map(actionOf)).toEqual(['actions/setup-node', 'actions/download-artifact']);
	const commands = runsOf(job).flatMap((run) => run.split('\n').map((line) => line.trim()));
	expect(commands.filter((line) => line !== '')).toEqual([
		'sha256sum --check --strict <<< "$CHECKSUMS"',
		'for tarball in ./*.tgz; do',
		'grep -q "  ${tarball#./}$" <<< "$CHECKSUMS"',
		'package=$(tar -xOf "$tarball" package/package.json |',
		"node -p 'const { name, version } = JSON.parse(fs.readFileSync(0)); `${name}@${version}`')",
		`integrity=sha512-$(node -p 'crypto.hash("sha512", fs.readFileSync(0), "base64")' < "$tarball")`,
		'# Where one was published and the other failed, the job can be run again.',
		'[ "$(npm view "$package" dist.integrity || true)" = "$integrity" ] && continue',
		'npm publish "$tarball" --ignore-scripts --provenance --access public',
		'done',
	]);
});

test('a tag is published only if the changelog has its version with a date', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'changelog-'));
	try {
		const command = runsOf(read('publish').jobs.test).find((run) => run.includes('CHANGELOG.md'))!;
		const statusOf = async (heading: string) => {
			await writeFile(
				join(folder, 'CHANGELOG.md'),
				`# Changelog\n\n${heading}\n\n## 0.9.0 - 2026-11-01\n`,
			);
			const env = { PATH: process.env.PATH, GITHUB_REF_NAME: 'v1.0.0' };
			return spawnSync('bash', ['-c', command], { cwd: folder, env }).status;
		};
		expect(await statusOf('## 1.0.0 - 2026-12-01')).toBe(0);
		for (const heading of [
			'## Unreleased',
			'## 1.0.0',
			'## 1.0.0 - soon',
			'## 1.0.0 - 2026-12',
			'## 1.0.01 - 2026-12-01',
			'## 0.1.0.0 - 2026-12-01',
		]) {
			expect([heading, await statusOf(heading)]).toEqual([heading, 1]);
		}
	} finally {
		await rm(folder, { recursive: true });
	}
});

test('the job that may publish the image pushes the images that were tested, and attests one of both', () => {
	const { image, 'publish-image': job } = read('publish').jobs;
	expect(image.strategy!.matrix.include).toEqual([
		{ arch: 'amd64', runner: 'ubuntu-latest' },
		{ arch: 'arm64', runner: 'ubuntu-24.04-arm' },
	]);
	expect(image['runs-on']).toBe('${{ matrix.runner }}');
	expect(runsOf(image)).toEqual([
		'.ci/image',
		expect.stringContaining('docker save lifelog-server'),
	]);
	expect(runsOf(image)[1]).toContain('sha256sum "image-$ARCH.tar.gz"');
	// Only once a person has approved the packages.
	expect(job.needs).toEqual(['image', 'publish']);
	const rights = { packages: 'write', 'id-token': 'write', attestations: 'write' };
	expect(job.permissions).toEqual(rights);
	expect(usesOf(job).map(actionOf)).toEqual(['actions/download-artifact', 'actions/attest']);
	for (const arch of ['amd64', 'arm64']) {
		expect(image.outputs).toHaveProperty(arch, `\${{ steps.save.outputs.${arch} }}`);
		expect(JSON.stringify(job.steps)).toContain(`needs.image.outputs.${arch} }}`);
	}
	expect(runsOf(job)[0]).toBe('sha256sum --check --strict <<< "$CHECKSUMS"');
	expect(job.steps.at(-1)!.with).toMatchObject({
		'subject-digest': '${{ steps.push.outputs.digest }}',
		'push-to-registry': true,
	});
});

/** Runs bash with programs that only pretend. */
async function pretending(
	programs: Record<string, string>,
	command: string,
	env: Record<string, string>,
) {
	const folder = await mkdtemp(join(tmpdir(), 'pretend-'));
	try {
		for (const [name, script] of Object.entries(programs)) {
			await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		}
		const [asked, output] = ['asked', 'output'].map((name) => join(folder, name));
		await writeFile(output, '');
		const options = ['--norc', '-e', '-o', 'pipefail', '-c', command];
		const { status, stdout } = spawnSync('bash', options, {
			encoding: 'utf8',
			env: {
				...env,
				PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}`,
				ASKED: asked,
				GITHUB_OUTPUT: output,
			},
		});
		const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
		return { status, stdout, asked: read(asked), output: read(output) };
	} finally {
		await rm(folder, { recursive: true });
	}
}

/** Runs the step that pushes, with checksums of these images. */
async function pushes(arches: string[]) {
	const docker = `
echo "$@" >> "$ASKED"
case "$1 $2" in
	"buildx imagetools") [ "$3" = create ] || printf manifest ;;
	"login ghcr.io") [ "$(cat)" = pass ] ;;
esac`;
	const [, push] = runsOf(read('publish').jobs['publish-image']);
	return await pretending({ docker }, push, {
		CHECKSUMS: arches.map((arch) => `0  image-${arch}.tar.gz`).join('\n'),
		IMAGE: 'ghcr.io/someone/lifelog-server',
		PASSWORD: 'pass',
		GITHUB_ACTOR: 'someone',
		GITHUB_REF_NAME: 'v1.2.3',
	});
}

test('one image of both processors is pushed with its version and as latest, and its digest is attested', async () => {
	const { status, asked, output } = await pushes(['amd64', 'arm64']);
	expect(status).toBe(0);
	const image = 'ghcr.io/someone/lifelog-server';
	expect(asked.split('\n').slice(1)).toEqual([
		...['amd64', 'arm64'].flatMap((arch) => [
			`load --input image-${arch}.tar.gz`,
			`tag lifelog-server ${image}:1.2.3-${arch}`,
			`push ${image}:1.2.3-${arch}`,
		]),
		`buildx imagetools create --tag ${image}:1.2.3 --tag ${image}:latest ${image}:1.2.3-amd64 ${image}:1.2.3-arm64`,
		`buildx imagetools inspect --raw ${image}:1.2.3`,
		'',
	]);
	expect(asked).not.toContain('pass ');
	expect(output).toBe(`digest=sha256:${createHash('sha256').update('manifest').digest('hex')}\n`);
});

test('an image without a checksum is not pushed', async () => {
	const { status, asked } = await pushes(['amd64']);
	expect(status).toBe(1);
	expect(asked).not.toMatch(/arm64|buildx/);
});

test.each([
	['healthy', '', 0],
	['unhealthy', '', 1],
	['healthy', '0.0.1', 1],
	['healthy', 'refused', 22],
])('.ci/image with a container that is %s (%s) ends with %d', async (health, wrong, expected) => {
	const { version } = JSON.parse(readFileSync('server/package.json', 'utf8'));
	const docker = `
echo "$@" >> "$ASKED"
case "$1 $2" in
	"run --rm") echo ${wrong === '0.0.1' ? wrong : version} ;;
	"run --detach") echo c0ffee ;;
	"inspect --format") echo ${health} ;;
	"port c0ffee") echo 127.0.0.1:1234 ;;
esac`;
	const curl = `echo "$@" >> "$ASKED"; exit ${wrong === 'refused' ? 22 : 0}`;
	const { status, asked } = await pretending({ docker, curl, sleep: '' }, '.ci/image', {});
	expect(status).toBe(expected);
	if (wrong !== '0.0.1') expect(asked).toContain('rm --force --volumes c0ffee');
	// A user of whom the image knows nothing.
	if (wrong !== '0.0.1') expect(asked).toContain('run --detach --user 4242:4242 ');
	if (expected === 0) expect(asked).toMatch(/http:\/\/127.0.0.1:1234\/health\n.*\/v1\/lifelogs\n/);
});

test('a run that published one of two packages can be run again', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'publish-'));
	try {
		const names = ['first', 'second'];
		for (const name of names) {
			await mkdir(join(folder, name, 'package'), { recursive: true });
			await writeFile(
				join(folder, name, 'package', 'package.json'),
				`{"name":"${name}","version":"1.0.0"}`,
			);
			spawnSync('tar', ['-czf', `../${name}-1.0.0.tgz`, 'package'], { cwd: join(folder, name) });
		}
		const packed = readFileSync(join(folder, 'first-1.0.0.tgz'));
		const known = `sha512-${createHash('sha512').update(packed).digest('base64')}`;
		const npm = `#!/bin/sh
case "$1 $2" in
	"view first@1.0.0") echo ${known} ;;
	"view second@1.0.0") exit 1 ;;
	*) echo "$1 $2" >> asked ;;
esac`;
		await writeFile(join(folder, 'npm'), npm, { mode: 0o755 });
		const [, publish] = runsOf(read('publish').jobs.publish);
		const { status, stderr } = spawnSync(
			'bash',
			['--norc', '-e', '-o', 'pipefail', '-c', publish],
			{
				cwd: folder,
				encoding: 'utf8',
				env: {
					PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}`,
					CHECKSUMS: names.map((name) => `0  ${name}-1.0.0.tgz`).join('\n'),
				},
			},
		);
		expect([status, stderr]).toEqual([0, '']);
		expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('publish ./second-1.0.0.tgz\n');
	} finally {
		await rm(folder, { recursive: true });
	}
});

test('the packages of the build job are published, whatever another job does', () => {
	const { build, publish } = read('publish').jobs;
	expect(runsOf(build)).toEqual([
		'npm install --global --ignore-scripts npm@11.19.1',
		'npm ci',
		'npm run build',
		'npm run build:server',
		expect.stringMatching(
			/^npm pack --ignore-scripts \. \.\/server\n.*sha256sum \*\.tgz.*GITHUB_OUTPUT/,
		),
	]);
	expect(JSON.stringify(publish.steps)).toContain('needs.build.outputs.checksums');
});

test('no other job may write anything', () => {
	for (const workflow of workflows) {
		for (const [name, job] of Object.entries(workflow.jobs)) {
			if (!name.startsWith('publish'))
				expect(rightsOf(workflow, job)).toEqual({ contents: 'read' });
		}
	}
});

test('a change is checked like a release', () => {
	const { on, jobs: all } = read('ci');
	expect(Object.keys(on)).toEqual(expect.arrayContaining(['push', 'pull_request']));
	expect(runsOf(all.check)).toContain('.ci/run');
	const { image } = read('publish').jobs;
	expect(runsOf(all.image)).toEqual(runsOf(image).slice(0, 1));
	expect(all.image.strategy!.matrix.runner).toEqual(
		(image.strategy!.matrix.include as Array<{ runner: string }>).map(({ runner }) => runner),
	);
});

test("Dependabot watches packages, actions and the Dockerfile's base image", () => {
	const { updates } = load(readFileSync('.github/dependabot.yml', 'utf8')) as {
		updates: { 'package-ecosystem': string; directory: string }[];
	};
	const watched = updates.map((each) => `${each['package-ecosystem']} ${each.directory}`);
	expect(watched).toEqual(['npm /', 'github-actions /', 'docker /server']);
	expect(existsSync('server/Dockerfile')).toBe(true);
});

test('every action is pinned by commit, with its version in a comment', () => {
	const lines = texts.flatMap((text) => text.split('\n').filter((line) => /\buses:/.test(line)));
	expect(lines.length).toBe(jobs.flatMap(usesOf).length);
	for (const line of lines) {
		expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
	}
	const pins = new Set(jobs.flatMap(usesOf));
	expect(pins.size).toBe(new Set([...pins].map(actionOf)).size);
});

test('Node.js and npm have one version each, and no checkout keeps credentials', () => {
	const ofAction = (name: string) =>
		jobs.flatMap(({ steps }) => steps.filter(({ uses = '' }) => actionOf(uses) === name));
	const nodes = ofAction('actions/setup-node').map((step) => step.with?.['node-version']);
	expect(new Set(nodes).size).toBe(1);
	expect(nodes[0]).toMatch(/^\d+\.\d+\.\d+$/);
	const installs = jobs.flatMap(runsOf).filter((run) => /npm (i|install)\b/.test(run));
	expect(new Set(installs)).toEqual(new Set(['npm install --global --ignore-scripts npm@11.19.1']));
	for (const step of ofAction('actions/checkout')) {
		expect(step.with?.['persist-credentials']).toBe(false);
	}
});

test('no command contains text of a tag, a branch or a person', () => {
	expect(jobs.flatMap(runsOf).filter((run) => run.includes('${{'))).toEqual([]);
});

describe('an install script', () => {
	let folder: string;
	const tarball = () => `file:${join(folder, 'sly-1.0.0.tgz')}`;

	/** A project with this repository's .npmrc that depends on a package with an install script. */
	beforeEach(async () => {
		folder = await mkdtemp(join(tmpdir(), 'install-'));
		copyFileSync('.npmrc', join(folder, '.npmrc'));
		const dependency = join(folder, 'sly');
		await mkdir(dependency);
		const scripts = { postinstall: 'node -e "fs.writeFileSync(process.env.MARK, String(1))"' };
		const sly = { name: 'sly', version: '1.0.0', scripts };
		await writeFile(join(dependency, 'package.json'), JSON.stringify(sly));
		npm('pack', './sly');
	});
	afterEach(async () => await rm(folder, { recursive: true }));

	function npm(...args: string[]) {
		const env = { ...process.env, MARK: join(folder, 'ran'), npm_config_offline: 'true' };
		const { status, stderr } = spawnSync('npm', args, { cwd: folder, env, encoding: 'utf8' });
		return { status, stderr, ran: existsSync(env.MARK) };
	}

	async function project(allowScripts?: Record<string, boolean>) {
		const dependencies = { sly: tarball() };
		const manifest = { name: 'x', version: '1.0.0', dependencies, allowScripts };
		await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
	}

	test.each(['install', 'ci'])('that nobody has reviewed fails npm %s', async (command) => {
		await project();
		npm('install', '--package-lock-only', '--ignore-scripts');
		const { status, stderr, ran } = npm(command);
		expect(stderr).toContain('sly@1.0.0');
		expect([status === 0, ran]).toEqual([false, false]);
	});

	test.each([true, false])('that was reviewed runs only if it was allowed: %p', async (allowed) => {
		await project({ [tarball()]: allowed });
		expect(npm('install')).toMatchObject({ status: 0, ran: allowed });
	});

	// npm hands what .npmrc says here on to every npm that is called in the course of a script.
	test.each([
		// The binaries of Node.js 24 and of the tests' ffmpeg are put in place by one.
		['.', /^(node|@ffmpeg-installer\/.*)$/],
		['test/n8n/versions/2.0.0', /^sqlite3$/],
		['test/n8n/versions/2.41.1', /^sqlite3$/],
	])('of each dependency is allowed or denied in the package.json of %s', (folder, allowed) => {
		const { allowScripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
			allowScripts: Record<string, boolean>;
		};
		const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
			packages: Record<string, { hasInstallScript?: boolean }>;
		};
		const withScript = Object.entries(packages).filter(
			([, { hasInstallScript }]) => hasInstallScript,
		);
		const names = new Set(withScript.map(([path]) => path.replace(/^.*node_modules\//, '')));
		expect(Object.keys(allowScripts).sort()).toEqual([...names].sort());
		const isAllowed = (name: string) => allowed.test(name);
		expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(
			Object.keys(allowScripts).filter(isAllowed),
		);
	});
});
