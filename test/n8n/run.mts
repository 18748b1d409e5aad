// npm run test:n8n [-- --report <file> --workers <number>] [suite …]
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { keepFailures, type Failure } from './failures.mts';
import { installInspector, installN8n, installServices } from './install.mts';
import { suites, type Suite } from './suites.mts';
import { FOLDERS_VARIABLE, prepareUserFolder, TARBALL_VARIABLE } from './support/lab.mts';
import { pack } from './support/package.mts';
import { missingPrograms } from './support/programs.mts';
import { temporaryFolder } from './support/server.mts';
import { asError } from '../../server/util/errors.mts';

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
	failures: Failure[];
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
	const versions = [...new Set(chosen.flatMap((suite) => suite.versions))];
	for (const version of versions) await installN8n(version);
	// Here, as suites that run at once would both do it.
	if (chosen.some(({ needsServices }) => needsServices)) await installServices();
	if (chosen.some(({ needsInspector }) => needsInspector)) await installInspector();
	const folder = await temporaryFolder('lifelog-tarball');
	process.env[TARBALL_VARIABLE] = await pack(folder.path);
	// Once for all suites: n8n's first start on a folder creates its database.
	const folders = versions.map(async (version) => [version, await prepareUserFolder(version)]);
	process.env[FOLDERS_VARIABLE] = JSON.stringify(Object.fromEntries(await Promise.all(folders)));
}

/**
 * Runs the suites, so many at once, in their order. Each has servers, ports and folders of its own;
 * most of its time it waits.
 */
async function runSuites(chosen: Suite[], workers: number): Promise<Report> {
	const interrupted = new AbortController();
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => interrupted.abort());
	}
	const began = Date.now();
	const results = new Map<Suite, Result>();
	const waiting = chosen.values();
	const worker = async () => {
		for (const suite of waiting) results.set(suite, await runSuite(suite, interrupted.signal));
	};
	await Promise.all(Array.from({ length: workers }, worker));
	const inOrder = chosen.map((suite) => results.get(suite)!);
	const sum = (count: 'passed' | 'failed' | 'skipped') =>
		inOrder.reduce((total, result) => total + result[count], 0);
	return {
		passed: sum('passed'),
		failed: sum('failed'),
		skipped: sum('skipped'),
		seconds: secondsSince(began),
		suites: inOrder,
	};
}

/** Runs a suite and prints what it said, once it has ended. */
async function runSuite({ name, what, versions }: Suite, signal: AbortSignal): Promise<Result> {
	const began = Date.now();
	const file = join(import.meta.dirname, 'suites', `${name}.mts`);
	const events = run({ files: [file], signal });
	let counts = { tests: 1, passed: 0, skipped: 0 };
	events.on('test:summary', (summary) => (counts = summary.counts));
	const failures: Failure[] = [];
	const told = withoutCounts(keepFailures(events, failures));
	const output = await text(Readable.from(told).pipe(new spec()));
	const seconds = secondsSince(began);
	console.log(`\n== ${name}: ${what} (n8n ${versions.join(' and ')}, ${seconds} s)\n${output}`);
	const { tests, passed, skipped } = counts;
	const failed = tests - passed - skipped;
	return { name, what, n8n: versions, passed, failed, skipped, seconds, failures };
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
	for (const { name, failures } of suites) {
		for (const { test, message } of failures) {
			console.log(`\nFAILED ${name}: ${test}\n${message.replace(/^/gm, '  ')}`);
		}
	}
	const skips = skipped > 0 ? `, ${skipped} skipped` : '';
	console.log(`\n${passed} passed, ${failed} failed${skips} in ${seconds} s`);
}

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		options: {
			report: { type: 'string' },
			workers: { type: 'string' },
		},
		allowPositionals: true,
	});
	const chosen = chosenSuites(positionals);
	// Two more than cores, as suites mostly wait: for polls, pages and rate limits.
	const workers = Number(values.workers ?? availableParallelism() + 2);
	if (!(workers >= 1))
		throw new Error('--workers is a number of suites to run at once, 1 or more.');
	await prepare(chosen);
	const report = await runSuites(chosen, workers);
	if (values.report) await writeFile(values.report, JSON.stringify(report, null, '\t'));
	printSummary(report);
	process.exitCode = report.failed > 0 ? 1 : 0;
}

main().catch((error: unknown) => {
	console.error(asError(error).message);
	console.log('\n0 passed, 1 failed');
	process.exitCode = 1;
});
