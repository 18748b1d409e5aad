// The archive that is exported: read as it is, so it may be read-only, and a server may be changing it.
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

/** Raised when a lifelog is written otherwise than before, so that all are written anew. */
const VERSION = 1;

export type ArchivedLifelog = Contents['lifelogs'][number];

/** Opens an archive. @throws CannotStart if it isn't there, or isn't one. */
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

/** What an archive has, with the owner's titles, names and words. */
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

	/** @throws CannotStart if people.json can't be read: every name would be the recorded one again. */
	static async read(folder: Folder): Promise<Source> {
		const { people } = await readPeople(folder).catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			throw new CannotStart(
				`Nothing was exported, because ${PEOPLE} in the archive ${error.message}. Repair it, or move it away`,
			);
		});
		return new Source(folder, await readContents(folder), new Names(people));
	}

	/** What changes whenever a lifelog is written otherwise. */
	keyOf({ entry }: ArchivedLifelog): string {
		const { edited, files } = entry;
		return hashOf([VERSION, files.map(({ sha256 }) => sha256), edited, this.#namesHash]);
	}

	/**
	 * A lifelog as it is served.
	 *
	 * @throws FileError if its file can't be read, or isn't as its day says.
	 */
	async lifelogOf({ id, entry: { files, edited } }: ArchivedLifelog): Promise<Lifelog> {
		const stored = await readArchived(this.folder, id, files);
		if (!stored) throw new FileError("isn't a lifelog, or is another one");
		return this.#names.in(edited ? withEdits(stored, edited) : stored);
	}
}

/** A short hash of what JSON says of a value. */
export const hashOf = (value: unknown): string =>
	hash('sha256', JSON.stringify(value)).slice(0, 32);

/** The path of a lifelog's file, for people. */
export const pathOf = ({ day, entry }: ArchivedLifelog): string =>
	entry.files.at(0)?.path ?? `days/${day}`;
