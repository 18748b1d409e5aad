// Installs the n8n servers that the tests and `npm run dev` use, and what the tests need beside them:
// node test/n8n/install.mts [version of n8n alone …]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** The newest version that is tested in full, and the oldest that must work. */
export const NEWEST = '2.41.1';
export const OLDEST = '2.0.0';

/** Folder in which a version of n8n is installed. */
export function n8nFolder(version: string): string {
	return join(import.meta.dirname, 'versions', version);
}

/** Whether a version comes before another; both are three numbers with dots. */
export function isOlder(version: string, than: string): boolean {
	return version.localeCompare(than, 'en', { numeric: true }) < 0;
}

/** Installs a version as its lockfile says, unless it is there already. Shows what it does. */
export async function installN8n(version: string): Promise<void> {
	const folder = n8nFolder(version);
	// The one native module that n8n cannot do without is built by name.
	await install(folder, `n8n ${version}`, async () => {
		if (await copySqlite(folder)) return;
		await npm(folder, ['rebuild', 'sqlite3'], 'building sqlite3');
	});
}

const SQLITE = join('node_modules', 'sqlite3');
const BUILT_SQLITE = join(SQLITE, 'build', 'Release', 'node_sqlite3.node');

/** Takes sqlite3 from another version of n8n that has built the same one; building takes minutes. */
async function copySqlite(folder: string): Promise<boolean> {
	const versionIn = async (of: string) =>
		JSON.parse(await readFile(join(of, SQLITE, 'package.json'), 'utf8')).version as string;
	const wanted = await versionIn(folder);
	for (const other of [NEWEST, OLDEST].map(n8nFolder)) {
		if (!existsSync(stampIn(other)) || (await versionIn(other)) !== wanted) continue;
		await cp(join(other, BUILT_SQLITE), join(folder, BUILT_SQLITE));
		return true;
	}
	return false;
}

/** Folder in which the services that the examples are tested with are installed. */
export const SERVICES_FOLDER = join(import.meta.dirname, 'services');

/** Installs these services as their lockfile says, unless they are there already. */
export async function installServices(): Promise<void> {
	await install(SERVICES_FOLDER, 'the services of the examples');
}

/** Folder in which the MCP Inspector is installed. */
export const INSPECTOR_FOLDER = join(import.meta.dirname, 'inspector');

/** Installs the MCP Inspector as its lockfile says, unless it is there already. */
export async function installInspector(): Promise<void> {
	await install(INSPECTOR_FOLDER, 'the MCP Inspector');
}

/** Written when an install has ended: what its lockfile was. */
const stampIn = (folder: string) => join(folder, 'node_modules', '.installed');

async function install(folder: string, name: string, build?: () => Promise<void>): Promise<void> {
	const stamp = stampIn(folder);
	const lock = await readFile(join(folder, 'package-lock.json'));
	const wanted = createHash('sha256').update(lock).digest('hex');
	if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return;

	const total = Object.keys(JSON.parse(String(lock)).packages).length;
	const started = Date.now();
	console.log(`Installing ${name} (${total} packages, once; may take some minutes) …`);
	await rm(stamp, { force: true });
	// No install script runs.
	await npm(folder, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], 'downloading');
	await build?.();
	await writeFile(stamp, wanted);
	console.log(`Installed ${name} (${Math.round((Date.now() - started) / 1000)} s).`);
}

/** Runs npm, telling every few seconds that it is still at it; its own output only on failure. */
async function npm(folder: string, args: string[], step: string): Promise<void> {
	const child = spawn('npm', args, {
		cwd: folder,
		env: { ...process.env, JOBS: 'max', ...builtAgainst() },
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const output: string[] = [];
	for (const stream of [child.stdout, child.stderr]) {
		createInterface(stream).on('line', (line) => output.push(line));
	}
	const started = Date.now();
	const seconds = () => Math.round((Date.now() - started) / 1000);
	const timer = setInterval(() => console.log(`  ${step} … ${seconds()} s`), 10_000);
	try {
		const [code] = await once(child, 'close');
		if (code !== 0) {
			throw new Error(
				[`"npm ${args.join(' ')}" failed in ${folder}:`, ...output.slice(-30)].join('\n'),
			);
		}
	} finally {
		clearInterval(timer);
	}
	console.log(`  ${step}: done in ${seconds()} s`);
}

/**
 * Where node-gyp finds the headers of Node.js: beside the one in the devDependencies, so that a build
 * downloads nothing. Nothing where they did not come with it.
 */
function builtAgainst(): { npm_config_nodedir?: string } {
	const [include] = globSync('node_modules/node/node_modules/node-*/include', {
		cwd: join(import.meta.dirname, '../..'),
	});
	if (include === undefined) return {};
	return { npm_config_nodedir: join(import.meta.dirname, '../..', dirname(include)) };
}

if (import.meta.main) {
	const versions = process.argv.slice(2);
	for (const version of versions.length > 0 ? versions : [NEWEST, OLDEST])
		await installN8n(version);
	if (versions.length === 0) {
		await installServices();
		await installInspector();
	}
}
