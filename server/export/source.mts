// Reads the archive to export. It may be read-only, and a server may be changing it.
import { hash } from 'node:crypto';
import type { Lifelog } from '../../lifelog/api.ts';
import { type Contents, readContents } from '../archive/contents.mts';
import { withEdits } from '../archive/edits.mts';
import { readArchived } from '../archive/entries.mts';
import { FileError, Folder } from '../archive/folder.mts';
import { PEOPLE } from '../archive/layout.mts';
import { Names } from '../archive/names.mts';
import { readPeople } from '../archive/people.mts';
import { CannotStart } from '../util/commandLine.mts';
import { asError } from '../util/errors.mts';

/** Raise this if lifelogs are written differently, so that all are exported again. */
const VERSION = 1;

export type ArchivedLifelog = Contents['lifelogs'][number];

/** Opens an archive. @throws CannotStart if it doesn't exist or isn't an archive. */
export async function openArchive(path: string): Promise<Folder> {
	const folder = await Folder.open(path).catch((error: unknown) => {
		const { code = 'ENOTDIR' } = asError(error);
		throw new CannotStart(
			/^(ENOENT|ENOTDIR)$/.test(code)
				? `There is no folder ${path}. Check its name, or connect its drive`
				: `The folder ${path} can't be opened (${code}). Run the command as a user who can read it`,
		);
	});
	if (await folder.hasDays()) return folder;
	throw new CannotStart(
		`${path} has no day of an archive. Check its name, or connect its drive. Nothing was exported`,
	);
}

/** The content of an archive, with the user's edits, names and replacements. */
export class Source {
	readonly folder: Folder;
	readonly contents: Contents;
	readonly #names: Names;
	readonly #namesHash: string;

	private constructor(folder: Folder, contents: Contents, names: Names) {
		this.folder = folder;
		this.contents = contents;
		this.#names = names;
		this.#namesHash = hashOf(names.people);
	}

	/**
	 * @throws CannotStart if people.json is unreadable. Otherwise, all names would be reset to the
	 *   recorded ones.
	 */
	static async read(folder: Folder): Promise<Source> {
		const { people } = await readPeople(folder).catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			throw new CannotStart(
				`Nothing was exported, because ${PEOPLE} in the archive ${error.message}. Repair it, or move it away`,
			);
		});
		return new Source(folder, await readContents(folder), new Names(people));
	}

	/** A key that changes when the lifelog's output changes. */
	keyOf({ entry }: ArchivedLifelog): string {
		const { edited, files } = entry;
		return hashOf([VERSION, files.map(({ sha256 }) => sha256), edited, this.#namesHash]);
	}

	/**
	 * A lifelog with all edits.
	 *
	 * @throws FileError if its file is unreadable, or doesn't match its manifest.
	 */
	async lifelogOf({ id, entry: { files, edited } }: ArchivedLifelog): Promise<Lifelog> {
		const stored = await readArchived(this.folder, id, files);
		if (!stored) throw new FileError("isn't a lifelog, or is another one");
		return this.#names.in(edited ? withEdits(stored, edited) : stored);
	}
}

/** A short hash of a value's JSON. */
export const hashOf = (value: unknown): string =>
	hash('sha256', JSON.stringify(value)).slice(0, 32);

/** The path of a lifelog's file, for messages. */
export const pathOf = ({ day, entry }: ArchivedLifelog): string =>
	entry.files.at(0)?.path ?? `days/${day}`;
