/** The characters of a header. */
const SENDABLE = /^[\x20-\x7e]*$/;

/** @returns The trimmed key. @throws Error, which doesn't quote it, if it can't be a header. */
export function checkedApiKey(apiKey: unknown): string {
	const key = typeof apiKey === 'string' ? apiKey.trim() : apiKey;
	if (key === undefined || key === null || key === '') {
		throw new Error('The API key is missing. Enter it in the credential.');
	}
	if (typeof key !== 'string' || !SENDABLE.test(key)) {
		throw new Error(
			"The API key has characters that can't be sent. Copy it into the credential again.",
		);
	}
	return key;
}
