/** What a header can hold in one line. */
const SENDABLE = /^[\x20-\x7e]*$/;

/**
 * Checks the credential's API key before it is put into a header.
 *
 * @returns The key without white space around it.
 * @throws Error when there is none, or when it is no header's value. It quotes nothing of it.
 */
export function checkedApiKey(apiKey: unknown): string {
	const key = typeof apiKey === 'string' ? apiKey.trim() : apiKey;
	if (key === undefined || key === null || key === '') {
		throw new Error('The API key is missing. Enter it in the credential.');
	}
	if (typeof key !== 'string' || !SENDABLE.test(key)) {
		throw new Error(
			'The API key is not a text that can be sent. Copy it again into the credential.',
		);
	}
	return key;
}
