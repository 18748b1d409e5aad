// Reads inside an archive's folder, and never outside it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, opendir, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CannotCheck } from './findings.mts';

/** Far more than any JSON of a day. Larger files aren't read into memory. */
const MAX_JSON_BYTES = 256 * 1024 * 1024;

/** Why a file is unreadable. Completes a sentence. */
export interface Unreadable {
	problem: string;
}

/** The problem of a missing file. */
export const IS_MISSING = 'is not there';

/** A file without its content. */
export interface Sum {
	bytes: number;
	sha256: string;
	/** The first four bytes. */
	head: string;
}

/** The folder of an archive. Paths in it are relative, with `/`. */
export interface Folder {
	/** The path as given. */
	root: string;
	/** Sorted names in a folder, without hidden ones; empty if it doesn't exist. */
	names: (path: string) => Promise<string[]>;
	/** All files below a folder except hidden ones. Links are returned but not followed. */
	files: (path: string) => AsyncGenerator<string>;
	/** Reads a whole file. */
	read: (path: string) => Promise<{ content: Buffer } | Unreadable>;
	/** Size and checksum of a file of any size. */
	sum: (path: string) => Promise<Sum | Unreadable>;
}

/** @throws CannotCheck if the folder doesn't exist or can't be an archive. */
export async function openFolder(root: string): Promise<Folder> {
	const real = await realRoot(root);

	/** The real location of a path in the archive. */
	async function locate(path: string): Promise<{ real: string; bytes: number } | Unreadable> {
		const parts = path.split('/');
		if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\\'))) {
			return { problem: "isn't a path inside the archive" };
		}
		const target = await realpath(join(real, ...parts));
		if (!target.startsWith(real.endsWith(sep) ? real : real + sep)) {
			return { problem: 'is a link that leads out of the archive' };
		}
		const found = await stat(target);
		if (!found.isFile()) return { problem: "isn't a file" };
		return { real: target, bytes: found.size };
	}

	async function attempt<T extends object>(action: () => Promise<T>): Promise<T | Unreadable> {
		try {
			return await action();
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
			return { problem: isMissing ? IS_MISSING : `cannot be read (${code})` };
		}
	}

	async function* entries(path: string) {
		try {
			// A link to a folder elsewhere doesn't count as a folder of the archive.
			const target = await realpath(join(real, path));
			if (target !== join(real, path)) return;
			for await (const entry of await opendir(target)) {
				if (!entry.name.startsWith('.')) yield entry;
			}
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			if (code === 'ENOENT' || code === 'ENOTDIR') return;
			throw new CannotCheck(`"${join(root, path)}" cannot be read: ${message}`);
		}
	}

	async function* files(path: string): AsyncGenerator<string> {
		for await (const entry of entries(path)) {
			if (entry.isDirectory()) yield* files(`${path}/${entry.name}`);
			else yield `${path}/${entry.name}`;
		}
	}

	return {
		root,
		files,
		names: async (path) => {
			const names: string[] = [];
			for await (const { name } of entries(path)) names.push(name);
			return names.sort();
		},
		read: async (path) =>
			await attempt(async () => {
				const found = await locate(path);
				if ('problem' in found) return found;
				if (found.bytes > MAX_JSON_BYTES) {
					return { problem: `has ${found.bytes} bytes, too many to be read` };
				}
				return { content: await readFile(found.real) };
			}),
		sum: async (path) =>
			await attempt(async () => {
				const found = await locate(path);
				if ('problem' in found) return found;
				return await sumOf(found.real);
			}),
	};
}

async function realRoot(root: string): Promise<string> {
	const shown = resolve(root);
	let real: string;
	try {
		real = await realpath(root);
		if (!(await stat(real)).isDirectory()) throw new CannotCheck(`"${shown}" isn't a folder.`);
		if ((await lstat(join(real, 'days'))).isDirectory()) return real;
	} catch (error) {
		if (error instanceof CannotCheck) throw error;
		const { code, path = '' } = error as NodeJS.ErrnoException;
		if (code !== 'ENOENT') throw new CannotCheck(`"${shown}" cannot be read (${code}).`);
		if (!path.endsWith('days')) throw new CannotCheck(`There is no folder "${shown}".`);
	}
	throw new CannotCheck(
		`"${shown}" isn't an archive: it has no folder days/, which says what belongs to it. To convert the app's export: npm run server -- import "${shown}" <folder of the archive>`,
	);
}

async function sumOf(path: string): Promise<Sum> {
	const hash = createHash('sha256');
	let bytes = 0;
	let head = '';
	await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
		for await (const chunk of chunks) {
			hash.update(chunk);
			if (head.length < 4) head = (head + chunk.toString('latin1', 0, 4)).slice(0, 4);
			bytes += chunk.length;
		}
	});
	return { bytes, sha256: hash.digest('hex'), head };
}
