import { EntryError } from '../archive/additions.mts';

/** Why something of an export can't be read; its message is the end of a sentence. */
export class ExportError extends EntryError {}

/** A file of an export. */
export interface ExportFile {
	/** From the export's own folder, with `/`. */
	path: string;
	bytes: number;
	/** The bytes of the zip that it takes at least; a file of a folder takes none. */
	inZip?: { start: number; end: number };
	/** Reads it from its beginning. Rejects with an ExportError where it is not whole. */
	read: () => AsyncIterable<Buffer>;
}

/** What is not to be read, such as a link. */
export interface Refused {
	path: string;
	problem: string;
}

/** An export of the service, as a folder or as the zip that it comes in. */
export interface Export {
	/** Every file in it; to be called once. */
	list: () => AsyncIterable<ExportFile | Refused>;
	close: () => void;
}

/** The folders of which an archive has a place for what is in them. */
export const archived = ['lifelogs', 'chats', 'audio'];
/** What else the service puts into an export; and by what an archive can be told from one. */
export const others = ['meetings', 'persons', 'pendants', 'user', 'days'];

/**
 * The path below the export's own folder, which a zip may have around everything; undefined for
 * what lies elsewhere.
 */
export function withinExport(path: string): string | undefined {
	const parts = path.split('/');
	if (parts[0] === '__MACOSX') return undefined;
	const top = parts.slice(0, 2).findIndex((part) => [...archived, ...others].includes(part));
	return top === -1 || parts.length < top + 2 ? undefined : parts.slice(top).join('/');
}

/** Why a path is not followed, whoever wrote it; undefined when it may be. */
export function pathProblem(path: string): string | undefined {
	if (path === '' || path.includes('\0')) return "isn't a path";
	if (path.includes('\\')) return 'has a backslash in its path';
	if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'has an absolute path';
	return path.split('/').includes('..') ? 'leads out of its folder' : undefined;
}

/**
 * Compares where files are in their zip.
 *
 * @throws ExportError if two of them share bytes, as in a zip that unpacks to far more than it is.
 */
export function refuseOverlaps(files: ExportFile[]): void {
	const places = files.flatMap(({ inZip }) => inZip ?? []).sort((a, b) => a.start - b.start);
	if (places.some(({ start }, index) => index > 0 && start < places[index - 1].end)) {
		throw new ExportError(
			"Files in the zip overlap, which no export has. Nothing was imported. Download the export again, from the service's app",
		);
	}
}
