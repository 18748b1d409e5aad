import { ajv } from '../util/schema.mts';
import { Endpoint, EndpointError, type EndpointOptions } from '../util/modelEndpoint.mts';

interface Answer {
	data: { index?: number; embedding: number[] }[];
}
const isAnswer = ajv.compile<Answer>({
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

/** Bytes; about twenty times the vectors of a batch. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

/** An OpenAI-compatible embeddings endpoint. */
export class EmbeddingsEndpoint {
	readonly model: string;
	readonly #endpoint: Endpoint;

	/** Throws an Error that says what to do for an invalid address or key. */
	constructor(options: EndpointOptions) {
		this.model = options.model;
		this.#endpoint = new Endpoint(options, 'embeddings');
	}

	/**
	 * Returns the vectors of texts, all of the same length. Rejects with an EndpointError, also after
	 * `timeoutMs`.
	 */
	async embed(texts: string[], timeoutMs: number, signal?: AbortSignal): Promise<Float32Array[]> {
		const body = await this.#endpoint.post(
			{ model: this.model, input: texts },
			{ timeoutMs, maxBytes: MAX_ANSWER_BYTES, signal },
		);
		if (!isAnswer(body) || body.data.length !== texts.length) {
			throw new EndpointError("didn't return one vector for each text");
		}
		const vectors = body.data
			.map((each, nth) => ({ index: each.index ?? nth, embedding: each.embedding }))
			.sort((a, b) => a.index - b.index)
			.map(({ embedding }) => Float32Array.from(embedding));
		if (vectors.some(({ length }) => length !== vectors[0].length)) {
			throw new EndpointError('returned vectors of different lengths');
		}
		if (vectors.some((vector) => !vector.every(Number.isFinite) || vector.every((x) => x === 0))) {
			throw new EndpointError('returned invalid vectors');
		}
		return vectors;
	}
}
