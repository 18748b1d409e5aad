// lifelog-server link: creates a link for signing in.
import { statSync } from 'node:fs';
import { Access } from '../http/auth/access.mts';
import { readAccessFile } from '../http/auth/accessFile.mts';
import { LINK_MINUTES, linkPath, makeLink } from '../http/auth/link.mts';
import { CannotStart, commandName, type ExitCode, throwIfAny } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';
import { defaultIndex, readCommand } from '../util/options.mts';
import { printable } from '../util/text.mts';
import { link as declared, unknownOnes } from './commands.mts';

/**
 * Runs `lifelog-server link`; returns its exit code.
 *
 * @throws CannotStart if no server has run there, or its files can't be read and written.
 */
export function linkCommand(args: string[]): ExitCode {
	const given = readCommand(declared, args);
	if (!given) return 0;
	throwIfAny(given.problems);
	for (const line of unknownOnes()) process.stderr.write(`${printable(line)}\n`);
	const [folder] = given.operands;
	const index = given.values.index ?? defaultIndex(folder);
	const keys = Access.fileOf(index);
	try {
		statSync(keys);
		const { address } = readAccessFile(keys);
		const path = linkPath(makeLink(index, keys, Date.now()));
		process.stdout.write(describe(address, path));
		return 0;
	} catch (error) {
		const { code, message } = asError(error);
		if (code === undefined) throw error;
		throw new CannotStart(
			code === 'ENOENT'
				? `No server has its index at ${index}. Start it first: ${commandName} serve "${folder}". If it has --index, give the same one`
				: `${message}. Run the command as the user who runs the server`,
		);
	}
}

function describe(address: string | null, path: string): string {
	const where =
		address === null ? '' : `  ${address}${path}\n\nAt another address of the server:\n`;
	return `Signs one browser in, once, within ${LINK_MINUTES} minutes:\n\n${where}  ${path}\n`;
}
