import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { checkedBaseUrl } from '../../nodes/shared/auth/baseUrl.ts';
import { secondLevelHeadings } from '../../lifelog/contents.ts';
import { type Pattern, patternsIn, patternsOf } from '../support/patterns.mts';

/** What is wrong with the patterns that may take more than linear time, or of which none can tell. */
function dangersOf(patterns: Pattern[]): string[] {
	const input = JSON.stringify(patterns);
	const dangers = execFileSync(process.execPath, ['test/support/checkPatterns.mts'], { input });
	return JSON.parse(String(dangers)) as string[];
}

test('no pattern for input of a service or a user takes more than linear time', () => {
	const files = globSync('{lifelog,nodes,credentials}/**/*.ts', { exclude: ['**/*.d.ts'] });
	const patterns = files.flatMap(patternsOf);
	expect(files.length).toBeGreaterThan(40);
	expect(patterns.length).toBeGreaterThan(20);
	expect(dangersOf(patterns)).toEqual([]);
});

test.each([
	String.raw`html.match(/<title[^>]*>([^<]*)</i)`,
	String.raw`/^ {0,3}##(?:[ \t]+(.*))?$/.exec(line)`,
	String.raw`url.replace(/\/+$/, '')`,
	String.raw`const url = '={{ $credentials.baseUrl.replace(/\\/+$/, "") }}'`,
	String.raw`new RegExp('(a+)+$', 'g')`,
	String.raw`text.search('\\s+$')`,
	String.raw`new RegExp(pattern)`,
])('the check finds %s', (code) => {
	expect(dangersOf(patternsIn(code, 'example'))).toHaveLength(1);
});

/** CPU time, of which a linear way takes some ms, and a quadratic one a minute. */
function secondsFor(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	return process.cpuUsage(before).user / 1_000_000;
}

const blanks = ' '.repeat(200_000);

test.each([
	['blanks before a separator', `##${blanks}\u2028`],
	['blanks before a word', `##${blanks}x${blanks}x`],
	['marks between blanks', `##${' #'.repeat(100_000)}x`],
	['marks', `##${' '.repeat(9)}${'#'.repeat(200_000)}x`],
])('headings are read in linear time: %s', (_name, line) => {
	const lifelog = { markdown: line } as Parameters<typeof secondLevelHeadings>[0];
	expect(secondsFor(() => secondLevelHeadings(lifelog))).toBeLessThan(5);
});

test('a Base URL of slashes is read in linear time', () => {
	const address = `https://api.example.com${'/'.repeat(500_000)}`;
	expect(secondsFor(() => checkedBaseUrl({ baseUrl: `${address}x` }))).toBeLessThan(5);
	expect(checkedBaseUrl({ baseUrl: address })).toBe('https://api.example.com');
});
