// The only writer of an archive. Nothing else creates, renames or removes its files.
//
// 1. Write the files as drafts (drafts.mts), without a lock: hours of audio must not block other
//    programs. Drafts have no effect, and belong to a living process. Its lock shows that it lives, and
//    ends with it. The next clearDrafts removes the drafts of a killed process.
// 2. Take the write lock. SQLite holds it, so it ends with its process. Finish an interrupted change.
// 3. Read the manifests of the days, and ask the caller for the new ones. No other program writes now,
//    so the caller's decision stays valid.
// 4. Copy fields that this version doesn't know from the previous manifest. Reject a manifest that
//    readers wouldn't accept.
// 5. Decide which older manifests to remove: those of a day that wasn't over, which would pile up, and
//    those that name a deleted entry or a lifelog with a new transcript. The others stay as the day's
//    history. Files of deleted entries and of former transcripts are removed, too.
// 6. Write the steps into the journal: first the files, then the manifests that name them, then the
//    removals. The change takes effect when the journal is renamed. A process that is killed earlier
//    has changed nothing. If it is killed later, the next writer finishes the steps. Each step is
//    repeatable.
// 7. Carry out the steps, remove the journal, and release the lock.
import { DAY_MS } from '../util/durations.mts';
import { commit, finishJournal, type Step, writeDraft } from './commit.mts';
import type { Draft } from './drafts.mts';
import type { Folder } from './folder.mts';
import {
	type ChatEntry,
	type DayManifest,
	type LifelogEntry,
	type NamedFile,
	nameOfDay,
	parseDayManifest,
	withUnknown,
} from './layout.mts';
import { toJson } from './lifelogFiles.mts';
import { withWriteLock } from './lock.mts';
import {
	laterThan,
	type Manifest,
	manifestNames,
	type Manifests,
	readManifests,
} from './manifests.mts';

export interface Day extends Manifests {
	day: string;
	/** Time of the new manifest. */
	archivedAt: string;
}

export interface Change {
	/** The new manifests. Days without one stay unchanged. */
	manifests?: DayManifest[];
	/** Drafts, or short texts that only the change knows, and their paths. They replace existing files. */
	files?: ({ path: string } & (Pick<Draft, 'draft'> | { content: string }))[];
	/** IDs of lifelogs that get a new transcript. Nothing of the former one is kept. */
	replaced?: string[];
}

/** A draft disappeared before it was moved into place. */
export class LostDraftError extends Error {
	constructor() {
		super('Another program removed files that were being written. Run it again');
	}
}

/**
 * Changes days of an archive atomically: completely or not at all, even if the process is killed.
 *
 * @param days The days, `YYYY-MM-DD`, or a function that finds them while the lock is held.
 * @param change Returns the changes. Nobody else writes to the archive meanwhile.
 * @param now Epoch ms.
 * @returns The removed files of deleted entries and of former transcripts.
 * @throws UnreadableDayError if a manifest is temporarily unreadable, LockedError if another program
 *   has been writing for a minute, LostDraftError if a draft is gone. Nothing is changed then.
 */
export async function changeDays(
	folder: Folder,
	days: string[] | (() => Promise<string[]>),
	change: (days: Map<string, Day>) => Promise<Change> | Change,
	now = Date.now(),
): Promise<string[]> {
	return await withWriteLock(folder.root, async () => {
		await finishJournal(folder.root);
		const before = await readDays(folder, Array.isArray(days) ? days : await days(), now);
		const { manifests = [], files = [], replaced } = await change(before);
		const steps: Step[] = [];
		const put = async (path: string, content: string) =>
			steps.push({ rename: await writeDraft(folder.root, content), to: path });
		for (const file of files) {
			if ('draft' in file) steps.push({ rename: file.draft, to: file.path });
			else await put(file.path, file.content);
		}
		const superseded: string[] = [];
		const removed: string[] = [];
		for (const manifest of manifests) {
			const day = before.get(manifest.day)!;
			const json = toJson(withUnknown(manifest, day.newest));
			const file = parseDayManifest(json, manifest.day);
			if (!file) throw new Error(`The day manifest of ${manifest.day} would be invalid`);
			const path = `days/${nameOfDay(file)}`;
			await put(path, json);
			const older = day.all.filter(({ name }) => `days/${name}` !== path);
			const goes = ({ file: old }: Manifest) =>
				Date.parse(old.archivedAt) < Date.parse(old.day) + DAY_MS ||
				goneOf(file, old, replaced).length > 0;
			superseded.push(...older.filter(goes).map(({ name }) => `days/${name}`));
			removed.push(...day.all.flatMap((old) => filesOfGone(file, old.file, replaced)));
		}
		const gone = await inside(folder, [...new Set(removed)]);
		steps.push(...[...superseded, ...gone].map((path) => ({ remove: path })));
		if (!(await commit(folder.root, steps))) throw new LostDraftError();
		return gone;
	});
}

async function readDays(folder: Folder, days: string[], now: number): Promise<Map<string, Day>> {
	const names = days.length > 0 ? await manifestNames(folder) : new Map<string, string[]>();
	const read = days.map(async (day): Promise<[string, Day]> => {
		const manifests = await readManifests(folder, day, names.get(day));
		return [day, { day, archivedAt: laterThan(manifests.newest, now), ...manifests }];
	});
	return new Map(await Promise.all(read));
}

/** Entries of an older manifest that the new one deletes or gives a new transcript. */
const goneOf = (file: DayManifest, old: DayManifest, replaced: string[] = []) =>
	(['lifelogs', 'chats'] as const).flatMap((kind) => {
		const isGone = (id: string) =>
			(Object.hasOwn(file[kind], id) && file[kind][id].deletedAt !== undefined) ||
			(kind === 'lifelogs' && replaced.includes(id));
		return Object.entries<LifelogEntry | ChatEntry>(old[kind])
			.filter(([id, { deletedAt }]) => deletedAt === undefined && isGone(id))
			.map(([, entry]) => entry);
	});

/** Files of these entries that nothing else needs. */
function filesOfGone(file: DayManifest, old: DayManifest, replaced?: string[]): string[] {
	const entries = [...Object.values(file.lifelogs), ...Object.values(file.chats)];
	const kept = new Set([...entries.flatMap(({ files }) => files), ...file.audio].map(pathOf));
	const files = goneOf(file, old, replaced).flatMap((entry) => entry.files);
	return files.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ path }: NamedFile) => path;

/** The paths that are inside the archive. */
async function inside(folder: Folder, paths: string[]): Promise<string[]> {
	const found: string[] = [];
	for (const path of paths) if (await folder.hasFolderOf(path)) found.push(path);
	return found;
}
