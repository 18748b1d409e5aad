import { FileError, type Folder } from './folder.mts';
import { dayOfName, type DayManifest } from './layout.mts';

/** A day manifest and its name in `days/`. */
export interface Manifest {
	name: string;
	file: DayManifest;
}

export interface Manifests {
	/** The current one. */
	newest: DayManifest | undefined;
	/** Newest first. */
	all: Manifest[];
	/** Files that aren't manifests of the day, despite their names. */
	broken: string[];
}

/** A manifest is temporarily unreadable, so the current one is unknown. */
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
 * @throws UnreadableDayError if one is temporarily unreadable.
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

/** Orders manifests of a day, the current one first. */
export const newestFirst = (a: DayManifest, b: DayManifest): number =>
	Date.parse(b.archivedAt) - Date.parse(a.archivedAt);

/** Time of a new manifest: now (epoch ms), or just after the current one if a clock was wrong. */
export const laterThan = (newest: DayManifest | undefined, now: number): string =>
	new Date(Math.max(now, newest ? Date.parse(newest.archivedAt) + 1 : 0)).toISOString();
