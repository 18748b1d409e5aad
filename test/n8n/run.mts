// npm run test:n8n [-- --report <file>] [suite …]
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { installN8n } from './install.mts';
import { suites, type Suite } from './suites.mts';
import { TARBALL_VARIABLE } from './support/lab.mts';
import { pack } from './support/package.mts';
import { missingPrograms } from './support/programs.mts';
import { temporaryFolder } from './support/server.mts';

/** How the tests of one suite ended. */
interface Result {
	name: string;
	what: string;
	/** The versions of n8n it ran on. */
	n8n: string[];
	passed: number;
	failed: number;
	skipped: number;
	seconds: number;
}

/** What `--report` writes: the sum, and each suite. */
interface Report extends Pick<Result, 'passed' | 'failed' | 'skipped' | 'seconds'> {
	suites: Result[];
}

function chosenSuites(names: string[]): Suite[] {
	const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
	if (unknown.length > 0) {
		const known = suites.map(({ name }) => name).join(', ');
		throw new Error(`There is no suite ${unknown.join(', ')}. There are: ${known}.`);
	}
	return names.length > 0 ? suites.filter(({ name }) => names.includes(name)) : suites;
}

/** Everything the suites share: the servers' programs, and the package as it would be published. */
async function prepare(chosen: Suite[]): Promise<void> {
	const missing = await missingPrograms(chosen.flatMap(({ programs = [] }) => programs));
	if (missing.length > 0) {
		throw new Error(
			`Not installed: ${missing.join(', ')}. On Debian: sudo test/n8n/install-system.sh`,
		);
	}
	for (const version of new Set(chosen.flatMap(({ versions }) => versions))) {
		await installN8n(version);
	}
	const folder = await temporaryFolder('lifelog-tarball');
	process.env[TARBALL_VARIABLE] = await pack(folder.path);
}

/** Runs the suites one after the other: what is measured in seconds must not be crowded out. */
async function runSuites(chosen: Suite[]): Promise<Report> {
	const interrupted = new AbortController();
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => interrupted.abort());
	}
	const began = Date.now();
	const report: Report = { passed: 0, failed: 0, skipped: 0, seconds: 0, suites: [] };
	for (const suite of chosen) {
		console.log(`\n== ${suite.what} (n8n ${suite.versions.join(' and ')})`);
		const result = await runSuite(suite, interrupted.signal);
		report.suites.push(result);
		report.passed += result.passed;
		report.failed += result.failed;
		report.skipped += result.skipped;
	}
	report.seconds = secondsSince(began);
	return report;
}

async function runSuite({ name, what, versions }: Suite, signal: AbortSignal): Promise<Result> {
	const began = Date.now();
	const file = join(import.meta.dirname, 'suites', `${name}.mts`);
	const events = run({ files: [file], signal });
	let counts = { tests: 1, passed: 0, skipped: 0 };
	events.on('test:summary', (summary) => (counts = summary.counts));
	const output = Readable.from(withoutCounts(events)).pipe(new spec());
	output.pipe(process.stdout, { end: false });
	await once(output, 'end');
	const { tests, passed, skipped } = counts;
	const failed = tests - passed - skipped;
	return { name, what, n8n: versions, passed, failed, skipped, seconds: secondsSince(began) };
}

/** Without the counts that the reporter prints under each file. */
async function* withoutCounts(events: AsyncIterable<TestEvent>) {
	for await (const event of events) {
		const isCount = event.type === 'test:diagnostic' && COUNT.test(event.data.message);
		if (!isCount) yield event;
	}
}

const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

const secondsSince = (began: number) => Math.round((Date.now() - began) / 1000);

function printSummary({ suites, passed, failed, skipped, seconds }: Report): void {
	console.log(`\nOn the real n8n, ${availableParallelism()} cores, Node.js ${process.version}:\n`);
	for (const suite of suites) {
		const counts = `${suite.passed} passed${suite.failed ? `, ${suite.failed} FAILED` : ''}`;
		const n8n = `n8n ${suite.n8n.join(' and ')}`;
		console.log(
			`  ${suite.what.padEnd(50)} ${n8n.padEnd(20)} ${String(suite.seconds).padStart(4)} s   ${counts}`,
		);
	}
	const skips = skipped > 0 ? `, ${skipped} skipped` : '';
	console.log(`\n${passed} passed, ${failed} failed${skips} in ${seconds} s`);
}

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		options: { report: { type: 'string' } },
		allowPositionals: true,
	});
	const chosen = chosenSuites(positionals);
	await prepare(chosen);
	const report = await runSuites(chosen);
	if (values.report) await writeFile(values.report, JSON.stringify(report, null, '\t'));
	printSummary(report);
	process.exitCode = report.failed > 0 ? 1 : 0;
}

main().catch((error: Error) => {
	console.error(error.message);
	console.log('\n0 passed, 1 failed');
	process.exitCode = 1;
});
