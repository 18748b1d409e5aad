// What every command here that serves has in common.
import { existsSync } from 'node:fs';
import { printable } from './text.mts';

/**
 * What is typed to start lifelog-server: a checkout has a script for it. The package and the Docker
 * image have no package.json there.
 */
export const commandName = existsSync(new URL('../../package.json', import.meta.url))
	? 'npm run server --'
	: process.env.npm_command === 'exec'
		? 'npx lifelog-server'
		: 'lifelog-server';

/** 0: complete. 1: something is missing or wrong. 2: it could not start. */
export type ExitCode = 0 | 1 | 2;

/** Why a command can't start. The message says what to do; it may have several lines. */
export class CannotStart extends Error {}

/** An error's message sanitized for display, with a line break at its end. */
export function displayed(error: Error): string {
	const lines = error instanceof CannotStart ? error.message.split('\n') : [error.message];
	return lines.map((line) => `${printable(line)}\n`).join('');
}

/** @throws CannotStart that says all problems, a line each. */
export function throwIfAny(problems: string[]): void {
	if (problems.length > 0) throw new CannotStart(problems.join('\n'));
}

/**
 * Serves until the process is told to stop, which then ends.
 *
 * @param ready One line of JSON to print when it is there; from then on it stops when stdin closes, too.
 */
export function serveUntilStopped(
	close: () => Promise<void>,
	ready?: object | Promise<object>,
): void {
	const stop = () => void close().then(() => process.exit(), fail);
	process.once('SIGINT', stop);
	process.once('SIGTERM', stop);
	if (!ready) return;
	const tell = (line: object) => {
		console.log(JSON.stringify(line));
		process.stdin.once('close', stop).resume();
	};
	// Whoever awaits it, too, is told why there is none.
	Promise.resolve(ready).then(tell, () => {});
}

/** Why nothing can be served on a host and a port, with what to do. Other errors are returned as they are. */
export function listenProblem(error: Error & { code?: string }, host: string, port: number): Error {
	const { code = '' } = error;
	if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)) {
		return new Error(
			`--host ${host} isn't an address of this machine. Use 127.0.0.1, or 0.0.0.0 for every network`,
		);
	}
	if (code === 'EACCES') {
		return new Error(
			`Port ${port} needs the rights of an administrator. Choose one above 1023 with --port`,
		);
	}
	return error;
}

/**
 * Says why a command could not start, and lets the process fail.
 *
 * @param error Of a port that is taken, `option` is what gave it; `port` when missing.
 * @param command What stands before the options, where they are to be tried again.
 */
export function fail(
	error: Error & { code?: string; port?: number; option?: string },
	command = '',
): void {
	const { code, port, option = 'port', message } = error;
	const taken = `Port ${port} is taken. Choose another one: ${command}--${option} ${port! + 1}`;
	console.error(code === 'EADDRINUSE' ? taken : message);
	process.exitCode = 2;
}
