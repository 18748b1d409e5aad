import { asksForWait } from '../../support/messages.mts';

/** The kinds of errors: what the table calls them (docs/developer/reliability.md), how they begin. */
const ERRORS: Array<[word: string, message: RegExp]> = [
	['limit', new RegExp(`^${asksForWait('')}`)],
	['failed', /^The service failed/],
	['unusable', /^The service returned an unexpected response: /],
	['absent', /^No (lifelog|chat) with the ID/],
	['no answer', /^No answer from /],
	['redirect', /^The service redirects /],
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
