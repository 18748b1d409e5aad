// The manifests of an archive, and changes of them as lifelog-server makes them.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifelog } from '../../lifelog/api.ts';
import {
	nameOfDay,
	type DayManifest,
	type Edited,
	type MadeHere,
} from '../../server/archive/layout.mts';
import { lifelogFiles } from '../../server/archive/lifelogFiles.mts';
import { store } from './archive.mts';

export type { DayManifest, Edited };

/** The manifest of each day that counts, by day. */
export function newestManifests(folder: string): Map<string, DayManifest> {
	const newest = new Map<string, DayManifest>();
	for (const name of readdirSync(join(folder, 'days'))) {
		const file = JSON.parse(readFileSync(join(folder, 'days', name), 'utf8')) as DayManifest;
		const other = newest.get(file.day);
		if (!other || other.archivedAt < file.archivedAt) newest.set(file.day, file);
	}
	return newest;
}

/** The manifest of a day that counts. */
export function manifestOf(folder: string, day: string): DayManifest {
	const found = newestManifests(folder).get(day);
	if (!found) throw new Error(`There is no manifest of ${day}`);
	return found;
}

/** The days that an archive has manifests of, one for each of these. */
export const daysIn = (folder: string) =>
	readdirSync(join(folder, 'days'))
		.map((name) => name.slice(0, 10))
		.sort();

/** Writes the manifest of a day anew; what it was before is removed. */
export function changeDay(
	folder: string,
	day: string,
	change: (file: DayManifest) => DayManifest,
): void {
	const none: DayManifest = {
		...{ version: 1, day, lifelogs: {}, chats: {}, audio: [], missingAudio: [], failed: [] },
		...{ archivedAt: new Date(0).toISOString(), isComplete: true },
	};
	const before = newestManifests(folder).get(day) ?? none;
	const later = Math.max(Date.now(), Date.parse(before.archivedAt) + 1);
	const file = change({ ...before, archivedAt: new Date(later).toISOString() });
	for (const name of readdirSync(join(folder, 'days'))) {
		if (name.startsWith(day)) rmSync(join(folder, 'days', name));
	}
	writeFileSync(join(folder, 'days', nameOfDay(file)), JSON.stringify(file, null, '\t'));
}

/** Puts a lifelog into an archive that the service doesn't know. */
export async function makeLifelog(
	folder: string,
	lifelog: Lifelog,
	madeHere: MadeHere = { source: 'api' },
): Promise<void> {
	const { day, json, markdown } = lifelogFiles(lifelog, 'UTC')!;
	const files = [
		await store(folder, json.path, json.content),
		await store(folder, markdown.path, markdown.content),
	];
	const { id, updatedAt, isStarred } = lifelog;
	const goneAt = new Date().toISOString();
	changeDay(folder, day, (file) => ({
		...file,
		lifelogs: { ...file.lifelogs, [id]: { updatedAt, isStarred, files, goneAt, madeHere } },
	}));
}

/** Edits a lifelog on one of its days. */
export function editLifelog(folder: string, day: string, id: string, edited: Edited): void {
	changeDay(folder, day, (file) => ({
		...file,
		lifelogs: { ...file.lifelogs, [id]: { ...file.lifelogs[id], edited } },
	}));
}

interface Entry {
	files: { path: string; bytes: number }[];
	deletedAt?: string;
}

/** The IDs that the days of an archive name and that weren't deleted; each file that one names has to be there. */
export function lifelogsNamedIn(folder: string): string[] {
	const ids: string[] = [];
	for (const name of readdirSync(join(folder, 'days'))) {
		const { lifelogs } = JSON.parse(readFileSync(join(folder, 'days', name), 'utf8'));
		for (const [id, { files, deletedAt }] of Object.entries<Entry>(lifelogs)) {
			if (deletedAt === undefined) ids.push(id);
			else expect([id, files]).toEqual([id, []]);
			for (const { path, bytes } of files) expect(statSync(join(folder, path)).size).toBe(bytes);
		}
	}
	return ids.sort();
}
