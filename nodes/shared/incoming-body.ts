import type { BinaryHelperFunctions } from 'n8n-workflow';

import { pause } from './rate-limit';

/** A Node.js stream as n8n's helpers give and take it; nodes cannot import its class. */
export type ByteStream = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;

/** The body of an answer while it comes in. Its bytes are read once, by `stream`. */
export interface IncomingBody {
	/**
	 * Its first bytes, which `stream` gives all the same.
	 *
	 * @param length How many are wanted; more may come, and fewer where the body is shorter.
	 */
	peek(length: number): Promise<Buffer>;
	/**
	 * A stream of the whole body that fails unless all of it has come.
	 *
	 * @param onPart Is shown each part of the body on its way, in order.
	 */
	stream(onPart?: (part: Buffer) => void): ByteStream;
	/** Bytes received so far, unpacked where they came packed. */
	readonly received: number;
	/** What broke the body, as the code of a connection's error; undefined while nothing has. */
	readonly brokenBy: string | undefined;
	/** Gives up what has not come yet. */
	close(): void;
}

/** How a body is guarded. */
export interface BodyGuards {
	/**
	 * How long, in ms, the body may stand still before it counts as broken; and how long, for each
	 * byte a further ms, it may be waited for in all.
	 */
	stallMs: number;
	/** Ends the waiting for it. */
	signal?: AbortSignal;
}

const LONGEST_CHECK_MS = 1_000;
/** Half of what V8 lets pile up outside its heap before it collects. */
const UNUSED_BYTES = 32 * 1024 * 1024;

/**
 * Guards the body of an answer: one that breaks off, stands still or comes at less than 1 kB a
 * second is broken. One that ends before its declared length breaks off already in Node.js; here its
 * bytes are not held against that length, as they may have come packed and declared so, which is not
 * to be seen any more. Reads no faster than the stream is read.
 *
 * @param source The body as the HTTP client gives it, not yet read.
 */
export function incomingBody(source: ByteStream, { stallMs, signal }: BodyGuards): IncomingBody {
	const end = new AbortController();
	const arriving = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
	let waiting: { since: number; giveUp: (reason: Error) => void } | undefined;
	let received = 0;
	let waitedMs = 0;
	let brokenBy: string | undefined;

	/** A stream that stands still may ignore being destroyed, so what waits for it must give up. */
	const next = async () =>
		await new Promise<IteratorResult<Buffer>>((resolve, giveUp) => {
			waiting = { since: performance.now(), giveUp };
			if (signal?.aborted) stop();
			else arriving.next().then(resolve, giveUp);
		});

	const stop = () => {
		brokenBy ??= 'ETIMEDOUT';
		waiting?.giveUp(new Error('The body stands still'));
	};
	signal?.addEventListener('abort', stop, { signal: end.signal });

	const watch = async () => {
		while (!end.signal.aborted) {
			await pause(Math.min(LONGEST_CHECK_MS, stallMs), end.signal).catch(() => undefined);
			const waitsMs = waiting ? performance.now() - waiting.since : 0;
			if (waiting && (waitsMs >= stallMs || waitedMs + waitsMs >= stallMs + received)) {
				stop();
			}
		}
	};

	async function* read(): AsyncGenerator<Buffer> {
		let failure: unknown;
		void watch();
		try {
			for (let part = await next(); !part.done; part = await next()) {
				if (waiting) waitedMs += performance.now() - waiting.since;
				waiting = undefined;
				received += part.value.length;
				yield part.value;
			}
		} catch (error) {
			failure = error;
		} finally {
			close();
		}
		if (failure !== undefined) {
			brokenBy ??= unpackingCode(failure) ?? 'ERR_BAD_RESPONSE';
			throw failure;
		}
	}

	function close(): void {
		end.abort();
		waiting = undefined;
		source.destroy();
	}

	const chunks = read();
	const peeked: Buffer[] = [];
	async function* all(onPart?: (part: Buffer) => void): AsyncGenerator<Buffer> {
		for (const part of peeked.splice(0)) {
			onPart?.(part);
			yield part;
		}
		for await (const part of chunks) {
			onPart?.(part);
			yield part;
		}
	}

	// Without a listener, a source that fails while nobody reads it would end the process.
	source.on('error', () => {});

	return {
		async peek(length) {
			let size = 0;
			while (size < length) {
				const { done, value } = await chunks.next();
				if (done) break;
				peeked.push(value);
				size += value.length;
			}
			return Buffer.concat(peeked);
		},
		stream(onPart) {
			collectSooner();
			const streams = source.constructor as unknown as {
				from(chunks: AsyncIterable<Buffer>): ByteStream;
			};
			return streams.from(all(onPart));
		},
		get received() {
			return received;
		},
		get brokenBy() {
			return brokenBy;
		},
		close,
	};
}

/** What unpacking a body failed of, as zlib calls it; brotli has codes of its own. */
function unpackingCode(error: unknown): string | undefined {
	const code = String((error as { code?: unknown }).code);
	if (code.startsWith('ERR__ERROR_FORMAT')) return 'Z_DATA_ERROR';
	return code.startsWith('Z_') ? code : undefined;
}

/**
 * V8 frees the buffers that bodies came in only when 64 MB more memory than after its last
 * collection have been asked for. Asking for some of it at once, which costs nothing as it is never
 * touched, makes it free those of the body before. Keeps the peak of many large bodies some 25 MiB
 * lower (`npm run bench`).
 */
function collectSooner(): void {
	new ArrayBuffer(UNUSED_BYTES);
}
