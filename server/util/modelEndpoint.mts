import { FormData, type Response } from 'undici';
import { askedWaitMs } from '../../lifelog/retryAfter.ts';
import { checkedEndpointUrl } from './endpointAddress.mts';
import {
	codeOf,
	headersOf,
	isRedirect,
	LateError,
	PATIENT,
	send,
	textOf,
	TooLargeError,
} from './http.mts';
import { keySource } from './keySource.mts';

/** An OpenAI-compatible model endpoint. */
export interface EndpointOptions {
	/** Base URL, such as http://127.0.0.1:11434/v1. */
	url: string;
	model: string;
	/** Bearer token; a private endpoint may need none. */
	key: string | undefined;
}

/** Purposes of endpoints, with the names of their options and paths. */
export const ENDPOINTS = {
	transcription: {
		name: 'Transcription',
		option: '--transcription-url',
		keyVariable: 'LIFELOG_TRANSCRIPTION_KEY',
		path: '/audio/transcriptions',
	},
	diarization: {
		name: 'Diarization',
		option: '--diarization-url',
		keyVariable: 'LIFELOG_DIARIZATION_KEY',
		path: '/audio/diarization',
	},
	chat: {
		name: 'Chat',
		option: '--chat-url',
		keyVariable: 'LIFELOG_CHAT_KEY',
		path: '/chat/completions',
	},
	embeddings: {
		name: 'Embeddings',
		option: '--embeddings-url',
		keyVariable: 'LIFELOG_EMBEDDINGS_KEY',
		path: '/embeddings',
	},
};

/** Whether an endpoint is usable, by its own list of models. */
export interface EndpointState {
	/** Purpose, such as `Transcription`. */
	name: string;
	/** Host, with a non-default port. */
	host: string;
	model: string;
	/** `unknown`: it answers, but has no list of models. */
	state: 'ready' | 'unknown' | 'problem';
	/** Completes a sentence about it. */
	text: string;
}

interface PostOptions {
	timeoutMs: number;
	/** Larger answers are aborted. */
	maxBytes: number;
	signal?: AbortSignal;
	/** Parses the answer; by default JSON. Throws a SyntaxError if it is invalid. */
	parse?: (text: string) => unknown;
}

/** Why an endpoint gave no usable answer. The message contains neither the request nor the key. */
export class EndpointError extends Error {
	/** Whether it rejected this particular request. */
	readonly isRefusal: boolean;
	/** Whether the request was too large. */
	readonly isTooLarge: boolean;
	/** Whether the endpoint itself reports a failure. */
	readonly isFailure: boolean;
	/** Whether it reported success, but with an unexpected answer. */
	readonly isUnusable: boolean;
	/** Delay that the endpoint asks for, in milliseconds. */
	readonly waitMs: number | undefined;

	constructor(message: string, more: Partial<EndpointError> = {}) {
		super(message);
		const { isRefusal = false, isTooLarge = false, isFailure = false } = more;
		const { isUnusable = false, waitMs } = more;
		this.isRefusal = isRefusal;
		this.isTooLarge = isTooLarge;
		this.isFailure = isFailure;
		this.isUnusable = isUnusable;
		this.waitMs = waitMs;
	}
}

const TOO_LARGE = 413;
const REFUSALS = [400, TOO_LARGE, 422];

/** Maximum time to list models, because the user waits for it. */
const LIST_TIMEOUT_MS = 3_000;
/** Commercial endpoints list hundreds of models. */
const MAX_LIST_BYTES = 4 * 2 ** 20;
const MAX_NAMED = 5;

/** An endpoint that accepts JSON or a form with a file, and answers with JSON. */
export class Endpoint {
	readonly #base: string;
	readonly #names: (typeof ENDPOINTS)[keyof typeof ENDPOINTS];
	readonly #headers: Record<string, string>;

