import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError, Folder } from '../archive/folder.mts';
import { archived, ExportError, others, type Export, type ExportFile } from './export.mts';
import type { Refused } from './export.mts';

/** An unpacked export. Its folder may be nested in another one. */
export async function listFolder(root: string): Promise<Export> {
	return { list: () => listTops(root, true), close: () => {} };
}

async function* listTops(root: string, mayBeAround: boolean): AsyncGenerator<ExportFile | Refused> {
	const folder = await Folder.open(root);
	for await (const entry of await opendir(root)) {
		const isTop = [...archived, ...others].includes(entry.name);
		if (isTop && entry.isDirectory()) yield* listBelow(folder, entry.name);
		else if (isTop) yield { path: entry.name, problem: NOT_PLAIN };
		else if (mayBeAround && entry.isDirectory()) yield* listTops(join(root, entry.name), false);
	}
}

async function* listBelow(folder: Folder, path: string): AsyncGenerator<ExportFile | Refused> {
	for await (const entry of await opendir(join(folder.root, path))) {
		const inside = `${path}/${entry.name}`;
		if (entry.isDirectory()) yield* listBelow(folder, inside);
		else if (entry.isFile()) yield new FileInFolder(folder, inside, await sizeOf(folder, inside));
		else yield { path: inside, problem: NOT_PLAIN };
	}
}

const NOT_PLAIN = "is a link, or isn't a plain file";

const sizeOf = async (folder: Folder, path: string) => (await lstat(join(folder.root, path))).size;

class FileInFolder implements ExportFile {
	readonly path: string;
	readonly bytes: number;
	readonly #folder: Folder;

	constructor(folder: Folder, path: string, bytes: number) {
		this.#folder = folder;
		this.path = path;
		this.bytes = bytes;
	}

	async *read(): AsyncGenerator<Buffer> {
		try {
			const file = await this.#folder.open(this.path);
			yield* file.createReadStream();
		} catch (error) {
			if (error instanceof FileError) throw new ExportError(error.message);
			throw new ExportError(`cannot be read: ${(error as Error).message}`);
		}
	}
}
