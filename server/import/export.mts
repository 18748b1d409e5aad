import { EntryError } from '../archive/additions.mts';

/** Why a part of an export is unreadable. The message completes a sentence. */
export class ExportError extends EntryError {}

export interface ExportFile {
	/** Relative to the export's own folder, with `/`. */
	path: string;
	bytes: number;
	/** Minimum byte range in the zip; missing for a file in a folder. */
	inZip?: { start: number; end: number };
	/** Reads it from the start. Rejects with an ExportError if it is incomplete. */
	read: () => AsyncIterable<Buffer>;
}

/** A file that must not be read, such as a link. */
export interface Refused {
	path: string;
	problem: string;
}

/** An export of the service, as a folder or a zip. */
export interface Export {
	/** All its files. Call it only once. */
	list: () => AsyncIterable<ExportFile | Refused>;
	close: () => void;
}

/** Folders whose files an archive can hold. */
export const archived = ['lifelogs', 'chats', 'audio'];
/** Other folders of the service's export. They distinguish it from an archive. */
export const others = ['meetings', 'persons', 'pendants', 'user', 'days'];

/** The path below the export's own folder, which may be nested in a zip; undefined if it isn't below. */
export function withinExport(path: string): string | undefined {
	const parts = path.split('/');
	if (parts[0] === '__MACOSX') return undefined;
	const top = parts.slice(0, 2).findIndex((part) => [...archived, ...others].includes(part));
	return top === -1 || parts.length < top + 2 ? undefined : parts.slice(top).join('/');
}

/** Why a path is unsafe; undefined if it is safe. */
export function pathProblem(path: string): string | undefined {
	if (path === '' || path.includes('\0')) return "isn't a path";
	if (path.includes('\\')) return 'has a backslash in its path';
	if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'has an absolute path';
	return path.split('/').includes('..') ? 'leads out of its folder' : undefined;
}

/**
 * Compares the positions of files in their zip.
 *
 * @throws ExportError if two share bytes, as in a zip bomb.
 */
export function refuseOverlaps(files: ExportFile[]): void {
	const places = files.flatMap(({ inZip }) => inZip ?? []).sort((a, b) => a.start - b.start);
	if (places.some(({ start }, index) => index > 0 && start < places[index - 1].end)) {
		throw new ExportError(
			"Files in the zip overlap, which no export has. Nothing was imported. Download the export again, from the service's app",
		);
	}
}
