// How .ci/run counts.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const script = resolve(__dirname, '../../.ci/report.mjs');
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lifelog-report-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** What is counted, and what is told of failures. */
function count(report: object | string | undefined, status = 0) {
	const [path, failures] = [join(folder, 'report.json'), join(folder, 'failures')];
	writeFileSync(failures, '');
	if (report) writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
	const args = [script, 'npm test', path, String(status), failures];
	const counts = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
	return { counts, told: readFileSync(failures, 'utf8') };
}

const test1 = { fullName: 'a group goes well', status: 'passed', failureMessages: [] };
const failure = `\u001b[31mExpected\u001b[39m 1${'\n  at somewhere'.repeat(50)}`;
const test2 = { fullName: 'a group fails', status: 'failed', failureMessages: [failure] };
const file = resolve('test/unit/a.test.mts');
const ofJest = (...testResults: object[]) => ({ numPassedTests: 1, testResults });
const passed = { name: file, status: 'passed', message: '', assertionResults: [test1] };

test('reports the tests of Jest', () => {
	expect(count(ofJest(passed))).toEqual({ counts: '1 0', told: '' });
	const failed = { ...passed, status: 'failed', assertionResults: [test1, test2] };
	const { counts, told } = count(ofJest(failed), 1);
	expect(counts).toBe('1 1');
	expect(told).toMatch(/^FAILED test\/unit\/a\.test\.mts: a group fails\n {2}Expected 1\n/);
	expect(told.trim().split('\n')).toHaveLength(10);
	expect(told).toContain("  Again: npm test -- test/unit/a.test.mts -t 'a group fails'\n\n");
});

test("reports a file that Jest couldn't run", () => {
	const broken = { ...passed, status: 'failed', message: 'SyntaxError', assertionResults: [] };
	const { counts, told } = count(ofJest(passed, broken), 1);
	expect(counts).toBe('1 1');
	expect(told).toBe(
		'FAILED test/unit/a.test.mts\n  SyntaxError\n  Again: npm test -- test/unit/a.test.mts\n\n',
	);
});

test('reports the tests in the real n8n', () => {
	const failures = [{ test: 'errors > are told', message: 'fetch failed' }];
	const { counts, told } = count({ passed: 8, failed: 1, suites: [{ name: 'chat', failures }] }, 1);
	expect(counts).toBe('8 1');
	expect(told).toBe(
		'FAILED chat: errors > are told\n  fetch failed\n  Again: npm run test:n8n -- chat\n\n',
	);
});

test('reports a missing or broken report, or a runner that fails by itself, as a failure', () => {
	for (const report of [undefined, '{"numPa']) {
		const { counts, told } = count(report);
		expect(counts).toBe('0 1');
		expect(told).toMatch(/^FAILED npm test\n {2}No report: /);
	}
	const { counts, told } = count(ofJest(passed), 7);
	expect(counts).toBe('1 1');
	expect(told).toMatch(/^FAILED npm test\n {2}No test failed, and yet the runner did \(7\)/);
});
