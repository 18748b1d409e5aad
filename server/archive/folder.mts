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

/**
 * Maximum size of a JSON or Markdown file to read, in bytes. A day of nonstop talking has some
 * megabytes.
 */
export const maxBytes = 64 * 1024 * 1024;

/** Rewriting the day with this version would lose fields of the later one. */
const LATER_VERSION = 'was written by a later version of lifelog-server: update this one';

/** Why a file is ignored. The message contains nothing of its content. */
export class FileError extends Error {
	/** Whether a retry may succeed, as after a disk error. */
	readonly isPassing: boolean;

	constructor(message: string, { isPassing = false } = {}) {
		super(message);
		this.isPassing = isPassing;
	}
}

/** The folder is gone, or has lost all its days, such as a mount point without its drive. */
export class MissingFolderError extends UnavailableError {
	constructor() {
		super("The archive's folder is missing: connect its drive, then try again", 30);
	}
}

/** Returns undefined for a FileError, and throws all other errors again. */
export function ignoreFileError(error: Error): undefined {
	if (!(error instanceof FileError)) throw error;
}

/** The folder of an archive. Nothing outside it is read. */
export class Folder {
	/** Its real path. */
	readonly root: string;

	private constructor(root: string) {
		this.root = root;
	}

	/** Rejects if the folder doesn't exist. */
	static async open(path: string): Promise<Folder> {
		const root = await realpath(path);
		if (!(await lstat(root)).isDirectory()) throw new FileError("isn't a folder");
		return new Folder(root);
	}

	/** Whether the folder exists. Never rejects. */
	async isThere(): Promise<boolean> {
		return (await this.fingerprint('')) !== 'none';
	}

	/** Whether there is any day. Rejects if `days/` is unreadable. */
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

	/** The names in `days/`, empty without that folder. Rejects if the archive's folder is gone. */
	async listDays(): Promise<string[]> {
		if (!(await this.isThere())) throw new MissingFolderError();
		try {
			return await readdir(join(this.root, 'days'));
		} catch (error) {
			if (isMissing(error)) return [];
			throw error;
		}
	}

	/** A value that changes with the file; constant for a missing file. Never rejects. */
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

	/** Reads a text that people may edit. Rejects with a FileError, also if it isn't UTF-8. */
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
	 * Reads a file in `days/`; undefined if it isn't a manifest of this day. Rejects with a FileError
	 * if a retry may succeed.
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

	/** Reads a text and compares it with its manifest's size and hash. Rejects with a FileError. */
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

	/** Whether the file's folder exists inside this one. */
	async hasFolderOf(path: string): Promise<boolean> {
		if (!isInside(path)) return false;
		const real = await realpath(join(this.root, dirname(path))).catch(() => undefined);
		return real !== undefined && this.holds(real);
	}

	/** Whether a real path is this folder or inside it. */
	holds(real: string): boolean {
		return isWithin(this.root, real);
	}

	/** Opens a file inside this folder only, whatever the path. Rejects with a FileError. */
	async open(path: string): Promise<FileHandle> {
		if (!isInside(path)) throw new FileError("isn't a path inside the archive");
		try {
			const folder = await realpath(join(this.root, dirname(path)));
			if (!this.holds(folder)) {
				throw new FileError('leads out of the archive');
			}
			// Don't follow a link, and don't wait for a writer of a pipe.
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

/**
 * Reads a file that the owner may edit.
 *
 * @param parse Throws a FileError with the problem.
 * @param none The value without the file.
 * @throws FileError if the file is unreadable.
 */
export async function readIfThere<Content>(
	folder: Folder,
	path: string,
	parse: (text: string) => Content,
	none: Content,
): Promise<Content> {
	if ((await folder.fingerprint(path)) === 'none') return none;
	return parse(await folder.readUtf8(path));
}

/** Whether a real path is the folder or inside it. The folder may be a whole drive. */
export function isWithin(folder: string, real: string): boolean {
	const path = relative(folder, real);
	return path.split(sep)[0] !== '..' && !isAbsolute(path);
}

const reasons: Record<string, string> = {
	ENOENT: 'is missing',
	ENOTDIR: 'is missing',
	ELOOP: 'is a symbolic link',
	ENAMETOOLONG: 'has too long a name',
};

/** A file system error as a FileError. A retry may succeed, unless the kind of file is the problem. */
export function asFileError(error: unknown): FileError {
	if (error instanceof FileError) return error;
	const { code = '' } = error as NodeJS.ErrnoException;
	if (reasons[code] !== undefined) return new FileError(reasons[code]);
	// Permissions can change while the file stays the same.
	const message = code === 'EACCES' ? 'may not be read' : 'cannot be read';
	return new FileError(message, { isPassing: true });
}

/** A value that changes with the file. */
function versionOf({ size, mtimeMs, ctimeMs }: Stats): string {
	return `${size} ${mtimeMs} ${ctimeMs}`;
}

/** Whether a path is in one of the archive's folders, or is one of its own files. */
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

/** Creates a folder of the archive. @throws FileError if a link leads out of the archive. */
export async function prepareFolder(root: string, path: string): Promise<void> {
	const folder = join(root, path);
	await checkInside(root, folder);
	// One level at a time: `recursive` would recreate the archive's folder if it is gone.
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
 * Checks that a folder is inside the archive, even if it doesn't exist yet.
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
