import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, opendir, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { UnavailableError } from '../util/errors.mts';
import {
	dayOfName,
	isOfLaterVersion,
	parseDayManifest,
	PEOPLE,
	REPLACEMENTS,
	type DayManifest,
	type NamedFile,
} from './layout.mts';

/** The largest JSON or Markdown file that is read, in bytes. A day of somebody who never stops talking has some megabytes. */
export const maxBytes = 64 * 1024 * 1024;

/** Written anew by this version, the day would lose what only the later one knows. */
const LATER_VERSION = 'was written by a later version of lifelog-server: update this one';

/** Why a file counts for nothing; the message says it without a word of what is in it. */
export class FileError extends Error {
	/** Whether the same file may be read another time, as after an error of the disk. */
	readonly isPassing: boolean;

	constructor(message: string, { isPassing = false } = {}) {
		super(message);
		this.isPassing = isPassing;
	}
}

/** The folder is gone, or has no days although there were some, such as a mount point without its drive. */
export class MissingFolderError extends UnavailableError {
	constructor() {
		super("The archive's folder is missing: connect its drive, then try again", 30);
	}
}

/** Makes nothing of a file that counts for nothing; throws every other error again. */
export function ignoreFileError(error: Error): undefined {
	if (!(error instanceof FileError)) throw error;
}

/** The folder of an archive, out of which nothing is read. */
export class Folder {
	/** Its real path. */
	readonly root: string;

	private constructor(root: string) {
		this.root = root;
	}

	/** Rejects when there is no such folder. */
	static async open(path: string): Promise<Folder> {
		const root = await realpath(path);
		if (!(await lstat(root)).isDirectory()) throw new FileError("isn't a folder");
		return new Folder(root);
	}

	/** Whether the folder is there. Never rejects. */
	async isThere(): Promise<boolean> {
		return (await this.fingerprint('')) !== 'none';
	}

	/** Whether there is any day. Rejects when `days/` can't be read. */
	async hasDays(): Promise<boolean> {
		try {
			for await (const { name } of await opendir(join(this.root, 'days'))) {
				if (dayOfName(name) !== undefined) return true;
			}
		} catch (error) {
			if (!isMissing(error)) throw error;
		}
		return false;
	}

	/** The names in `days/`; none if there is no such folder. Rejects when the archive's folder is gone. */
	async listDays(): Promise<string[]> {
		if (!(await this.isThere())) throw new MissingFolderError();
		try {
			return await readdir(join(this.root, 'days'));
		} catch (error) {
			if (isMissing(error)) return [];
			throw error;
		}
	}

	/** What changes when a file changes; the same for one that is not there. Never rejects. */
	async fingerprint(path: string): Promise<string> {
		try {
			return versionOf(await lstat(join(this.root, path)));
		} catch {
			return 'none';
		}
	}

