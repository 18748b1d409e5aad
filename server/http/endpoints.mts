import { Endpoint, ENDPOINTS, type EndpointOptions } from '../util/modelEndpoint.mts';
import type { EndpointState } from '../util/modelEndpoint.mts';
import type { NeededOptions } from './prepare.mts';

/** The model endpoints of a server, for status checks. */
export class Endpoints {
	readonly #ask: (() => Promise<EndpointState>)[] = [];
	#asking: Promise<EndpointState[]> | undefined;

	/** Throws an Error that says what to do for an invalid address or key. */
	constructor({ transcription, chat, embeddings }: NeededOptions) {
		const { diarization } = transcription ?? {};
		const given = { transcription, diarization, chat, embeddings };
		for (const kind of Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[]) {
			const options: EndpointOptions | undefined = given[kind];
			if (!options) continue;
			const endpoint = new Endpoint(options, kind);
			this.#ask.push(() => endpoint.stateOf(options.model));
		}
	}

	/** Checks all endpoints at once. Concurrent calls share the result. Never rejects. */
	states(): Promise<EndpointState[]> {
		this.#asking ??= Promise.all(this.#ask.map((ask) => ask())).finally(
			() => (this.#asking = undefined),
		);
		return this.#asking;
	}
}
