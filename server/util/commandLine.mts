// What every command here that serves has in common.
import { existsSync } from 'node:fs';
import { IANAZone } from 'luxon';

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

/**
 * Reads an option that is a whole number.
 *
 * @throws Error that names the option and what it may be.
 */
export function wholeNumber(name: string, text: string, min = 0, max = Infinity): number {
	const value = Number(text);
	if (!/^\d+$/.test(text) || value < min || value > max) {
		const range = max === Infinity ? '' : ` from ${min} to ${max}`;
		throw new Error(`--${name} must be a whole number${range}`);
	}
	return value;
}

/**
 * Reads an option that is one of some words.
 *
 * @throws Error that names the option and the words.
 */
export function oneOf<Word extends string>(
	name: string,
	text: string,
	words: readonly Word[],
): Word {
	const word = words.find((each) => each === text);
	if (word === undefined) throw new Error(`--${name} must be one of ${words.join(', ')}`);
	return word;
}

/** Reads an option that is a time zone: the system's if it isn't given. */
export function timezoneOf(name: string | undefined): string {
	const zone = name ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (IANAZone.isValidZone(zone)) return zone;
	throw new Error(`--timezone must be a name such as Europe/Berlin, not ${zone}`);
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
