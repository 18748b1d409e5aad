/** A shorter key may be part of any word. */
const MIN_KEY_LENGTH = 8;
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
			'The API key is not a text that can be sent. Copy it again into the credential.',
		);
	}
	return key;
}

/** @param line Its blanks are collapsed. @returns It without the key, raw or URL-encoded. */
export function redactApiKey(apiKey: string, line: string): string {
	if (apiKey.length < MIN_KEY_LENGTH) return line;
	const encoded = encodeURIComponent(apiKey);
	const inSmallLetters = encoded.replace(/%../g, (code) => code.toLowerCase());
	const forms = [apiKey.replace(/ +/g, ' '), encoded, inSmallLetters];
	return forms.reduce((text, form) => text.replaceAll(form, '[API key]'), line);
}
