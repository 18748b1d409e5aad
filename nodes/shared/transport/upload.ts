import type { ByteStream, StreamClass } from './body';
import { watch } from './concurrency';

/** A file that is sent, and what is sent around it. */
export interface Upload {
	headers: Record<string, string>;
	before: Buffer;
	after: Buffer;
	/** The size of the file. */
	bytes: number;
	/** Opens the file, anew for each attempt, because a stream can't be sent twice. */
	open: () => Promise<Buffer | ByteStream>;
}

/**
 * The body of an upload while it is sent. `stalled` fires if the service takes nothing more of it, or
 * doesn't answer in the end: the HTTP client's own time-out would end every upload that takes long.
 *
 * @param source The file as it was opened.
 * @param stallMs How long it may stall. The answer may take twice as long, and 1 ms for each 10 kB,
 *   because the service first writes the file to its disk.
 */
export function outgoingBody(
	source: Buffer | ByteStream,
	{ before, after, bytes }: Upload,
	stallMs: number,
) {
	const end = new AbortController();
	const stall = new AbortController();
	let deadline = performance.now() + stallMs;
	const body = {
		content: undefined as unknown as Buffer | ByteStream,
		stalled: stall.signal,
		brokenBy: undefined as Error | undefined, // the error of the file
		/** Must be called in the end. */
		close(): void {
			end.abort();
			for (const each of [body.content, source]) if (!Buffer.isBuffer(each)) each.destroy();
		},
	};
	if (Buffer.isBuffer(source)) {
		body.content = Buffer.concat([before, source, after]);
		// It is taken at once, so each byte has 1 ms.
		deadline += stallMs + source.length;
	} else {
		source.on('error', fail);
		body.content = (source.constructor as unknown as StreamClass).from(read(source));
	}
	void watch(end.signal, stallMs, () => performance.now() >= deadline && stall.abort('stalled'));
	return body;

	function fail(error: Error): void {
		body.brokenBy ??= error;
	}

	async function* read(file: ByteStream): AsyncGenerator<Buffer> {
		yield before;
		const parts = file[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
		let sent = 0;
		for (;;) {
			deadline = performance.now() + stallMs;
			const part = await parts.next().catch((error: unknown) => {
				fail(error as Error);
				throw error;
			});
			if (part.done) break;
			sent += part.value.length;
			yield part.value;
		}
		if (sent !== bytes) {
			fail(new Error(`It has ${sent} bytes instead of ${bytes}`));
			throw body.brokenBy!;
		}
		deadline = performance.now() + 2 * stallMs + bytes / 10_000;
		yield after;
	}
}
