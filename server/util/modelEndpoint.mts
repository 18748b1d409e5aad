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

/** Where a model is asked, in the form of OpenAI's API. */
export interface EndpointOptions {
	/** The base address, such as http://127.0.0.1:11434/v1. */
	url: string;
	model: string;
	/** Sent as a bearer token; an endpoint of one's own may want none. */
	key: string | undefined;
}

/** How an endpoint is called where its options are given. */
interface EndpointNames {
	/** The option with its address, such as `--embeddings-url`. */
	option: string;
	/** The variable with its key. */
	keyVariable: string;
	/** What is asked for there, below the base address. */
	path: string;
}

interface PostOptions {
	timeoutMs: number;
	/** An answer that is larger is broken off. */
	maxBytes: number;
	signal?: AbortSignal;
	/** Reads the text of an answer, by default as JSON. Throws a SyntaxError for one that can't be read. */
	parse?: (text: string) => unknown;
}

/** Why an endpoint gave no usable answer; its message tells nothing of what was asked, nor the key. */
export class EndpointError extends Error {
	/** Whether it was this request that was refused. */
	readonly isRefusal: boolean;
	/** Whether the endpoint itself says that it has failed. */
	readonly isFailure: boolean;
	/** Whether it has answered as if all were well, but with something else than it was asked for. */
	readonly isUnusable: boolean;
	/** How long the endpoint wants to be left alone, in milliseconds. */
	readonly waitMs: number | undefined;

	constructor(message: string, more: Partial<EndpointError> = {}) {
		super(message);
		const { isRefusal = false, isFailure = false, isUnusable = false, waitMs } = more;
		this.isRefusal = isRefusal;
		this.isFailure = isFailure;
		this.isUnusable = isUnusable;
		this.waitMs = waitMs;
	}
}

const REFUSALS = [400, 413, 422];

/** An endpoint that takes JSON or a form with a file, and answers JSON. */
export class Endpoint {
	readonly #address: string;
	readonly #keyVariable: string;
	readonly #option: string;
	readonly #headers: Record<string, string>;

	/** Throws an Error that says what to do for an address or a key that cannot be used. */
	constructor(
		{ url, key }: Pick<EndpointOptions, 'url' | 'key'>,
		{ option, keyVariable, path }: EndpointNames,
	) {
		this.#address = `${addressOf(url, option, keyVariable)}${path}`;
		if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
			throw new Error(
				`The key in ${keySource(keyVariable)} must contain only ASCII letters, digits and signs, because it is sent in a header`,
			);
		}
		this.#keyVariable = keyVariable;
		this.#option = option;
		this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
	}

	/**
	 * Returns what the endpoint answers to `body`, parsed. A file in a form is read as it is sent. Rejects
	 * with an EndpointError, also when there is no answer within `timeoutMs`.
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
			response = await send(this.#address, {
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
		if (isRedirect(response)) throw new EndpointError('redirects to another address');
		const { status } = response;
		const isOfKey = [401, 403].includes(status);
		const toCheck = isOfKey
			? `the key in ${keySource(this.#keyVariable)}`
			: `${this.#option} and the model`;
		const hint = isOfKey || status === 404 ? `. Check ${toCheck}` : '';
		throw new EndpointError(`returned ${status}${hint}`, {
			isRefusal: REFUSALS.includes(response.status),
			isFailure: response.status >= 500,
			waitMs: askedWaitMs(undefined, headersOf(response)),
		});
	}
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
