import { Ajv } from 'ajv';

/** Where texts are turned into vectors. */
export interface EndpointOptions {
	/** Of the OpenAI form, without `/embeddings`. */
	url: string;
	model: string;
	/** Sent as a bearer token; an endpoint of one's own may want none. */
	key: string | undefined;
}

/** Why there are no vectors; its message tells nothing of what was asked, nor the key. */
export class EmbeddingsError extends Error {
	/** Whether it was these texts that were refused. */
	readonly isRefusal: boolean;
	/** Whether the endpoint itself says that it has failed. */
	readonly isFailure: boolean;
	/** How long the endpoint wants to be left alone, in milliseconds. */
	readonly waitMs: number | undefined;

	constructor(message: string, more: Partial<EmbeddingsError> = {}) {
		super(message);
		const { isRefusal = false, isFailure = false, waitMs } = more;
		this.isRefusal = isRefusal;
		this.isFailure = isFailure;
		this.waitMs = waitMs;
	}
}

interface Answer {
	data: { index?: number; embedding: number[] }[];
}
const isAnswer = new Ajv().compile<Answer>({
	type: 'object',
	required: ['data'],
	properties: {
		data: {
			type: 'array',
			items: {
				type: 'object',
				required: ['embedding'],
				properties: {
					index: { type: 'integer' },
					embedding: { type: 'array', minItems: 1, items: { type: 'number' } },
				},
			},
		},
	},
});

const refusals = [400, 413, 422];
/** Bytes; some twenty times what the vectors of a batch take. */
const largestAnswer = 64 * 2 ** 20;

/** An embeddings endpoint of the OpenAI form. */
export class EmbeddingsEndpoint {
	readonly model: string;
	readonly #address: string;
	readonly #headers: Record<string, string>;

	/** Throws an Error that says what to do for an address or a key that cannot be used. */
	constructor({ url, model, key }: EndpointOptions) {
		this.model = model;
		this.#address = `${checkedUrl(url)}/embeddings`;
		if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
			throw new Error(
				'LIFELOG_EMBEDDINGS_KEY must be letters, digits and signs of ASCII: a header cannot carry others',
			);
		}
		this.#headers = {
			'content-type': 'application/json',
			...(key !== undefined && { authorization: `Bearer ${key}` }),
		};
	}

	/**
	 * Returns the vector of each text, all of the same length. Rejects with an EmbeddingsError, also
	 * when there is no answer within `timeoutMs`.
	 */
	async embed(texts: string[], timeoutMs: number, signal?: AbortSignal): Promise<Float32Array[]> {
		const timeout = AbortSignal.timeout(timeoutMs);
		let response: Response;
		let body: unknown;
		try {
			response = await fetch(this.#address, {
				method: 'POST',
				headers: this.#headers,
				body: JSON.stringify({ model: this.model, input: texts }),
				// Neither texts nor the key go anywhere else.
				redirect: 'error',
				signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
			});
			body = response.ok ? JSON.parse(await textOf(response)) : await response.body?.cancel();
		} catch (error) {
			if (error instanceof EmbeddingsError) throw error;
			throw new EmbeddingsError(problemOf(error as Error));
		}
		if (!response.ok) {
			throw new EmbeddingsError(`answers ${response.status}`, {
				isRefusal: refusals.includes(response.status),
				isFailure: response.status >= 500,
				waitMs: waitOf(response.headers.get('retry-after')),
			});
		}
		if (!isAnswer(body) || body.data.length !== texts.length) {
			throw new EmbeddingsError('answers something else than one vector for each text');
		}
		const vectors = body.data
			.map((each, nth) => ({ index: each.index ?? nth, embedding: each.embedding }))
			.sort((a, b) => a.index - b.index)
			.map(({ embedding }) => Float32Array.from(embedding));
		if (vectors.some(({ length }) => length !== vectors[0].length)) {
			throw new EmbeddingsError('answers vectors of several lengths');
		}
		if (vectors.some((vector) => !vector.every(Number.isFinite) || vector.every((x) => x === 0))) {
			throw new EmbeddingsError('answers vectors that are none');
		}
		return vectors;
	}
}

/** The text of an answer. Rejects with an EmbeddingsError for one that goes on and on. */
async function textOf(response: Response): Promise<string> {
	const pieces: Uint8Array[] = [];
	let bytes = 0;
	const reader = response.body?.getReader();
	for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
		bytes += next.value.length;
		if (bytes > largestAnswer) {
			await reader?.cancel();
			throw new EmbeddingsError(`answers more than ${largestAnswer / 2 ** 20} MiB`);
		}
		pieces.push(next.value);
	}
	return new TextDecoder().decode(Buffer.concat(pieces));
}

const privateName =
	/^(localhost|[^.:]+|.+\.(local|internal|lan|home\.arpa|localhost)|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[(::1|f[cd][\da-f]{2}:.*|fe[89ab][\da-f]:.*)\])$/;

function checkedUrl(text: string): string {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search) {
		throw new Error(
			'--embeddings-url must be an address like http://127.0.0.1:11434/v1, without a name, a password or a query; the key stands in LIFELOG_EMBEDDINGS_KEY',
		);
	}
	if (url.protocol === 'http:' && !privateName.test(url.hostname)) {
		throw new Error(
			'--embeddings-url must begin with https beyond this machine and its private network: what was said is sent there',
		);
	}
	return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function problemOf({ name, message, cause }: Error): string {
	if (name === 'TimeoutError') return 'does not answer in time';
	if (name === 'AbortError') return 'was not waited for';
	if (name === 'SyntaxError') return 'answers no JSON';
	const { code, message: reason } = (cause ?? {}) as { code?: string; message?: string };
	if (/redirect/.test(`${message} ${reason}`)) return 'leads to another address';
	return `cannot be reached${code ? ` (${code})` : ''}`;
}

function waitOf(retryAfter: string | null): number | undefined {
	return retryAfter !== null && /^\d{1,6}$/.test(retryAfter)
		? Number(retryAfter) * 1000
		: undefined;
}
