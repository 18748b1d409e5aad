// The one writer of an archive. Nothing else creates, renames or removes its files.
//
// 1. Files are written first, into drafts (drafts.mts), without a lock: hours of audio are no reason to
//    keep other programs waiting. Drafts count for nothing, and belong to a process that lives. Its lock
//    says so, and goes with it, so the next clearDrafts removes what a killed process has left.
// 2. The write lock is taken: it is SQLite's, so it ends with its process. Whatever an earlier process
//    left half done is finished.
// 3. The manifests of the days are read, and the caller is asked for the new ones. What it decides holds,
//    because no other program writes now.
// 4. Fields that this version doesn't know are carried over from the manifest before. What no reader
//    would accept as a manifest is refused.
// 5. Which older manifests go is decided: those of a day that wasn't over then, which would pile up,
//    and those that name an entry that is deleted now, or a lifelog that has another transcript. The
//    others show what the day was before. The files of deleted entries and of former transcripts go, too.
// 6. The steps are written into the journal: first the files, then the manifests that name them, then
//    what is removed. From the rename of the journal on, the change counts. A process that is killed
//    before it has changed nothing; after it, the next writer finishes the steps, each of which can
//    be done again.
// 7. The steps are carried out, the journal is removed, and the lock is released.
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

/** A day that is being changed. */
export interface Day extends Manifests {
	day: string;
	/** Of its new manifest. */
	archivedAt: string;
}

/** What a change makes of an archive. */
export interface Change {
	/** The new manifests. A day without one stays. */
	manifests?: DayManifest[];
	/** Drafts, or short texts that only the change knows, and their places. They replace what is there. */
	files?: ({ path: string } & (Pick<Draft, 'draft'> | { content: string }))[];
	/** IDs of lifelogs that get another transcript. Nothing of what they were before is left. */
	replaced?: string[];
}

/** A draft is gone that was to be moved to its place. */
export class LostDraftError extends Error {
	constructor() {
		super('Another program removed files that were being written. Run it again');
	}
}

/**
 * Changes days of an archive all at once: all of it is done, or nothing, however the process ends.
 *
 * @param days The days, `YYYY-MM-DD`; or finds them, once nobody else can change the archive.
 * @param change Says what is to be changed. Nobody else writes to the archive until it has.
 * @param now Epoch ms.
 * @returns The files of deleted entries and of former transcripts, which were removed.
 * @throws UnreadableDayError if a manifest can't be read now, LockedError if another program has been
 *   writing for a minute, LostDraftError if a draft is gone. Nothing is changed then.
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

/** The entries of an older manifest that are deleted in the new one, or have another transcript. */
const goneOf = (file: DayManifest, old: DayManifest, replaced: string[] = []) =>
	(['lifelogs', 'chats'] as const).flatMap((kind) => {
		const isGone = (id: string) =>
			(Object.hasOwn(file[kind], id) && file[kind][id].deletedAt !== undefined) ||
			(kind === 'lifelogs' && replaced.includes(id));
		return Object.entries<LifelogEntry | ChatEntry>(old[kind])
			.filter(([id, { deletedAt }]) => deletedAt === undefined && isGone(id))
			.map(([, entry]) => entry);
	});

/** Their files, which nothing else may need. */
function filesOfGone(file: DayManifest, old: DayManifest, replaced?: string[]): string[] {
	const entries = [...Object.values(file.lifelogs), ...Object.values(file.chats)];
	const kept = new Set([...entries.flatMap(({ files }) => files), ...file.audio].map(pathOf));
	const files = goneOf(file, old, replaced).flatMap((entry) => entry.files);
	return files.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ path }: NamedFile) => path;

/** Those of some paths that are in the archive, and not outside of it. */
async function inside(folder: Folder, paths: string[]): Promise<string[]> {
	const found: string[] = [];
	for (const path of paths) if (await folder.hasFolderOf(path)) found.push(path);
	return found;
}
