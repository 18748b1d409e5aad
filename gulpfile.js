const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { copyFile, mkdtemp, rm, writeFile } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { dest, parallel, series, src } = require('gulp');

/** Empties dist/, so that what n8n loads never holds a file whose source is gone. */
const clean = () => rm('dist', { recursive: true, force: true });

const tsc = (...args) =>
	spawn(process.execPath, [require.resolve('typescript/bin/tsc'), ...args], { stdio: 'inherit' });
const compile = () => tsc();

/** The nodes and the credential name their icons relative to dist/. */
const icons = () => src('icons/*.svg', { encoding: false }).pipe(dest('dist/icons'));

exports.build = series(clean, parallel(compile, icons));

/** lifelog-server as npm gets it: Node.js runs no TypeScript in node_modules. */
const cleanServer = async () => {
	await rm('server/dist', { recursive: true, force: true });
	await rm('server/npm-shrinkwrap.json', { force: true });
	await rm('server/LICENSE.md', { force: true });
};
const compileServer = () => tsc('--project', 'server/tsconfig.build.json');
const serverFiles = () =>
	src(['lifelog/{openapi.yaml,package.json}', 'server/openapi.yaml'], { base: '.' }).pipe(
		dest('server/dist'),
	);
const license = () => src('LICENSE.md').pipe(dest('server'));

/** The page, with the licenses of what it contains. */
async function buildPage() {
	const { build } = await import('vite');
	// Not into the checkout's own, which a server may be serving.
	process.env.PAGE_FOLDER = join(__dirname, 'server', 'dist', 'server', 'page', 'dist');
	await build({ configFile: 'server/page/vite.config.mts', logLevel: 'error' });
}

/** The server's part of package-lock.json: whoever installs the package gets the versions that were tested. */
async function lockServer() {
	const folder = await mkdtemp(join(tmpdir(), 'lifelog-server-lock-'));
	try {
		const lock = join(folder, 'package-lock.json');
		await copyFile('package-lock.json', lock);
		// What the page is built with isn't part of the package.
		const { devDependencies: _, ...published } = require('./server/package.json');
		await writeFile(join(folder, 'package.json'), JSON.stringify(published));
		// The lock has all that npm needs for it. It adds no addresses to download from.
		const flags = ['--offline', '--ignore-scripts', '--omit-lockfile-registry-resolved'];
		const npm = spawn('npm', ['install', '--package-lock-only', ...flags, '--prefix', folder], {
			stdio: ['ignore', 'ignore', 'inherit'],
			shell: process.platform === 'win32',
		});
		const [code] = await once(npm, 'exit');
		if (code !== 0) throw new Error('npm made no lock of the server: run npm install, then again');
		await copyFile(lock, 'server/npm-shrinkwrap.json');
	} finally {
		await rm(folder, { recursive: true });
	}
}

exports.server = series(
	cleanServer,
	parallel(compileServer, serverFiles, license, lockServer, buildPage),
);
