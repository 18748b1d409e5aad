import { globSync } from 'node:fs';
import { checkSync } from 'recheck';
import { checkedBaseUrl } from '../../nodes/shared/base-url.ts';
import { secondLevelHeadings } from '../../nodes/shared/headings.ts';
import { type Pattern, patternsIn, patternsOf } from '../support/patterns.mts';

// In this process: nothing is started, and no pattern is given up for the time it takes.
process.env.RECHECK_SYNC_BACKEND = 'pure';

/** Why a pattern may take more than linear time, or cannot be told; undefined for one that cannot. */
function dangerOf({ source, flags }: Pattern): string | undefined {
	if (source === undefined) return 'is put together at run time';
	// Its other checker only searches for an attack; this one proves that there is none.
	const { status } = checkSync(source, flags, { checker: 'automaton', timeout: null });
	return status === 'safe' ? undefined : status;
}

const dangersOf = (patterns: Pattern[]) =>
	patterns.flatMap((pattern) => {
		const danger = dangerOf(pattern);
		return danger === undefined ? [] : [`${pattern.where}: /${pattern.source}/ ${danger}`];
	});

test('no pattern over what a service or a user sends takes more than linear time', () => {
	const files = globSync('{nodes,credentials}/**/*.ts');
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
	['a fence', `${'`'.repeat(200_000)}x\`\n## Garden`],
])('headings are read in linear time: %s', (_name, line) => {
	const lifelog = { markdown: line } as Parameters<typeof secondLevelHeadings>[0];
	expect(secondsFor(() => secondLevelHeadings(lifelog))).toBeLessThan(5);
});

test('a Base URL of slashes is read in linear time', () => {
	const address = `https://api.example.com${'/'.repeat(500_000)}`;
	expect(secondsFor(() => checkedBaseUrl({ baseUrl: `${address}x` }))).toBeLessThan(5);
	expect(checkedBaseUrl({ baseUrl: address })).toBe('https://api.example.com');
});
