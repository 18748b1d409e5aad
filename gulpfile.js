const { spawn } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { dest, parallel, series, src } = require('gulp');

/** Empties dist/, so that what n8n loads never holds a file whose source is gone. */
const clean = () => rm('dist', { recursive: true, force: true });

const tsc = (...args) =>
	spawn(process.execPath, [require.resolve('typescript/bin/tsc'), ...args], { stdio: 'inherit' });
const compile = () => tsc();

/** The nodes and the credential name their icons relative to dist/. */
const icons = () => src('icons/*.svg', { encoding: false }).pipe(dest('dist/icons'));

exports.build = series(clean, parallel(compile, icons));

/** lifelog-server as npm gets it: Node.js runs no TypeScript in node_modules. */
const cleanServer = () => rm('server/dist', { recursive: true, force: true });
const compileServer = () => tsc('--project', 'tsconfig.server.json');
const serverFiles = () => src(['openapi.yaml', 'LICENSE.md']).pipe(dest('server/dist'));

exports.server = series(cleanServer, parallel(compileServer, serverFiles));
