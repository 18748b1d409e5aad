// Lists what the day manifests of an archive name, without an index.
import type { Span } from '../util/spans.mts';
import { FileError, type Folder } from './folder.mts';
import type { AudioFile, LifelogEntry } from './layout.mts';
import { manifestNames, readManifests } from './manifests.mts';

/** A lifelog with the day whose version is current. */
interface NamedLifelog {
	id: string;
	day: string;
	entry: LifelogEntry;
}

export interface Contents {
	/** By start time. */
	lifelogs: NamedLifelog[];
	/** Lifelogs deleted here, each with its time span if known. */
	deleted: Map<string, Span | undefined>;
	audio: AudioFile[];
	/** Unreadable manifests. They may name more lifelogs. */
	unread: { path: string; problem: string }[];
	/** Names of all manifests. They differ after a change. */
	manifests: string;
}

/**
 * Reads which lifelogs and audio an archive has. If several days name a lifelog, the same version
 * is current as in the index (`index/rows.mts`), unless any of the days says that it was deleted.
 *
 * @throws MissingFolderError if the folder is gone, and file system errors of `days/`.
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

/** Whether the manifests have changed since the archive was read. */
export const hasChanged = async (folder: Folder, { manifests }: Contents): Promise<boolean> =>
	listOf(await manifestNames(folder)) !== manifests;

const listOf = (names: Map<string, string[]>) => [...names.values()].flat().sort().join('\n');

/** Whether this version is current rather than an earlier day's. */
function counts({ entry }: NamedLifelog, other: NamedLifelog | undefined): boolean {
	if (!other || entry.updatedAt !== other.entry.updatedAt) {
		return !other || entry.updatedAt > other.entry.updatedAt;
	}
	return Number(entry.goneAt !== undefined) <= Number(other.entry.goneAt !== undefined);
}

/** File names start with the time. */
const byPath = (a: NamedLifelog, b: NamedLifelog) =>
	keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b));
const keyOf = ({ day, entry, id }: NamedLifelog) => `${entry.files.at(0)?.path ?? day} ${id}`;

const pathOf = (error: Error & { path?: string }, day: string) => error.path ?? `days/${day}`;
