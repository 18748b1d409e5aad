import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { satisfies } from 'semver';
import { TARBALLS } from '../support/tarballs.mts';

/** What n8n supplies to a community node, and this package makes use of. */
const SUPPLIED_BY_N8N = ['luxon', 'n8n-workflow'];
/** What of Node.js n8n's rules allow, and this package makes use of. */
const OF_NODE = ['node:crypto'];

const load = createRequire(resolve('package.json'));
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

function filesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.map((file) => join(folder, file))
		.filter((file) => statSync(file).isFile());
}

test('the build requires only itself and the packages that n8n supplies', () => {
	const required = filesIn('dist')
		.filter((file) => file.endsWith('.js'))
		.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\brequire\(["']([^"']+)["']\)/g)])
		.map(([, name]) => name)
		.filter((name) => !name.startsWith('.'));
	expect([...new Set(required)].sort()).toEqual([...SUPPLIED_BY_N8N, ...OF_NODE].sort());
});

test('dist contains a file for each source and nothing else', () => {
	const sources = TARBALLS['.']().filter((file) => file.startsWith('dist/'));
	expect(filesIn('dist').sort()).toEqual(sources.sort());
});

test('every node and credential is declared, with its files', () => {
	const declared = [...manifest.n8n.nodes, ...manifest.n8n.credentials].sort();
	const built = filesIn('dist').filter((file) => /\.(node|credentials)\.js$/.test(file));
	expect(declared).toEqual(built.sort());
	expect(manifest.n8n.credentials).toHaveLength(1);
	for (const node of manifest.n8n.nodes) {
		const codex = JSON.parse(readFileSync(node.replace('.js', '.json'), 'utf8'));
		const [type] = Object.values(load(resolve(node))) as Array<
			new () => { description: { name: string } }
		>;
		expect(codex.node).toBe(`${manifest.name}.${new type().description.name}`);
	}
});

test('the published package has no dependencies', () => {
	expect(manifest.dependencies).toBeUndefined();
	expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
	expect(manifest.files).toEqual(['dist']);
});

test('npm ci warns about no package on the oldest Node.js, except one of n8n itself and the server', () => {
	const [oldest] = /[\d.]+$/.exec(manifest.engines.node)!;
	const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
		packages: Record<string, { engines?: { node?: string } }>;
	};
	const refused = Object.entries(packages)
		.filter(([, { engines }]) => !satisfies(`${oldest}.0`, engines?.node ?? '*'))
		.map(([path]) => path);
	// npm's own commands run the server, which needs commander, on the Node.js of the devDependencies.
	expect(refused).toEqual(['node_modules/commander', 'node_modules/isolated-vm', 'server']);
});

test('the tarball contains only the build and the files that npm always adds', () => {
	const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [{ files, bundled }] = JSON.parse(listing) as [
		{ files: Array<{ path: string }>; bundled: string[] },
	];
	expect(files.map(({ path }) => path).sort()).toEqual(TARBALLS['.']().sort());
	expect(bundled).toEqual([]);
});

test('nothing runs when the package is installed', () => {
	const scripts = Object.keys(manifest.scripts);
	expect(scripts.filter((name) => /^(pre|post)?(install|prepare|pack|publish)/.test(name))).toEqual(
		[],
	);
});

test('the types of the API are those of openapi.yaml', () => {
	const [command, ...args] = manifest.scripts['generate:types'].split(' ');
	const check = () =>
		execFileSync(join('node_modules', '.bin', command), [...args, '--check'], { stdio: 'pipe' });
	expect(check).not.toThrow();
});
