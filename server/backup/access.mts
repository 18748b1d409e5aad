// Gets the API key of the service.
import { read } from 'read';
import { CannotStart } from '../util/commandLine.mts';
import { keyFromEnvironment } from '../util/keySource.mts';

/**
 * The API key: from `LIFELOG_API_KEY`, from the file in `LIFELOG_API_KEY_FILE`, or typed.
 *
 * @throws CannotStart if it is missing, or invalid in a header. The message never quotes it.
 */
export async function readApiKey(): Promise<string> {
	return checkedKey(given().trim() || (await ask()));
}

/** The key to send. @throws CannotStart if it is invalid in a header. The message never quotes it. */
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
