// The environment for sharedRuntime.js: the globals of the process. What a file changes of them is
// undone after it.
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

// Without taking down a heap of hundreds of MB: Jest complains about a worker that isn't gone after
// half a second.
if (process.send) process.once('exit', (code) => process.reallyExit(code));

const identity = { idToRef: (id) => id, refToId: (timer) => timer };

module.exports = class {
	constructor({ projectConfig: config }) {
		this.global = globalThis;
		this.moduleMocker = new ModuleMocker(globalThis);
		const { moduleMocker } = this;
		this.fakeTimers = new LegacyFakeTimers({
			config,
			global: globalThis,
			moduleMocker,
			timerConfig: identity,
		});
		this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
		this.before = { console, exit: process.exit, env: { ...process.env } };
	}

	async setup() {
		// n8n's HTTP agents look at a stack for each request, for a file of Node.js. Jest maps every frame
		// of it to its source, which took a twelfth of all the time.
		const { prepareStackTrace } = Error;
		Error.prepareStackTrace = (error, frames) =>
			frames[0]?.getFunctionName() === 'isSecureEndpoint'
				? frames.map((frame) => `${frame.getFileName()}:`).join('\n')
				: prepareStackTrace(error, frames);
	}

	async teardown() {
		this.moduleMocker.restoreAllMocks();
		this.fakeTimers.dispose();
		this.fakeTimersModern.dispose();
		const { console, exit, env } = this.before;
		Object.assign(globalThis, { console });
		process.exit = exit;
		for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
		Object.assign(process.env, env);
		// What jest.setTimeout of a file has set would hold for the files after it.
		delete globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')];
	}

	exportConditions() {
		return ['node', 'node-addons'];
	}

	// Not used by the runtime that belongs to it, but without a context nothing is run.
	getVmContext() {
		return globalThis;
	}
};
