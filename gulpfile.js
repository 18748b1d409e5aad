const { spawn } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { dest, parallel, series, src } = require('gulp');

/** Empties dist/, so that what n8n loads never holds a file whose source is gone. */
const clean = () => rm('dist', { recursive: true, force: true });

const compile = () =>
	spawn(process.execPath, [require.resolve('typescript/bin/tsc')], { stdio: 'inherit' });

/** The nodes and the credential name their icons relative to dist/. */
const icons = () => src('icons/*.svg', { encoding: false }).pipe(dest('dist/icons'));

exports.build = series(clean, parallel(compile, icons));
