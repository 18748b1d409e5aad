import type { BinaryHelperFunctions } from 'n8n-workflow';

import { unlessAborted, watch } from './concurrency';
import { brokenBodyCode } from '../errors/connection';

/** A Node.js stream; nodes can't import its class. */
export type ByteStream = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;
export type StreamClass = { from: (parts: AsyncIterable<Buffer>) => ByteStream };
export type IncomingBody = ReturnType<typeof incomingBody>;

/**
 * The body of an answer while it arrives, no faster than it is read. It fails if it breaks off,
 * stalls or comes at less than 1 kB a second. Node.js compares what arrives with the declared length.
 *
 * @param stallMs How long it may stall. Each byte restores 1 ms of the wait before it.
 */
export function incomingBody(source: ByteStream, stallMs: number, signal: AbortSignal) {
	const end = new AbortController();
	const peeked: Buffer[] = [];
	const parts = read();
	let deadline = Infinity;
	const body = {
		received: 0, // bytes, unpacked
		brokenBy: undefined as string | undefined, // the code of a connection's error
		onPart: (() => {}) as (part: Buffer) => void,
		/** Its first bytes, at least `length` if it has them. `stream` repeats them. */
		async peek(length: number): Promise<Buffer> {
			for (let size = 0; size < length; size += peeked.at(-1)!.length) {
				const { done, value } = await parts.next();
				if (done) break;
				peeked.push(value);
			}
			return Buffer.concat(peeked);
		},
		/** A stream of the whole body, which fails unless all of it arrives. */
		stream: () => (source.constructor as unknown as StreamClass).from(all()),
		/** Must be called in the end. Gives up what hasn't arrived; `code` says what broke it. */
		close(code?: string): void {
			if (!end.signal.aborted) body.brokenBy = code;
			end.abort(new Error('The body was closed before its end'));
			source.destroy();
		},
	};
	const stop = () => body.close('ETIMEDOUT');
	// The HTTP client breaks the body off itself when the signal ends the request.
	const fail = (error: unknown) => (signal.aborted ? stop() : body.close(brokenBodyCode(error)));
	source.on('error', fail);
	signal.addEventListener('abort', stop, { signal: end.signal });
	if (signal.aborted) stop();
	return body;

	async function* all(): AsyncGenerator<Buffer> {
		yield* peeked.splice(0);
		yield* parts;
	}

	async function* read(): AsyncGenerator<Buffer> {
		void watch(end.signal, stallMs, () => performance.now() >= deadline && stop());
		const arriving = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
		for (let leftMs = stallMs; ; leftMs = Math.min(leftMs, stallMs)) {
			deadline = performance.now() + leftMs;
			// n8n's stream may ignore being destroyed.
			const part = await unlessAborted(arriving.next().catch(fail), end.signal);
			leftMs = deadline - performance.now();
			deadline = Infinity;
			if (!part || part.done) return;
			leftMs += part.value.length;
			body.received += part.value.length;
			body.onPart(part.value);
			yield part.value;
		}
	}
}