	/** Throws an Error that says what to do for an invalid address or key. */
	constructor({ url, key }: Pick<EndpointOptions, 'url' | 'key'>, kind: keyof typeof ENDPOINTS) {
		this.#names = ENDPOINTS[kind];
		const { option, keyVariable } = this.#names;
		this.#base = addressOf(url, option, keyVariable);
		if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
			throw new Error(
				`The key in ${keySource(keyVariable)} must contain only ASCII letters, digits and signs, because it is sent in a header`,
			);
		}
		this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
	}

	/**
	 * Sends `body`; returns the parsed answer. A file in a form is streamed. Rejects with an
	 * EndpointError, also after `timeoutMs`.
	 */
	async post(
		body: object | FormData,
		{ timeoutMs, maxBytes, signal, parse = JSON.parse }: PostOptions,
	): Promise<unknown> {
		const until = performance.now() + timeoutMs;
		const isForm = body instanceof FormData;
		let response: Response;
		let answer: unknown;
		try {
			response = await send(`${this.#base}${this.#names.path}`, {
				method: 'POST',
				headers: isForm ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
				body: isForm ? body : JSON.stringify(body),
				...{ beginMs: timeoutMs, signal, dispatcher: PATIENT },
			});
			answer = response.ok
				? parse(await textOf(response, { maxBytes, totalMs: until - performance.now() }))
				: await response.body?.cancel();
		} catch (error) {
			throw new EndpointError(problemOf(error as Error), {
				isUnusable: error instanceof SyntaxError || error instanceof TooLargeError,
			});
		}
		if (response.ok) return answer;
		throw this.#errorOf(response);
	}

	/** Checks in the list of models whether a model exists: this is free and loads none. Never rejects. */
	async stateOf(model: string): Promise<EndpointState> {
		const about = { name: this.#names.name, host: new URL(this.#base).host, model };
		try {
			const listed = await this.#models();
			if (typeof listed === 'string') return { ...about, state: 'unknown', text: listed };
			if (isListed(model, listed)) return { ...about, state: 'ready', text: 'ready' };
			return { ...about, state: 'problem', text: `doesn't list this model. ${named(listed)}` };
		} catch (error) {
			const problem = error instanceof EndpointError ? error.message : problemOf(error as Error);
			return { ...about, state: 'problem', text: problem };
		}
	}

	/** The names of its models, or why they are unknown. */
	async #models(): Promise<string[] | string> {
		const response = await send(`${this.#base}/models`, {
			headers: this.#headers,
			beginMs: LIST_TIMEOUT_MS,
		});
		const noList = `has no list of models (${response.status}). If the address is right, its first use shows whether it works`;
		if (!response.ok) {
			await response.body?.cancel();
			if (HAS_NO_LIST.includes(response.status)) return noList;
			throw this.#errorOf(response);
		}
		const text = await textOf(response, { maxBytes: MAX_LIST_BYTES, totalMs: LIST_TIMEOUT_MS });
		return namesIn(text) ?? noList;
	}

	#errorOf(response: Response): EndpointError {
		if (isRedirect(response)) return new EndpointError('redirects to another address');
		const { status } = response;
		const { option, keyVariable } = this.#names;
		const isOfKey = [401, 403].includes(status);
		const toCheck = isOfKey ? `the key in ${keySource(keyVariable)}` : `${option} and the model`;
		const hint = isOfKey || status === 404 ? `. Check ${toCheck}` : '';
		return new EndpointError(`returned ${status}${hint}`, {
			isRefusal: REFUSALS.includes(status),
			isTooLarge: status === TOO_LARGE,
			isFailure: status >= 500,
			waitMs: askedWaitMs(undefined, headersOf(response)),
		});
	}
}

/** Status codes for an unknown path. */
const HAS_NO_LIST = [404, 405, 501];

/** The names in a list of models, in OpenAI's form or as a plain array; undefined if it isn't a list. */
function namesIn(text: string): string[] | undefined {
	let answer: unknown;
	try {
		answer = JSON.parse(text);
	} catch {
		return undefined;
	}
	const list = Array.isArray(answer) ? answer : (answer as { data?: unknown } | null)?.data;
	if (!Array.isArray(list)) return undefined;
	return list.flatMap((entry: { id?: unknown } | null) =>
		typeof entry?.id === 'string' ? [entry.id] : [],
	);
}

/** Whether a model is listed. Ollama accepts names without `:latest`, and Google without `models/`. */
const isListed = (model: string, listed: string[]) =>
	[model, `${model}:latest`, `models/${model}`].some((name) => listed.includes(name));

function named(listed: string[]): string {
	if (listed.length === 0) return 'Its list is empty. Download the model into it';
	const more = listed.length > MAX_NAMED ? ` and ${listed.length - MAX_NAMED} more` : '';
	return `It lists ${listed.slice(0, MAX_NAMED).join(', ')}${more}`;
}

function addressOf(url: string, option: string, keyVariable: string): string {
	try {
		return checkedEndpointUrl(url, keyVariable);
	} catch (error) {
		throw new Error(`${option} ${(error as Error).message}`);
	}
}

function problemOf(error: Error): string {
	if (error instanceof LateError) return "didn't respond in time";
	if (error instanceof TooLargeError) return `returned ${error.message}`;
	if (error.name === 'AbortError') return "didn't respond before the request was stopped";
	if (error.name === 'SyntaxError') return "didn't return JSON";
	const code = codeOf(error);
	return `cannot be reached${code ? ` (${code})` : ''}`;
}
