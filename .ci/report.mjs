// What a runner of tests reported: node .ci/report.mjs <name> <report> <exit code> <failures>
// Prints "<passed> <failed>", and adds what failed to the file <failures>. A report that cannot be
// read is a failure, and so is a runner that failed with no test failed.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MAX_LINES = 8;
const MAX_LINE_LENGTH = 300;

/** The first lines of an error, without colours. */
const beginning = (message) =>
	stripVTControlCharacters(message)
		.trim()
		.split('\n')
		.slice(0, MAX_LINES)
		.map((line) => line.slice(0, MAX_LINE_LENGTH))
		.join('\n');

/** A name of tests as one argument, for -t, which takes a pattern. */
const inShell = (name) => `'${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", '.')}'`;

/** What must be set to run a test the same way, such as a seed. */
const WITH = process.env.AGAIN_WITH ?? '';

/** Of `jest --json`. */
function readJest({ numPassedTests, testResults }) {
	const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
		const file = relative(process.cwd(), name);
		const script = /\.(soak|web)\.mts$/.exec(file)?.[1] ?? /^npm run test:(\w+)$/.exec(step)?.[1];
		const again = script ? `npm run test:${script} --` : 'npm test --';
		const failed = assertionResults
			.filter((each) => each.status === 'failed')
			.map(({ fullName, failureMessages }) => ({
				test: `${file}: ${fullName}`,
				message: failureMessages.join('\n'),
				again: `${WITH}${again} ${file} -t ${inShell(fullName)}`,
			}));
		// A file that could not be run has no tests.
		return status === 'failed' && failed.length === 0
			? [{ test: file, message, again: `${WITH}${again} ${file}` }]
			: failed;
	});
	return { passed: numPassedTests, failed: failures.length, failures };
}

/** Of `npm run test:n8n -- --report`. */
function readN8n({ passed, failed, suites }) {
	const failures = suites.flatMap(({ name, failures: ofSuite }) =>
		ofSuite.map(({ test, message }) => ({
			test: `${name}: ${test}`,
			message,
			again: `npm run test:n8n -- ${name}`,
		})),
	);
	return { passed, failed, failures };
}

function read(path) {
	try {
		const report = JSON.parse(readFileSync(path, 'utf8'));
		return 'testResults' in report ? readJest(report) : readN8n(report);
	} catch (error) {
		const failures = [{ test: step, message: `No report: ${error.message}` }];
		return { passed: 0, failed: 1, failures };
	}
}

const [step, path, status, failuresPath] = process.argv.slice(2);
const result = read(path);
if (status !== '0' && result.failed === 0) {
	result.failed = 1;
	const message = `No test failed, and yet the runner did (${status}).`;
	result.failures.push({ test: step, message });
}
for (const { test, message, again } of result.failures) {
	const lines = beginning(message).replace(/^/gm, '  ');
	const howTo = again ? `  Again: ${again}\n` : '';
	appendFileSync(failuresPath, `FAILED ${test}\n${lines}\n${howTo}\n`);
}
console.log(`${result.passed} ${result.failed}`);
