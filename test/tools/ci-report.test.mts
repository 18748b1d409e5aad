// How .ci/run counts.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../server/sources.mts';

const name = resolve('test/nodes/a.test.mts');
const error = `\u001b[31mExpected\u001b[39m 1${'\n  at somewhere'.repeat(50)}`;
const passed = { fullName: 'goes well', status: 'passed', failureMessages: [] };
const failed = { fullName: 'a group fails', status: 'failed', failureMessages: [error] };
const ofJest = (...testResults: object[]) => ({ numPassedTests: 1, testResults });
const all = ofJest({ name, status: 'passed', message: '', assertionResults: [passed] });
const one = ofJest({ name, status: 'failed', message: '', assertionResults: [passed, failed] });
const broken = ofJest({ name, status: 'failed', message: 'SyntaxError', assertionResults: [] });
const failures = [{ test: 'errors > are told', message: 'fetch failed' }];
const ofN8n = { passed: 8, failed: 1, suites: [{ name: 'chat', failures }] };

const AGAIN = 'Again: npm test -- test/nodes/a.test.mts';
const FIRST_LINES = `Expected 1\n${'    at somewhere\n'.repeat(7)}`;

test.each<[string, object | string | undefined, number, string, string | RegExp]>([
	['tests of Jest', all, 0, '1 0', ''],
	[
		'a test of Jest that failed',
		one,
		1,
		'1 1',
		`FAILED test/nodes/a.test.mts: a group fails\n  ${FIRST_LINES}  ${AGAIN} -t 'a group fails'\n\n`,
	],
	[
		"a file that Jest couldn't run",
		broken,
		1,
		'1 1',
		`FAILED test/nodes/a.test.mts\n  SyntaxError\n  ${AGAIN}\n\n`,
	],
	[
		'tests in the real n8n',
		ofN8n,
		1,
		'8 1',
		'FAILED chat: errors > are told\n  fetch failed\n  Again: npm run test:n8n -- chat\n\n',
	],
	['a missing report', undefined, 0, '0 1', /^FAILED npm test\n {2}No report: /],
	['half a report', '{"numPa', 0, '0 1', /^FAILED npm test\n {2}No report: /],
	['a runner that fails', all, 7, '1 1', /^FAILED npm test\n {2}No test failed, and yet .*\(7\)/],
])('counts and tells %s', (_what, report, status, counts, told) => {
	const folder = temporaryFolder();
	const [path, list] = ['report.json', 'failures'].map((file) => join(folder, file));
	writeFileSync(list, '');
	if (report) writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
	const args = [resolve('.ci/report.mjs'), 'npm test', path, String(status), list];
	expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe(counts);
	expect(readFileSync(list, 'utf8')).toEqual(
		typeof told === 'string' ? told : expect.stringMatching(told),
	);
});
