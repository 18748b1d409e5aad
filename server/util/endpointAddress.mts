import { addressProblem, isPrivate, plainAddress } from '../../lifelog/addresses.ts';

/**
 * The base URL of a model endpoint, without trailing slashes.
 *
 * @throws Error whose message continues the option's name.
 */
export function checkedEndpointUrl(text: string, keyVariable: string): string {
	const problem = addressProblem(text, isPrivate);
	if (problem === 'not encrypted') {
		throw new Error(
			'must begin with https beyond this machine and its private network: what was said is sent there',
		);
	}
	if (problem !== undefined) {
		throw new Error(
			`must be an address like http://127.0.0.1:11434/v1, without a name, a password or a query; put the key into ${keyVariable}`,
		);
	}
	return plainAddress(text);
}
