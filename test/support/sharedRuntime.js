// Runs the test files of a worker in one context, the one of the process, and lets Node.js load what
// is in node_modules: n8n-core and other large packages are loaded once per worker, not once per file.
const { sep } = require('node:path');
const { default: Runtime } = require('jest-runtime');

const PACKAGES = `${sep}node_modules${sep}`;

module.exports = class extends Runtime {
	createScriptFromCode(code, filename) {
		const script = super.createScriptFromCode(code, filename);
		return script && { runInContext: () => script.runInThisContext() };
	}

	_loadModule(module, from, name, path, options, registry) {
		// Jest's own modules hold the state of a file.
		if (options?.isInternalModule || !path.includes(PACKAGES)) {
			super._loadModule(module, from, name, path, options, registry);
			return;
		}
		module.exports = require(path);
		module.loaded = true;
	}
};
