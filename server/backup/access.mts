// The address of the service and the key to it.
import { readFile } from 'node:fs/promises';
import { read } from 'read';
import { addressProblem, baseAddress } from '../../lifelog/addresses.ts';
import { LIMITLESS_URL } from '../../lifelog/limitless.ts';
import { asError } from '../util/errors.mts';

/** Why a command cannot start. The message says what to do. */
export class CannotStart extends Error {}

/**
 * Checks the address of a service, by the rules of the credential: https, or http on this machine.
 *
 * @returns The address without `/v1` and slashes at its end.
 * @throws CannotStart.
 */
export function checkedServiceUrl(text: string): string {
	const problem = addressProblem(text);
	if (problem === 'not an address') {
		throw new CannotStart(`--url is not a web address. Give one such as ${LIMITLESS_URL}`);
	}
	if (problem === 'not encrypted') {
		throw new CannotStart(
			'--url must begin with https://, or the API key would cross the network unencrypted. http:// is for this machine only',
		);
	}
	if (problem === 'not plain') {
		throw new CannotStart('--url must be a plain address, without a user name, query or fragment');
	}
	return baseAddress(text);
}

/**
 * The API key: from `LIFELOG_API_KEY`, from the file that `LIFELOG_API_KEY_FILE` names, or typed.
 *
 * @throws CannotStart if there is none, or a header can't hold it. The message quotes nothing of it.
 */
export async function readApiKey(): Promise<string> {
	const { LIFELOG_API_KEY: given, LIFELOG_API_KEY_FILE: path } = process.env;
	const key = (isSet(given) ? given : isSet(path) ? await readKeyFile(path) : await ask()).trim();
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw new CannotStart(
			'The API key is empty, or not a key. Copy it again from the developer settings of the app',
		);
	}
	return key;
}

const isSet = (text: string | undefined): text is string => (text ?? '').trim() !== '';

async function readKeyFile(path: string): Promise<string> {
	return await readFile(path, 'utf8').catch((error: unknown) => {
		throw new CannotStart(
			`The file in LIFELOG_API_KEY_FILE can't be read (${asError(error).code})`,
		);
	});
}

async function ask(): Promise<string> {
	if (!process.stdin.isTTY) {
		throw new CannotStart(
			'Set LIFELOG_API_KEY to the API key, or LIFELOG_API_KEY_FILE to its file',
		);
	}
	return await read({ prompt: 'API key: ', silent: true, output: process.stderr }).catch(() => {
		throw new CannotStart('No API key was given');
	});
}
