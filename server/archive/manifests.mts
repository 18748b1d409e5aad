import { FileError, type Folder } from './folder.mts';
import { dayOfName, type DayManifest } from './layout.mts';

/** A manifest of a day, and its name in `days/`. */
export interface Manifest {
	name: string;
	file: DayManifest;
}

/** What an archive has of a day. */
export interface Manifests {
	/** The one that counts. */
	newest: DayManifest | undefined;
	/** Newest first. */
	all: Manifest[];
	/** Names of files that aren't manifests of the day, whatever their names say. */
	broken: string[];
}

/** A manifest may be readable another time, so nobody knows which one counts. */
export class UnreadableDayError extends FileError {
	readonly path: string;

	constructor(path: string, { message }: FileError) {
		super(message, { isPassing: true });
		this.path = path;
	}
}

/** The names in `days/`, by day. */
export async function manifestNames(folder: Folder): Promise<Map<string, string[]>> {
	const names = new Map<string, string[]>();
	for (const name of await folder.listDays()) {
		const day = dayOfName(name);
		if (day !== undefined) names.set(day, [...(names.get(day) ?? []), name]);
	}
	return names;
}

/**
 * Reads the manifests of a day.
 *
 * @param names Its files in `days/`.
 * @throws UnreadableDayError for one that may be readable another time.
 */
export async function readManifests(
	folder: Folder,
	day: string,
	names: string[] = [],
): Promise<Manifests> {
	const all: Manifest[] = [];
	const broken: string[] = [];
	for (const name of names) {
		const file = await folder.readDayManifest(name, day).catch((error: unknown) => {
			throw error instanceof FileError ? new UnreadableDayError(`days/${name}`, error) : error;
		});
		if (file) all.push({ name, file });
		else broken.push(name);
	}
	all.sort((a, b) => newestFirst(a.file, b.file));
	return { newest: all.at(0)?.file, all, broken };
}

/** Orders manifests of a day: the first one counts. */
export const newestFirst = (a: DayManifest, b: DayManifest): number =>
	Date.parse(b.archivedAt) - Date.parse(a.archivedAt);

/** When a manifest is written: now (epoch ms), or a moment after the one that counts, if a clock was wrong. */
export const laterThan = (newest: DayManifest | undefined, now: number): string =>
	new Date(Math.max(now, newest ? Date.parse(newest.archivedAt) + 1 : 0)).toISOString();
