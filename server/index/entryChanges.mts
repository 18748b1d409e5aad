// Builds changes of entries, and explains why one is rejected.
import { createReadStream } from 'node:fs';
import type { Lifelog } from '../../lifelog/api.ts';
import { EntryError } from '../archive/additions.mts';
import { type Change, type Day, LostDraftError } from '../archive/changeDays.mts';
import type { Drafts } from '../archive/drafts.mts';
import { readArchived } from '../archive/entries.mts';
import { FileError, type Folder, ignoreFileError } from '../archive/folder.mts';
import {
	type DayManifest,
	type LifelogEntry,
	type NamedFile,
	RECORDINGS,
} from '../archive/layout.mts';
import { withEntries } from '../archive/lifelogFiles.mts';
import { LockedError } from '../archive/lock.mts';
import { withOwn } from '../archive/ownChanges.mts';
import { samplesPerMs } from '../audio/opus.mts';
import { scanLinks } from '../audio/scan.mts';
import { ApiError } from '../util/errors.mts';
import { type Span, spansOf } from '../util/spans.mts';
import type { Kind } from './schema.mts';
import type { RecordedAudio } from './store.mts';

/**
 * Changes a lifelog's entry, given the lifelog in its file. Returns the texts that replace its
 * files, or undefined if nothing changes.
 */
export type EntryChange = (
	entry: LifelogEntry,
	stored: Lifelog,
) => { entry: LifelogEntry; texts: { path: string; content: string }[] } | undefined;

/** Changes entries in the newest manifest of a day. @throws FileError if a lifelog's file is unreadable. */
async function changeOfEntries(
	folder: Folder,
	ids: string[],
	{ newest, archivedAt }: Day,
	change: EntryChange,
): Promise<Required<Pick<Change, 'manifests' | 'files'>>> {
	const changed: [id: string, entry: LifelogEntry][] = [];
	const files: Required<Change>['files'] = [];
	for (const id of ids) {
		const before = newest?.lifelogs[id];
		const stored = before && (await readArchived(folder, id, before.files));
		if (!stored) throw new FileError('is not readable');
		const made = change(before, stored);
		if (!made) continue;
		changed.push([id, made.entry]);
		files.push(...made.texts);
	}
	if (!newest || changed.length === 0) return { manifests: [], files };
	const lifelogs = withEntries(newest.lifelogs, changed);
	return { manifests: [{ ...newest, lifelogs, archivedAt }], files };
}

/**
 * Changes entries of several days.
 *
 * @param idsOf IDs of lifelogs by day.
 * @throws FileError if a lifelog's file is unreadable.
 */
export async function changeOfDays(
	folder: Folder,
	idsOf: Map<string, string[]>,
	days: Map<string, Day>,
	change: EntryChange,
): Promise<Change> {
	const changes = [...days.values()].map((day) =>
		changeOfEntries(folder, idsOf.get(day.day)!, day, change),
	);
	const all = await Promise.all(changes);
	return {
		manifests: all.flatMap(({ manifests }) => manifests),
		files: all.flatMap(({ files }) => files),
	};
}

/** The manifest of a day with an entry replaced by a tombstone; undefined if nothing changes. */
export async function entombed(
	folder: Folder,
	kind: Kind,
	id: string,
	{ newest, broken, archivedAt }: Day,
	lifelog: Lifelog | undefined,
): Promise<DayManifest | undefined> {
	if (broken.length > 0) throw undeletable(`days/${broken[0]}`);
	const list = kind === 'lifelog' ? 'lifelogs' : 'chats';
	if (!newest || !Object.hasOwn(newest[list], id)) return undefined;
	const entry = newest[list][id];
	const deletedAt = new Date().toISOString();
	const spans = lifelog && (await spansOfEntry(folder, lifelog, entry.files));
	const tombstone = withOwn(entry, { deletedAt, spans });
	return { ...newest, [list]: withEntries(newest[list], [[id, tombstone]]), archivedAt };
}

/** The time of a lifelog by these files or, if they are unreadable, by its newest version. */
async function spansOfEntry(folder: Folder, lifelog: Lifelog, files: NamedFile[]): Promise<Span[]> {
	const ofDay = await readArchived(folder, lifelog.id, files).catch(ignoreFileError);
	return spansOf(ofDay ?? lifelog);
}

/** Copies a recording's audio into a draft. */
export async function draftAudio(drafts: Drafts, { path, startMs }: RecordedAudio) {
	const draft = await drafts.save(createReadStream(path));
	const links = await scanLinks(createReadStream(path));
	const lengthMs = Math.ceil(links.reduce((sum, { played }) => sum + played, 0) / samplesPerMs);
	return { recorder: RECORDINGS, startMs, endMs: startMs + lengthMs, draft };
}

export const undeletable = (path: string) =>
	new ApiError(
		409,
		`Nothing was deleted, because ${path} can't be read. Try again when it's complete. lifelog-server check says what is wrong with it`,
	);

/** The API's error if an archive couldn't be changed. `outcome` starts the message. */
export function asRefusal(error: unknown, outcome: string): unknown {
	if (error instanceof LockedError || error instanceof LostDraftError) {
		return new ApiError(
			409,
			`${outcome}, because another program writes to the archive. Try again later`,
		);
	}
	if (error instanceof EntryError || error instanceof FileError) {
		return new ApiError(
			409,
			`${outcome}, because a file of that day cannot be read: lifelog-server check names it. Repair it, then try again`,
		);
	}
	return error;
}
