// Writes entries as files of an archive (docs/reference/archive.md), like Export.
import { createHash } from 'node:crypto';
import type { Lifelog } from '../../lifelog/api.ts';
import { inZone, writeLifelog } from '../../lifelog/files/formats.ts';
import { entryPath, freeName, sameName } from '../../lifelog/names.ts';
import { instantOf, utcDay } from '../../lifelog/times.ts';
import type { NamedFile } from './layout.mts';

export { toJson } from '../../lifelog/files/formats.ts';

/** Files of a lifelog, with their paths in the archive. */
export interface LifelogFiles {
	day: string;
	startMs: number;
	json: { path: string; content: string };
	markdown: { path: string; content: string };
}

/**
 * Converts a lifelog to the files of an archive: JSON with times in UTC, and Markdown.
 *
 * @param asked The API's object, read with `timezone=UTC` (docs/api-spec.md, section 2.1).
 * @param zone Time zone of the Markdown.
 * @returns undefined if its start isn't a time.
 */
export function lifelogFiles(asked: Lifelog, zone: string): LifelogFiles | undefined {
	const lifelog = inZone(asked, 'UTC', 'UTC');
	const json = writeLifelog(lifelog, 'json', 'UTC');
	const markdown = writeLifelog(lifelog, 'markdown', zone);
	if (!json || !markdown) return undefined;
	const { startMs } = json;
	const place = placeOf('lifelogs', lifelog.id, startMs);
	return {
		day: dayOf(startMs),
		startMs,
		json: { path: place + json.extension, content: json.content },
		markdown: { path: place + markdown.extension, content: markdown.content },
	};
}

/** Parses a time of the service to epoch ms; in UTC if it has no offset. */
export const parseIsoTime = (time: unknown) => instantOf(time, 'UTC');

/** The day in UTC, `YYYY-MM-DD`, of a time in epoch ms. */
export const dayOf = (ms: number): string => utcDay(ms);

/** The path of a lifelog or a chat, without the extension. */
export function placeOf(
	collection: 'lifelogs' | 'chats',
	id: string,
	startMs: number,
	nth?: number,
): string {
	const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
	return entryPath(collection, id, startMs, sha256, nth);
}

/**
 * Paths of a day's new entries. Two names that differ only by case are the same for some file
 * systems, so the second gets `-2`. Archived files keep their paths.
 */
export function placesBeside(
	entries: Record<string, { files: NamedFile[] }>,
): (collection: 'lifelogs' | 'chats', id: string, startMs: number) => string {
	const owners = new Map<string, string>();
	for (const [id, { files }] of Object.entries(entries)) {
		for (const { path } of files) {
			const name = sameName(withoutExtension(path));
			if (!owners.has(name)) owners.set(name, id);
		}
	}
	return (collection, id, startMs) => {
		const place = (nth: number) => placeOf(collection, id, startMs, nth);
		const own = Object.hasOwn(entries, id) ? entries[id].files.at(0)?.path : undefined;
		const before = own && withoutExtension(own);
		const isThere = before?.startsWith(place(1)) && /^(-\d+)?$/.test(before.slice(place(1).length));
		if (isThere && owners.get(sameName(before!)) === id) return before!;
		return freeName(owners, id, place);
	};
}

/** A text as a manifest describes it. */
export function namedFile({ path, content }: { path: string; content: string }): NamedFile {
	const sha256 = createHash('sha256').update(content).digest('hex');
	return { path, bytes: Buffer.byteLength(content), sha256 };
}

const withoutExtension = (path: string) => path.replace(/\.\w+$/, '');

/** Entries of a day with new or changed ones. */
export function withEntries<Entry>(
	entries: Record<string, Entry>,
	changed: Iterable<readonly [id: string, entry: Entry]>,
): Record<string, Entry> {
	// Not by assignment: `__proto__` wouldn't become an entry.
	return Object.fromEntries(new Map([...Object.entries(entries), ...changed]));
}

/** Entries in the order of a manifest. Names that differ only by case keep the given order. */
export function inOrder<Entry>(entries: Iterable<[string, Entry]>): Record<string, Entry> {
	const named = [...entries].map(([id, entry]) => ({ id, entry, name: id.toLowerCase() }));
	named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
	return Object.fromEntries(named.map(({ id, entry }) => [id, entry]));
}
