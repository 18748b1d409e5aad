// How long each document may be, in words beside its tables and code.
import { globSync, readFileSync } from 'node:fs';

const MAX_WORDS: Record<string, number> = {
	'README.md': 1_000,
	'CHANGELOG.md': 700,
	'CONTRIBUTING.md': 1_000,
	'SECURITY.md': 1_000,
	'server/README.md': 560,
	'examples/README.md': 2_700,
	'docs/README.md': 250,
	'docs/agents.md': 450,
	'docs/api-spec.md': 1_000,
	'docs/archive-your-data.md': 900,
	'docs/audio.md': 620,
	'docs/chat.md': 250,
	'docs/credential.md': 450,
	'docs/dates-and-times.md': 350,
	'docs/full-archive.md': 350,
	'docs/installation.md': 500,
	'docs/lifelog-server-node.md': 500,
	'docs/lifelog.md': 1_400,
	'docs/quick-start.md': 500,
	'docs/rate-limit.md': 350,
	'docs/recordings.md': 800,
	'docs/self-host.md': 800,
	'docs/trigger.md': 850,
	'docs/troubleshooting.md': 1_200,
	'docs/reference/archive.md': 1_400,
	'docs/reference/server.md': 2_000,
	'docs/reference/trigger.md': 1_400,
	'docs/developer/benchmarks.md': 600,
	'docs/developer/performance.md': 600,
	'docs/developer/reliability.md': 600,
	'docs/developer/testing.md': 600,
	'docs/developer/verification.md': 600,
};

const isTableRow = (line: string) => line.startsWith('|');

function wordsIn(path: string): number {
	const prose = readFileSync(path, 'utf8').replace(/^ *```[^]*?^ *```$|<!--[^]*?-->/gm, '');
	const lines = prose.split('\n').filter((line) => !isTableRow(line));
	return lines.join(' ').split(/\s+/).filter(Boolean).length;
}

test.each(Object.entries(MAX_WORDS))('%s has at most %d words', (path, max) => {
	expect(wordsIn(path)).toBeLessThanOrEqual(max);
});

test('every document for users has a maximum', () => {
	const documents = globSync(['docs/**/*.md', 'examples/*.md', 'server/*.md', '*.md']);
	const isLicense = (path: string) => path.endsWith('LICENSE.md');
	expect(documents.filter((path) => !(path in MAX_WORDS) && !isLicense(path))).toEqual([]);
});
