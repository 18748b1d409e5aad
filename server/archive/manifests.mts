import type { Folder } from './folder.mts';
import { dayOfName, type DayManifest } from './layout.mts';

/** A manifest of a day, and its name in `days/`. */
export interface Manifest {
	name: string;
	file: DayManifest;
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
 * Reads the manifests of a day, the one that counts first. Those that are not manifests are left out.
 *
 * @throws FileError for one that may be readable another time.
 */
export async function readManifests(
	folder: Folder,
	day: string,
	names: string[],
): Promise<Manifest[]> {
	const manifests: Manifest[] = [];
	for (const name of names) {
		const file = await folder.readDayManifest(name, day);
		if (file) manifests.push({ name, file });
	}
	return manifests.sort((a, b) => Date.parse(b.file.archivedAt) - Date.parse(a.file.archivedAt));
}
