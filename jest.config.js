const { tmpdir } = require('node:os');
const { delimiter, dirname, join } = require('node:path');

// Sandboxes, servers and commands that the tests start don't compile their sources each time.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'lifelog-compile-cache');

// Tests start ffmpeg hundreds of times, and Debian's takes ten times as long to start as the package's.
// `TEST_FFMPEG=machine` uses the one of the machine.
const installed = dirname(require.resolve('@ffmpeg-installer/ffmpeg/package.json'));
const platform = `${process.platform}-${process.arch}`;
const folders = [join(installed, '..', platform), process.env.PATH];
if (process.env.TEST_FFMPEG === 'machine') folders.reverse();
process.env.PATH = folders.join(delimiter);

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
	maxWorkers: 6,
	// A larger one takes longer to end than Jest waits.
	workerIdleMemoryLimit: '500MB',
	// Only what hangs is to fail by it, on a machine that is busy with other things as well.
	testTimeout: 600_000,
};
