// Counts what runs in a worker of Jest, after each test file. Jest ends a worker too soon for Node.js
// to write its counts. The processes that a test starts write their own.
const { randomUUID } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const { Session } = require('node:inspector/promises');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const SharedEnvironment = require('../support/sharedEnvironment.js');

const folder = process.env.COVERAGE_FOLDER;
const root = pathToFileURL(join(__dirname, '..', '..')).href;

// For all files of a worker: what is compiled before it starts has no counts of its blocks.
const session = new Session();
session.connect();
const started = session
	.post('Profiler.enable')
	.then(() => session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true }));

module.exports = class extends SharedEnvironment {
	async setup() {
		await super.setup();
		await started;
		process.env.NODE_V8_COVERAGE = folder;
	}

	async teardown() {
		const { result } = await session.post('Profiler.takePreciseCoverage');
		const own = result.filter(({ url }) => url.startsWith(root) && !url.includes('node_modules'));
		const path = join(folder, `coverage-${randomUUID()}.json`);
		writeFileSync(path, JSON.stringify({ result: own }));
		await super.teardown();
	}
};
