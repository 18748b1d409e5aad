#!/usr/bin/env node
// Written so that a Node.js that is too old can run it, and say so. Scripts of package.json load it
// before a file of TypeScript (`node -r`); then it does nothing else.
'use strict';

const wanted = 24;
// Alone, or after the name of a command.
const asksForVersion = process.argv.slice(2, 4).some((arg) => arg === '--version' || arg === '-v');

if (Number(process.versions.node.split('.')[0]) < wanted) {
	console.error(
		'lifelog-server needs Node.js ' +
			wanted +
			' or newer, for the SQLite in it; this is ' +
			process.versions.node +
			'. Install a newer one from https://nodejs.org',
	);
	process.exit(2);
} else if (require.main !== module) {
	// Loaded before another file.
} else if (asksForVersion) {
	console.log(require('./package.json').version);
} else {
	// From the second start on, nothing is compiled, and no compiler fills the memory.
	// In a folder of the user's own: nobody else may put code into it.
	const home = process.env.HOME || process.env.USERPROFILE;
	if (home) require('node:module').enableCompileCache(home + '/.cache/lifelog-server');
	// In a checkout the sources run as they are; npm gets what is built of them.
	if (require('node:fs').existsSync(__dirname + '/cli/main.mts')) void import('./cli/main.mts');
	else void import('./dist/server/cli/main.mjs');
}
