// How errors are made: the API key redacted, and with what code decides by.
import type { IDataObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { trimmedText } from '../../../lifelog/text.ts';
import type { Api, ApiContext } from '../auth/connection';
import { sanitizeForDisplay } from './sanitize';

/** What a request is about, in the words of an error message: `{ noun: 'lifelog', id: 'abc' }`. */
export interface Resource {
	noun: string;
	id?: string;
	/** What isn't known when a request fails: "The chat may or may not have been deleted." */
	doubt?: string;
	/** Whether the request creates or changes it. lifelog-server refuses that without --allow-changes. */
	isChange?: boolean;
}

type NodeError = NodeApiError | NodeOperationError;

/** What code does another thing for than for other errors. */
export type ErrorKind = 'notFound' | 'tooLarge' | 'tooSlow';

type ErrorOptions = NonNullable<ConstructorParameters<typeof NodeApiError>[2]>;
export type Failure = NonNullable<ErrorOptions['failure']>;

interface ApiErrorOptions extends Pick<ErrorOptions, 'httpCode'> {
	failure: Failure;
	kind?: ErrorKind;
	/** What was requested. Without it, the message and the description don't say so. */
	about?: Resource;
	/** How the message ends, such as {@link inBrackets} with what was requested. */
	end?: string;
	/** Further fields of the error's `context`. */
	details?: IDataObject;
}

/** In UTF-16 units. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_DESCRIPTION_LENGTH = 4_000;
const AFTER_POLL = 'Nothing is lost: the next successful poll reports what this one missed.';
const AFTER_DELIVERY = 'Nothing is lost: lifelog-server sends the event again.';

/**
 * An error of the service, the API key redacted.
 *
 * @param problem What happened.
 * @param description Sentences: what the service says, and what to do.
 */
export function apiError(
	api: Api,
	problem: string,
	description: Array<string | false | undefined>,
	{ kind, about, end = '', details, ...options }: ApiErrorOptions,
): NodeApiError {
	const { apiKey, context } = api;
	const message = sanitizeForDisplay(apiKey, problem + end, MAX_MESSAGE_LENGTH);
	const sentences = joinSentences([...description, nothingLost(api)]);
	const error = new NodeApiError(
		context.getNode(),
		{},
		{
			...options,
			message,
			description: sanitizeForDisplay(apiKey, sentences, MAX_DESCRIPTION_LENGTH),
		},
	);
	Object.assign(error.context, details, {
		...(kind && { kind }),
		...(about && { about: sanitizeForDisplay(apiKey, nameOfResource(about), MAX_MESSAGE_LENGTH) }),
		...(end && { problem: sanitizeForDisplay(apiKey, problem, MAX_MESSAGE_LENGTH) }),
	});
	return asWritten(error, message);
}

/** The error of a bad parameter: what is wrong, naming the parameter, and what to do. */
export function inputError(
	context: ApiContext,
	message: string,
	description?: string,
): NodeOperationError {
	const text = sanitizeForDisplay('', message, MAX_MESSAGE_LENGTH);
	const error = new NodeOperationError(context.getNode(), text, { description });
	return asWritten(error, text);
}

/** The error of a canceled run. n8n knows it by the word "canceled". */
export function canceledError(context: ApiContext): NodeOperationError {
	return new NodeOperationError(context.getNode(), 'The execution was canceled');
}

/** The error of a file to send that n8n can't read. */
export function unreadableFileError(context: ApiContext, error: unknown): NodeOperationError {
	const message = error instanceof Error ? error.message : trimmedText(error);
	return inputError(
		context,
		`The file can't be read from n8n's storage: ${message}`,
		'Run the node that the file comes from again, because n8n deletes the files of old executions.',
	);
}

/** Any error as one of n8n's, naming its input item if there is one. */
export function toNodeError(context: ApiContext, error: unknown, itemIndex?: number): NodeError {
	const known = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = known ? error : new NodeOperationError(context.getNode(), error as Error);
	if (itemIndex !== undefined) failure.context.itemIndex = itemIndex;
	return failure;
}

/** An error with the advice in its message: n8n's agent sees nothing else of a tool that fails. */
export function forModel<T extends NodeError>(failure: T): T {
	const { message, description } = failure;
	if (!description) return failure;
	return asWritten(failure, `${message}${message.endsWith('.') ? '' : '.'} ${description}`);
}

export function kindOf(error: unknown): ErrorKind | undefined {
	return error instanceof NodeApiError ? (error.context.kind as ErrorKind) : undefined;
}

/**
 * What is known of an error beside its message.
 *
 * @returns `code` is the HTTP status of the answer, or the code of the connection's error.
 */
export function detailsOf(error: NodeError): IDataObject {
	const { connectionCode, retryAfterSeconds } = error.context;
	const code = 'httpCode' in error && error.httpCode ? error.httpCode : connectionCode;
	return {
		...(typeof code === 'string' && { code }),
		...(error.description && { description: error.description }),
		...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
	};
}

/** The same error, which now says what was requested. */
export function withResource<T extends NodeError>(error: T, { noun }: Resource): T {
	if (error.context.about === undefined) {
		error.description = joinSentences([error.description ?? '', `Requested: ${noun}`]);
		error.context.about = noun;
	}
	return error;
}

/** The message of an error without its resource, for a place that names it already. */
export function problemOf({ context, message }: NodeError): string {
	return typeof context.problem === 'string' ? context.problem : message;
}

/** A list by its query, so that errors and hints name the day, the range or the words. */
export function listResource(name: string, query: IDataObject): Resource {
	const { isStarred } = query;
	const { search, date, start, end, timezone } = query as Record<string, string | undefined>;
	const words = [
		isStarred !== undefined && (isStarred ? 'starred' : 'unstarred'),
		name,
		search && `found for "${search}"`,
		date && `on ${date}`,
		start && `from ${start}`,
		end && `to ${end}`,
		(date || start || end) && `in ${timezone}`,
	];
	return { noun: words.filter(Boolean).join(' ') };
}

/** `lifelog "abc"`, or only the noun. */
export function nameOfResource({ noun, id }: Resource): string {
	return id === undefined ? noun : `${noun} "${id}"`;
}

/** What was requested, as the end of a message: ` (lifelog "abc")`. */
export function inBrackets(about: Resource): { about: Resource; end: string } {
	return { about, end: ` (${nameOfResource(about)})` };
}

/** What was requested, as the end of a message: `: lifelog "abc"`. */
export function afterColon(about: Resource): { about: Resource; end: string } {
	return { about, end: `: ${nameOfResource(about)}` };
}

/** What makes up for a trigger that failed; undefined elsewhere and in a test in the editor. */
function nothingLost({ context }: Api): string | undefined {
	if (context.getMode?.() === 'manual') return undefined;
	if ('__emit' in context) return AFTER_POLL;
	return 'getRequestObject' in context ? AFTER_DELIVERY : undefined;
}

function joinSentences(sentences: Array<string | false | undefined>): string {
	return sentences
		.filter((sentence) => typeof sentence === 'string' && sentence !== '')
		.map((sentence) => (/[.!?…]$/.test(String(sentence)) ? sentence : `${sentence}.`))
		.join(' ');
}

/** n8n replaces messages in which it finds the name of a system error: EEXIST in "preexisting". */
function asWritten<T extends NodeError>(error: T, message: string): T {
	error.message = message;
	error.messages = [];
	return error;
}