	/** Reads a text. Rejects with a FileError. */
	async read(path: string): Promise<string> {
		return String(await this.#readBytes(path));
	}

	/** Reads a text that people write, too: a FileError also says that it isn't UTF-8. */
	async readUtf8(path: string): Promise<string> {
		const bytes = await this.#readBytes(path);
		try {
			return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
		} catch {
			throw new FileError("isn't UTF-8: save it so in your editor");
		}
	}

	#readBytes(path: string): Promise<Buffer> {
		return this.#withFile(path, async (file, { size }) => {
			if (size > maxBytes) throw new FileError('is too large');
			return file.readFile();
		});
	}

	/**
	 * Reads a file in `days/`; undefined when it is no file of this day. Rejects with a FileError for
	 * one that may be, as it may be read another time.
	 */
	async readDayManifest(name: string, day: string): Promise<DayManifest | undefined> {
		try {
			const json = await this.read(`days/${name}`);
			const file = parseDayManifest(json, day);
			if (!file && isOfLaterVersion(json)) throw new FileError(LATER_VERSION, { isPassing: true });
			return file;
		} catch (error) {
			if (error instanceof FileError && !error.isPassing) return undefined;
			throw error;
		}
	}

	/** Reads a text and holds it against what its day says of it. Rejects with a FileError. */
	async readNamed({ path, bytes, sha256 }: NamedFile): Promise<string> {
		return this.#withFile(path, async (file, { size }) => {
			if (size !== bytes)
				throw new FileError(`has ${size} bytes, not ${bytes} as its day manifest says`);
			if (size > maxBytes) throw new FileError('is too large');
			const content = await file.readFile();
			if (createHash('sha256').update(content).digest('hex') !== sha256) {
				throw new FileError('has a different checksum than its day manifest says');
			}
			return content.toString();
		});
	}

	/** The size of a file in bytes. Rejects with a FileError. */
	async sizeOf(path: string): Promise<number> {
		return this.#withFile(path, async (_file, { size }) => size);
	}

	/** Whether there is a folder for a file at this path, and inside of this folder. */
	async hasFolderOf(path: string): Promise<boolean> {
		if (!isInside(path)) return false;
		const real = await realpath(join(this.root, dirname(path))).catch(() => undefined);
		return real !== undefined && this.holds(real);
	}

	/** Whether a real path is that of this folder, or of something in it. */
	holds(real: string): boolean {
		return isWithin(this.root, real);
	}

	/** Opens a file of this folder, whatever a path may try. Rejects with a FileError. */
	async open(path: string): Promise<FileHandle> {
		if (!isInside(path)) throw new FileError("isn't a path inside the archive");
		try {
			const folder = await realpath(join(this.root, dirname(path)));
			if (!this.holds(folder)) {
				throw new FileError('leads out of the archive');
			}
			// Neither through a link nor waiting for somebody to write to a pipe.
			const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
			const file = await open(join(folder, path.slice(path.lastIndexOf('/') + 1)), flags);
			try {
				if ((await file.stat()).isFile()) return file;
			} catch (error) {
				await file.close();
				throw error;
			}
			await file.close();
		} catch (error) {
			throw asFileError(error);
		}
		throw new FileError("isn't a file");
	}

	async #withFile<Result>(
		path: string,
		use: (file: FileHandle, stats: Stats) => Promise<Result>,
	): Promise<Result> {
		const file = await this.open(path);
		try {
			return await use(file, await file.stat());
		} catch (error) {
			throw asFileError(error);
		} finally {
			await file.close();
		}
	}
}

const isMissing = (error: unknown) =>
	['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Whether a real path is that of a folder, or of something in it. The folder may be a whole drive. */
function isWithin(folder: string, real: string): boolean {
	const path = relative(folder, real);
	return path.split(sep)[0] !== '..' && !isAbsolute(path);
}

const reasons: Record<string, string> = {
	ENOENT: 'is missing',
	ENOTDIR: 'is missing',
	ELOOP: 'is a symbolic link',
	ENAMETOOLONG: 'has too long a name',
};

/** What a file system says, as a FileError: it may pass, unless it is about what the file is. */
export function asFileError(error: unknown): FileError {
	if (error instanceof FileError) return error;
	const { code = '' } = error as NodeJS.ErrnoException;
	if (reasons[code] !== undefined) return new FileError(reasons[code]);
	// Rights can change while the file stays as it was.
	const message = code === 'EACCES' ? 'may not be read' : 'cannot be read';
	return new FileError(message, { isPassing: true });
}

/** What tells a changed file from the one before. */
function versionOf({ size, mtimeMs, ctimeMs }: Stats): string {
	return `${size} ${mtimeMs} ${ctimeMs}`;
}

/** Whether a path leads into one of the archive's folders, or to a file of its own. */
function isInside(path: string): boolean {
	if (path === PEOPLE || path === REPLACEMENTS) return true;
	const [top, ...rest] = path.split('/');
	return (
		['days', 'lifelogs', 'chats', 'audio'].includes(top) &&
		rest.length > 0 &&
		!/[\\\0]/.test(path) &&
		rest.every((part) => part !== '' && part !== '.' && part !== '..')
	);
}

/**
 * Makes a folder of the archive.
 *
 * @throws FileError if a link leads it out of the archive.
 */
export async function prepareFolder(root: string, path: string): Promise<void> {
	const folder = join(root, path);
	await checkInside(root, folder);
	// One by one, because `recursive` would make the archive's folder anew if it has gone.
	let made = root;
	for (const name of path.split(/[\\/]/)) {
		if (name === '.') continue;
		made = join(made, name);
		await mkdir(made).catch(unlessExists);
	}
	await checkInside(root, folder);
}

function unlessExists(error: NodeJS.ErrnoException): void {
	if (error.code !== 'EEXIST') throw error;
}

/**
 * Makes sure that a folder is in the archive, or would be.
 *
 * @throws FileError if a link leads out of the archive.
 */
export async function checkInside(root: string, folder: string): Promise<void> {
	const real = await realpath(folder).catch(() => undefined);
	const realRoot = await realpath(root);
	if (real === undefined && folder !== root) return checkInside(root, dirname(folder));
	if (real === undefined || !isWithin(realRoot, real)) {
		throw new FileError('belongs in a folder that is outside of the archive, because of a link');
	}
}
