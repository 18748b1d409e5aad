// What the service itself says in an answer.
import type { Fault } from '../../../lifelog/limitless.ts';
import type { Api } from '../auth/connection';
import { sanitizeForDisplay } from './sanitize';

/** An answer of the service, its body read. */
export interface Answer {
	statusCode: number;
	headers: Record<string, unknown>;
	/** Parsed JSON, or text. */
	body: unknown;
}

/** In UTF-16 units. */
const MAX_QUOTE_LENGTH = 300;
/** Interrupted JSON, audio or other bytes. */
const NOT_FOR_PEOPLE = /^\s*[{[]|^OggS|\0/;

export function isSuccess({ statusCode }: Pick<Answer, 'statusCode'>): boolean {
	return statusCode >= 200 && statusCode < 300;
}

/** The service's own words in an answer, without the query of an address. */
export function saidBy({ apiKey }: Api, answer: Answer): string | undefined {
	const words = wordsIn(answer);
	if (typeof words !== 'string') return undefined;
	const quote = sanitizeForDisplay(apiKey, words, MAX_QUOTE_LENGTH);
	return quote.replace(/\?[^\s=?]+=\S*/g, '') || undefined;
}

/**
 * The `error` or `message` of a JSON object, the title of a page, or a text. Of a success only the
 * first, because the rest may be private.
 */
function wordsIn(answer: Answer): unknown {
	const { body } = answer;
	if (typeof body === 'object' && body !== null) {
		const { error, message } = body as { error?: unknown; message?: unknown };
		return (error as { message?: unknown } | null)?.message ?? error ?? message;
	}
	const text = String(body); // No object: a string, a number, a boolean or null.
	if (isHtml(answer)) {
		const title = isSuccess(answer) ? '' : pageTitle(text);
		return title ? `a page titled "${title}"` : 'a page of HTML';
	}
	const isQuotable = !isSuccess(answer) && !NOT_FOR_PEOPLE.test(text.slice(0, MAX_QUOTE_LENGTH));
	return isQuotable ? text : undefined;
}

/** The title of a page; empty if its end was not read, because half a key can't be redacted. */
function pageTitle(html: string): string {
	const tag = html.search(/<title[\s>]/i);
	const start = tag < 0 ? -1 : html.indexOf('>', tag);
	const end = start < 0 ? -1 : html.indexOf('<', start);
	return html.slice(start + 1, Math.max(end, start + 1)).trim();
}

function isHtml({ body, headers }: Answer): boolean {
	return (
		/html/i.test(String(headers['content-type'])) ||
		(typeof body === 'string' && /^\s*<(!doctype|html)/i.test(body))
	);
}

/** For `adviceOnEnd`. */
export function faultOf(answer: Answer, { id }: { id?: string }): Fault {
	const { statusCode } = answer;
	return { statusCode, isHtml: isHtml(answer), isOfEntry: id !== undefined };
}
