import { addressProblem, isPrivate, plainAddress } from '../../lifelog/addresses.ts';

/**
 * The base address of an endpoint with a model, without slashes at its end.
 *
 * @throws Error that continues the name of its option.
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
