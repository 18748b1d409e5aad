const { join } = require('node:path');
const config = require('../../jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
	...config,
	rootDir: join(__dirname, '..', '..'),
	runtime: join(__dirname, 'coverageRuntime.js'),
	testEnvironment: join(__dirname, 'coverageEnvironment.js'),
};
