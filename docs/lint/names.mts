// What documents name exists: commands, tests, the results of benchmarks.
import { globSync, readFileSync } from 'node:fs';
import { blockOf } from '../../bench/block.mts';
import { RESULTS, resultsIn, tableOf } from '../../bench/results.mts';
import { documents } from './links.mts';
import { found } from './sources.mts';

const read = (path: string) => readFileSync(path, 'utf8');

function unknownCommands(): string[] {
	const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
	const named = documents.flatMap((path) =>
		[...read(path).matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => [path, name] as const),
	);
	return found(named, 50, 'commands')
		.filter(([, name]) => !(name in scripts))
		.map(([path, name]) => `${path} names npm run ${name}, which package.json doesn't have`);
}

/** The first two commands that a reader of the README tries. */
const missingCommands = () =>
	['npm ci && npm run demo', 'npm ci && npm test']
		.filter((command) => !read('README.md').includes(`\`\`\`sh\n${command}\n`))
		.map((command) => `README.md doesn't show ${command}`);

/** Each promise of SECURITY.md names tests that exist. */
function promisesWithoutTests(): string[] {
	const [, promises] = read('SECURITY.md').split('## Promises\n');
	const rows = promises.match(/^\| (?!-|What is promised).*$/gm) ?? [];
	return found(rows, 20, 'promises').flatMap((row) => {
		const [, promise, tests] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
		const names = [...tests.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
		const unknown = names.filter((name) => globSync(`test/${name}{.test,}.mts`).length === 0);
		if (names.length > 0 && unknown.length === 0) return [];
		return [`SECURITY.md: "${promise.slice(0, 60)}" needs a test: ${unknown.join(', ') || 'none'}`];
	});
}

function staleResults(): string[] {
	const shown = blockOf(read('docs/developer/performance.md'));
	// Prettier aligns the columns.
	const plain = (text: string) => text.replace(/ +/g, ' ').replace(/-+/g, '-');
	return plain(shown).endsWith(plain(tableOf(resultsIn(read(RESULTS))))) &&
		/^Measured with `npm run bench` on \d+ \w+ \d{4}/.test(shown)
		? []
		: ["docs/developer/performance.md doesn't show what `npm run bench` wrote"];
}

export const problemsOfNames = (): string[] => [
	...unknownCommands(),
	...missingCommands(),
	...promisesWithoutTests(),
	...staleResults(),
];
