// Keeps what Jest made of the sources. It isn't the text of the file, to which Node.js's counts of the
// same file in another process refer.
const { createHash } = require('node:crypto');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const SharedRuntime = require('../support/sharedRuntime.js');

const folder = process.env.COVERAGE_FOLDER;

module.exports = class extends SharedRuntime {
	createScriptFromCode(code, path) {
		if (!path.includes('node_modules')) {
			const wrapped = this.wrapCodeInModuleWrapper(code);
			const [length, wrapperLength] = [wrapped.length, wrapped.indexOf(code)];
			const name = createHash('sha256').update(path).update(code).digest('hex');
			const kept = JSON.stringify({ path, code, length, wrapperLength });
			writeFileSync(join(folder, `text-${name}.json`), kept);
		}
		return super.createScriptFromCode(code, path);
	}
};
