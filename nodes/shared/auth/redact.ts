/** A shorter key may be part of any word. */
const MIN_KEY_LENGTH = 8;

/** A line of text without the API key, raw or URL-encoded. Blanks in the line were collapsed. */
export function redactApiKey(apiKey: string, line: string): string {
	if (apiKey.length < MIN_KEY_LENGTH) return line;
	const encoded = encodeURIComponent(apiKey);
	const inSmallLetters = encoded.replace(/%../g, (code) => code.toLowerCase());
	const forms = [apiKey.replace(/ +/g, ' '), encoded, inSmallLetters];
	return forms.reduce((text, form) => text.replaceAll(form, '[API key]'), line);
}
