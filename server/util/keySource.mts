import { readFileSync } from 'node:fs';

/** An unusable key. The message says what to do. */
export class KeyError extends Error {}

/**
 * Reads a key from the environment variable `name`, or from the file at `<name>_FILE`, as used for
 * secrets of Docker and systemd. A final line break in the file is ignored.
 *
 * @returns undefined if neither is set.
 * @throws KeyError if both are set, or the file is unreadable.
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

/** The source of `keyFromEnvironment`: the variable, or the file. */
export const keySource = (name: string) =>
	process.env[`${name}_FILE`] ? `the file of ${name}_FILE` : name;
