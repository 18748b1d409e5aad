import type { BinaryHelperFunctions } from 'n8n-workflow';

import { pause } from './concurrency';
import { brokenBodyCode } from './errors';

/** A Node.js stream as n8n's helpers give and take it; nodes can't import its class. */
export type ByteStream = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;
type StreamClass = { from: (parts: AsyncIterable<Buffer>) => ByteStream };
export type IncomingBody = ReturnType<typeof incomingBody>;

/**
 * The body of an answer while it arrives, no faster than it is read. It fails if it breaks off,
 * stalls or comes at less than 1 kB a second. Node.js compares what arrives with the declared length.
 *
 * @param stallMs How long it may stall; and, with 1 ms more for each byte, take in all.
 */
export function incomingBody(source: ByteStream, stallMs: number, signal: AbortSignal) {
	const end = new AbortController();
	const peeked: Buffer[] = [];
	const parts = read();
	let waitsSince = Infinity;
	let waitedMs = 0;
	let giveUp: (reason: Error) => void = () => {};
	const body = {
		/** Bytes so far, unpacked. */
		received: 0,
		/** What broke it, as the code of a connection's error. */
		brokenBy: undefined as string | undefined,
		/** Is shown each part from now on. */
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
		/** Gives up what has not arrived yet. */
		close(): void {
			end.abort();
			source.destroy();
		},
	};
	// Without a listener, a source that fails while nobody reads it would end the process.
	source.on('error', () => {});
	signal.addEventListener('abort', stop, { signal: end.signal });
	return body;

	async function* all(): AsyncGenerator<Buffer> {
		yield* peeked.splice(0);
		yield* parts;
	}

	async function* read(): AsyncGenerator<Buffer> {
		void watch();
		const arriving = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
		// n8n's stream may ignore being destroyed, so what waits for it must give up.
		const next = async () =>
			await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
				[waitsSince, giveUp] = [performance.now(), reject];
				if (signal.aborted) stop();
				else
					arriving.next().then(resolve, (error: Error) => {
						body.brokenBy ??= brokenBodyCode(error);
						reject(error);
					});
			});
		try {
			for (let part = await next(); !part.done; part = await next()) {
				waitedMs += performance.now() - waitsSince;
				waitsSince = Infinity;
				body.received += part.value.length;
				body.onPart(part.value);
				yield part.value;
			}
		} finally {
			body.close();
		}
	}

	async function watch(): Promise<void> {
		while (!end.signal.aborted) {
			await pause(Math.min(1_000, stallMs), end.signal).catch(() => {});
			const waitsMs = performance.now() - waitsSince;
			if (waitsMs >= stallMs || waitedMs + waitsMs >= stallMs + body.received) stop();
		}
	}

	function stop(): void {
		body.brokenBy ??= 'ETIMEDOUT';
		giveUp(new Error('The body stalls'));
	}
}
