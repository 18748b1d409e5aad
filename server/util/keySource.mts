import { readFileSync } from 'node:fs';

/** A key that cannot be used; its message says what to do. */
export class KeyError extends Error {}

/**
 * A key from the environment: the variable `name`, or the file of which `<name>_FILE` is the path, as
 * secrets of Docker and systemd are given. A line break at the end of the file doesn't count.
 *
 * @returns Undefined if neither is set.
 * @throws KeyError if both are set, or the file cannot be read.
 */
export function keyFromEnvironment(name: string): string | undefined {
	const { [name]: key, [`${name}_FILE`]: path } = process.env;
	if (!path) return key;
	if (key) throw new KeyError(`${name} and ${name}_FILE can't be used together: set one of them`);
	try {
		return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new KeyError(
			`The file of ${name}_FILE cannot be read (${code}): give the path of a file with the key`,
		);
	}
}

/** Where `keyFromEnvironment` reads a key: the variable, or the file of the other one. */
export const keySource = (name: string) =>
	process.env[`${name}_FILE`] ? `the file of ${name}_FILE` : name;
