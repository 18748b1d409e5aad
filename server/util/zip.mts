import { once } from 'node:events';
import { type PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';

export interface ZippedFile {
	/** With `/`. */
	path: string;
	/** Only text is compressed: audio already is. */
	content: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
	/** Last modification, epoch ms. */
	changedMs: number;
}

/** A zip of files, each read in turn. Fails with the error of a file. */
export function zipOf(files: AsyncIterable<ZippedFile> | Iterable<ZippedFile>): PassThrough {
	const zip = new ZipFile();
	const out = zip.outputStream as PassThrough;
	const ended = new AbortController();
	out.once('close', () => ended.abort());
	const fill = async () => {
		for await (const { path, content, changedMs } of files) {
			const isText = typeof content === 'string';
			const pieces = isText ? [Buffer.from(content)] : content;
			const stream = Readable.from(pieces, { objectMode: false });
			stream.once('error', (error) => out.destroy(error));
			const read = once(stream, 'close', { signal: ended.signal });
			zip.addReadStreamLazy(path, { mtime: new Date(changedMs), compress: isText }, (take) =>
				take(null, stream),
			);
			await read.finally(() => stream.destroy());
		}
		zip.end();
	};
	fill().catch((error: unknown) =>
		out.destroy(ended.signal.aborted ? undefined : (error as Error)),
	);
	return out;
}
