// Shared code of the commands.
import { existsSync } from 'node:fs';
import { printable } from './text.mts';

/**
 * The command to start lifelog-server. A checkout has an npm script; the package and the Docker
 * image have no package.json at this path.
 */
export const commandName = existsSync(new URL('../../package.json', import.meta.url))
	? 'npm run server --'
	: process.env.npm_command === 'exec'
		? 'npx lifelog-server'
		: 'lifelog-server';

/** 0: complete. 1: something is missing or wrong. 2: it could not start. */
export type ExitCode = 0 | 1 | 2;

/** Why a command can't start. The message says what to do, and may have several lines. */
export class CannotStart extends Error {}

/** An error's message sanitized for display, with a final line break. */
export function displayed(error: Error): string {
	const lines = error instanceof CannotStart ? error.message.split('\n') : [error.message];
	return lines.map((line) => `${printable(line)}\n`).join('');
}

/** @throws CannotStart with one problem per line. */
export function throwIfAny(problems: string[]): void {
	if (problems.length > 0) throw new CannotStart(problems.join('\n'));
}

/**
 * Keeps serving until the process is told to stop, then ends it.
 *
 * @param ready A line of JSON to print once available. The process then also stops when stdin closes.
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
	// Another caller handles a rejection.
	Promise.resolve(ready).then(tell, () => {});
}

/** Why nothing can be served on a host and port, and what to do. Other errors are returned unchanged. */
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
 * Reports why a command couldn't start, and sets a failure exit code.
 *
 * @param error For a port in use, `option` is the option that set it; by default `port`.
 * @param command The command before its options, for advice to try again.
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
