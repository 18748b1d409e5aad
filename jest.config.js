const { tmpdir } = require('node:os');
const { delimiter, dirname, join } = require('node:path');

// Sandboxes, servers and commands that the tests start don't compile their sources each time.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'lifelog-compile-cache');

// Last, so that the ffmpeg of the machine is used if it has one.
const installed = dirname(require.resolve('@ffmpeg-installer/ffmpeg/package.json'));
const platform = `${process.platform}-${process.arch}`;
process.env.PATH += delimiter + join(installed, '..', platform);

/** @type {import('jest').Config} */
module.exports = {
	runtime: '<rootDir>/test/support/sharedRuntime.js',
	testEnvironment: '<rootDir>/test/support/sharedEnvironment.js',
	testMatch: ['<rootDir>/test/**/*.test.mts'],
	modulePathIgnorePatterns: ['<rootDir>/test/n8n/'],
	moduleFileExtensions: ['mts', 'ts', 'js', 'mjs', 'cjs', 'json', 'node'],
	transform: {
		'\\.m?ts$': [
			'@swc/jest',
			{ jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
		],
	},
	testSequencer: '<rootDir>/test/support/longestFirst.js',
	// More than the two cores of CI: a part of the time is waiting.
	maxWorkers: 4,
	// A larger one takes longer to end than Jest waits.
	workerIdleMemoryLimit: '500MB',
	// Only what hangs is to fail by it, on a machine that is busy with other things as well.
	testTimeout: 600_000,
};
