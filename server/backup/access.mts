// The key of the service.
import { read } from 'read';
import { CannotStart } from '../util/commandLine.mts';
import { keyFromEnvironment } from '../util/keySource.mts';

/**
 * The API key: from `LIFELOG_API_KEY`, from the file that `LIFELOG_API_KEY_FILE` names, or typed.
 *
 * @throws CannotStart if there is none, or a header can't hold it. The message quotes nothing of it.
 */
export async function readApiKey(): Promise<string> {
	return checkedKey(given().trim() || (await ask()));
}

/**
 * A key as it's sent.
 *
 * @throws CannotStart for one that a header can't hold. The message quotes nothing of it.
 */
export function checkedKey(text: string): string {
	const key = text.trim();
	if (!/^[\x21-\x7e]+$/.test(key)) {
		throw new CannotStart(
			'The API key is empty, or not a key. Copy it again from the developer settings of the app',
		);
	}
	return key;
}

function given(): string {
	try {
		return keyFromEnvironment('LIFELOG_API_KEY') ?? '';
	} catch (error) {
		throw new CannotStart((error as Error).message);
	}
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
