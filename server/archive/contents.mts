// What the day manifests of an archive name together, without an index.
import type { Span } from '../util/spans.mts';
import { FileError, type Folder } from './folder.mts';
import type { AudioFile, LifelogEntry } from './layout.mts';
import { manifestNames, readManifests } from './manifests.mts';

/** A lifelog as the day names it whose version counts. */
interface NamedLifelog {
	id: string;
	day: string;
	entry: LifelogEntry;
}

/** What an archive names. */
export interface Contents {
	/** By when they begin. */
	lifelogs: NamedLifelog[];
	/** Those that were deleted here, each with when it was, if that is known. */
	deleted: Map<string, Span | undefined>;
	audio: AudioFile[];
	/** Manifests that can't be read. Nobody knows what else they name. */
	unread: { path: string; problem: string }[];
	/** The names of all manifests. They differ after a change. */
	manifests: string;
}

/**
 * Reads which lifelogs and audio an archive has. Of several days that name a lifelog, the one counts
 * that the index takes, too (`index/rows.mts`), unless any of them says that it was deleted.
 *
 * @throws MissingFolderError if the folder is gone, and what the file system says of `days/`.
 */
export async function readContents(folder: Folder): Promise<Contents> {
	const names = await manifestNames(folder);
	const found = new Map<string, NamedLifelog>();
	const audio = new Map<string, AudioFile>();
	const deleted: Contents['deleted'] = new Map();
	const unread: Contents['unread'] = [];
	for (const day of [...names.keys()].sort()) {
		const read = await readManifests(folder, day, names.get(day)).catch((error: unknown) => {
			if (!(error instanceof FileError)) throw error;
			unread.push({ path: pathOf(error, day), problem: error.message });
		});
		for (const name of read?.broken ?? []) {
			unread.push({ path: `days/${name}`, problem: "isn't a day manifest" });
		}
		if (!read?.newest) continue;
		for (const [id, entry] of Object.entries(read.newest.lifelogs)) {
			if (entry.deletedAt !== undefined) deleted.set(id, entry.spans?.[0]);
			else if (counts({ id, day, entry }, found.get(id))) found.set(id, { id, day, entry });
		}
		for (const file of read.newest.audio) audio.set(file.path, file);
	}
	const lifelogs = [...found.values()].filter(({ id }) => !deleted.has(id));
	return {
		lifelogs: lifelogs.sort(byPath),
		...{ deleted, unread, manifests: listOf(names) },
		audio: [...audio.values()].sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs),
	};
}

/** Whether an archive has other manifests than when it was read. */
export const hasChanged = async (folder: Folder, { manifests }: Contents): Promise<boolean> =>
	listOf(await manifestNames(folder)) !== manifests;

const listOf = (names: Map<string, string[]>) => [...names.values()].flat().sort().join('\n');

/** Whether a version counts rather than one of an earlier day. */
function counts({ entry }: NamedLifelog, other: NamedLifelog | undefined): boolean {
	if (!other || entry.updatedAt !== other.entry.updatedAt) {
		return !other || entry.updatedAt > other.entry.updatedAt;
	}
	return Number(entry.goneAt !== undefined) <= Number(other.entry.goneAt !== undefined);
}

/** The names of files begin with the time. */
const byPath = (a: NamedLifelog, b: NamedLifelog) =>
	keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b));
const keyOf = ({ day, entry, id }: NamedLifelog) => `${entry.files.at(0)?.path ?? day} ${id}`;

const pathOf = (error: Error & { path?: string }, day: string) => error.path ?? `days/${day}`;
