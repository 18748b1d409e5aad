// Brings this package into an n8n user folder: as a user's n8n does, or to be worked on.
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runProgram } from './processes.mts';

const root = resolve(import.meta.dirname, '../../..');

/** Where n8n looks for community packages. */
const packagesFolder = (userFolder: string) => join(userFolder, '.n8n', 'nodes');

/** Packs the package as it would be published and returns the tarball's path. Build it first. */
export async function pack(destination: string): Promise<string> {
	const args = ['pack', '--json', '--pack-destination', destination];
	const [{ filename }] = JSON.parse(await runProgram('npm', args, { cwd: root }));
	return join(destination, filename);
}

/** Installs a tarball into a user folder with the options that n8n itself gives to npm. */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = packagesFolder(userFolder);
	await mkdir(folder, { recursive: true });
	const options = ['--audit=false', '--fund=false', '--bin-links=false', '--ignore-scripts=true'];
	// n8n takes the peer out of the package first; the option leaves it alone as well.
	await runProgram('npm', ['install', ...options, '--legacy-peer-deps', tarball], { cwd: folder });
}

/**
 * Copies the built package into a user folder, unpacked. A link would not do where n8n is to load
 * it again after a change: it watches the folder, not where a link leads.
 *
 * @returns The package's folder there.
 */
export async function copyPackage(userFolder: string): Promise<string> {
	const { name } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
	const folder = join(packagesFolder(userFolder), 'node_modules', name);
	await mkdir(folder, { recursive: true });
	for (const part of ['package.json', 'dist']) {
		await cp(join(root, part), join(folder, part), { recursive: true });
	}
	return folder;
}
