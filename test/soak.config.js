// `npm run test:soak`: the files that are only for it, and those that read a size, with larger numbers.
const { globSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const usual = require('../jest.config.js');

process.env.SLOW = '1';
const rootDir = join(__dirname, '..');
const readsSize = (file) => readFileSync(join(rootDir, file), 'utf8').includes('support/size.mts');
const sized = globSync('test/**/*.test.mts', { cwd: rootDir }).filter(readsSize);

/** @type {import('jest').Config} */
module.exports = {
	...usual,
	rootDir,
	testMatch: ['test/**/*.soak.mts', ...sized].map((file) => `<rootDir>/${file}`),
	maxWorkers: 6,
	testTimeout: 1_800_000,
};
