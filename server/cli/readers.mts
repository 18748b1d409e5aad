// Parsers of option values, besides the general ones (util/options).
import { addressProblem, baseAddress } from '../../lifelog/addresses.ts';
import { LIMITLESS_URL } from '../../lifelog/limitless.ts';
import { isTooLong, MAX_PROMPT_LENGTH } from '../recordings/prompt.mts';
import { checkedEndpointUrl } from '../util/endpointAddress.mts';

/** Words in lower case, separated by commas or spaces. */
export const words = (given: string): string[] =>
	given
		.toLowerCase()
		.split(/[\s,]+/)
		.filter(Boolean);

/** Expected words for a model. They are private, so an error doesn't quote them. */
export function wordsToExpect(given: string): string {
	const prompt = given.trim();
	if (!isTooLong(prompt)) return prompt;
	throw new Error(`must have at most ${MAX_PROMPT_LENGTH} characters`);
}

/**
 * The address of a service, by the credential's rules: https, or http on this machine.
 *
 * @returns The address without `/v1` and trailing slashes.
 */
export function serviceAddress(given: string): string {
	const problem = addressProblem(given);
	if (problem === 'not an address') {
		throw new Error(`is not a web address. Give one such as ${LIMITLESS_URL}`);
	}
	if (problem === 'not encrypted') {
		throw new Error(
			'must begin with https://, or the API key would cross the network unencrypted. http:// is for this machine only',
		);
	}
	if (problem === 'not plain') {
		throw new Error('must be a plain address, without a user name, query or fragment');
	}
	return baseAddress(given);
}

/** The server's address for browsers: only an origin, because the page is at its root. */
export function publicAddress(given: string): string {
	const address = URL.parse(given);
	if (
		address &&
		/^https?:$/.test(address.protocol) &&
		given.replace(/\/$/, '') === address.origin
	) {
		return address.origin;
	}
	throw new Error('must be an address without a path, such as https://lifelogs.example.org');
}

const MAX_PAUSE_S = 7 * 86_400;

/** Seconds separated by commas, as ms. */
export function pauses(given: string): number[] {
	const seconds = given
		.split(',')
		.map((text) => (/^\s*\d*\.?\d+\s*$/.test(text) ? Number(text) : NaN));
	if (seconds.every((each) => each <= MAX_PAUSE_S)) return seconds.map((each) => each * 1000);
	throw new Error('must be seconds with commas between them, such as 1,1,5');
}

export const endpointAddress = (keyVariable: string) => (given: string) =>
	checkedEndpointUrl(given, keyVariable);
