/** The kinds of errors: what the table calls them, how their message begins, what they say. */
export const ERRORS: Array<[word: string, message: RegExp, says: string]> = [
	[
		'limit',
		/^The rate limit asks for a wait/,
		'how long the rate limit asks to wait, and what to do',
	],
	['failed', /^The service failed/, 'the status, and the words of the service'],
	['unusable', /^The answer of the service is not usable: /, 'what is wrong with the answer'],
	['absent', /^No (lifelog|chat) with the ID/, 'which ID the service does not know'],
	['no answer', /^No answer from /, 'which host, and what became of the connection'],
	['redirect', /^The service redirects /, 'the status, and that it was not followed'],
];

/** What the table calls an outcome; undefined for an error of no known kind. */
export function wordOf({
	kind,
	message,
}: {
	kind: 'data' | 'error';
	message?: string;
}): string | undefined {
	if (kind === 'data') return 'data';
	return ERRORS.find(([, pattern]) => pattern.test(message!))?.[0];
}
