// What a release would publish, as package.json says it now: npm run release:dry-run. It ends with
// an error if versions disagree, a tarball lacks a file or has one too many, or documents and npm
// disagree: for a tag, they must offer the packages from npm.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { publicationProblems, readDocuments } from './support/publication.mts';
import { TARBALLS } from './support/tarballs.mts';

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
const problems: string[] = [];

/** The lockfile, the server's package and, once it has any version, the changelog say the same. */
function checkVersions(): void {
	const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
	const server = JSON.parse(readFileSync('server/package.json', 'utf8'));
	const changelog = readFileSync('CHANGELOG.md', 'utf8');
	const [released] = changelog.match(/(?<=^## )\d+\.\d+\.\d+\b/m) ?? [];
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
		console.log('CHANGELOG.md has no version yet: to be published, its section needs one.');
	}
}

function checkFiles({ name, files }: Tarball, wanted: string[]): void {
	const paths = files.map(({ path }) => path);
	const missing = wanted.filter((path) => !paths.includes(path));
	const tooMany = paths.filter((path) => !wanted.includes(path));
	problems.push(...missing.map((path) => `${name} lacks ${path}`));
	problems.push(...tooMany.map((path) => `${name} has ${path}, which no source makes`));
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
problems.push(...publicationProblems(readDocuments(), process.env.GITHUB_REF_TYPE === 'tag'));
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
console.log(`\n${problems.join('\n') || `Both are whole, and of version ${version}.`}`);
if (problems.length > 0) process.exitCode = 1;
