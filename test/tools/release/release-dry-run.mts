// What a release would publish, as package.json says it now: npm run release:dry-run. It ends with
// an error if versions disagree, a tarball lacks a file or has one too many, lifelog-server installs
// other versions than the tests had, or documents and npm disagree: for a tag, they must offer the
// packages from npm.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicationProblems, readDocuments } from '../../../docs/lint/publication.mts';
import { TARBALLS } from '../../support/tarballs.mts';

interface Tarball {
	name: string;
	version: string;
	filename: string;
	size: number;
	unpackedSize: number;
	files: Array<{ path: string; size: number }>;
}

const bytes = new Intl.NumberFormat('en');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
/** Of a tag. */
const isRelease = process.env.GITHUB_REF_TYPE === 'tag';
const problems: string[] = [];

/** The lockfile, the server's package and, once it has any version, the changelog say the same. */
function checkVersions(): void {
	const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
	const server = JSON.parse(readFileSync('server/package.json', 'utf8'));
	const changelog = readFileSync('CHANGELOG.md', 'utf8');
	const [released] = changelog.match(/(?<=^## )\d+\.\d+\.\d+(?= - \d{4}-\d\d-\d\d$)/m) ?? [];
	const stated = {
		'package-lock.json': lock.version,
		'package-lock.json, its own package': lock.packages[''].version,
		'server/package.json': server.version,
		'CHANGELOG.md, its newest version': released ?? version,
	};
	for (const [where, other] of Object.entries(stated)) {
		if (other !== version) problems.push(`package.json says ${version}, ${where}: ${other}`);
	}
	if (released === undefined) {
		const needed = `CHANGELOG.md needs the heading "## ${version} - YYYY-MM-DD", with the date`;
		if (isRelease) problems.push(needed);
		else console.log(`To be published, ${needed}.`);
	}
}

function checkFiles({ name, files }: Tarball, wanted: string[]): void {
	const paths = files.map(({ path }) => path);
	const missing = wanted.filter((path) => !paths.includes(path));
	const tooMany = paths.filter((path) => !wanted.includes(path));
	problems.push(...missing.map((path) => `${name} lacks ${path}`));
	problems.push(...tooMany.map((path) => `${name} has ${path}, which no source makes`));
}

/** Installs lifelog-server as from npm, and compares what is there then with the lock. */
function checkInstalled(): void {
	const folder = mkdtempSync(join(tmpdir(), 'lifelog-release-'));
	const npm = (...args: string[]) =>
		execFileSync('npm', args, {
			cwd: folder,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'inherit'],
		});
	const read = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
	try {
		const [{ filename }] = JSON.parse(
			npm('pack', '--json', '--ignore-scripts', join(process.cwd(), 'server')),
		) as Tarball[];
		const { name, version: ofServer, dependencies, bin } = read('server', 'package.json');
		const resolved = `file:${filename}`;
		const project = { name: 'project', version: '1.0.0', dependencies: { [name]: resolved } };
		// npm's registry says of a package that it has a shrinkwrap. Of a file, only a lock can.
		const server = { version: ofServer, resolved, hasShrinkwrap: true, dependencies, bin };
		const packages = { '': project, [`node_modules/${name}`]: server };
		const lock = { ...project, lockfileVersion: 3, requires: true, packages };
		writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
		writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
		npm('ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');

		const tested = read('package-lock.json').packages;
		const within = `node_modules/${name}/`;
		const installed = Object.keys(read(folder, 'node_modules', '.package-lock.json').packages);
		const paths = installed.filter((path) => path !== `node_modules/${name}`);
		for (const path of paths) {
			const { version: now } = read(folder, path, 'package.json');
			const then = tested[path.replace(within, '')]?.version;
			if (!path.startsWith(within)) problems.push(`${name} installs ${path}, of no lock`);
			else if (now !== then)
				problems.push(`${name} installs ${path} ${now}, the tests had ${then}`);
		}
		if (paths.length === 0) problems.push(`${name} installs nothing that it needs`);
		console.log(`\n${name} installs ${paths.length} packages.`);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function print({ filename, size, unpackedSize, files }: Tarball): void {
	console.log(`\n${filename}`);
	for (const { path, size: ofFile } of files) {
		console.log(`${bytes.format(ofFile).padStart(12)}  ${path}`);
	}
	const whole = `${bytes.format(size)} bytes, ${bytes.format(unpackedSize)} unpacked`;
	console.log(`${files.length} files, ${whole}`);
}

checkVersions();
problems.push(...publicationProblems(readDocuments(), isRelease));
const pack = ['pack', '--dry-run', '--json', '--ignore-scripts', ...Object.keys(TARBALLS)];
const listing = execFileSync('npm', pack, {
	encoding: 'utf8',
	stdio: ['ignore', 'pipe', 'inherit'],
});
const tarballs = JSON.parse(listing) as Tarball[];
for (const [index, filesOf] of Object.values(TARBALLS).entries()) {
	print(tarballs[index]);
	checkFiles(tarballs[index], filesOf());
}
checkInstalled();
console.log(`\n${problems.join('\n') || `Both are whole, and of version ${version}.`}`);
if (problems.length > 0) process.exitCode = 1;
